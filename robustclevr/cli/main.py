"""Entry point: runs a command and turns errors into messages and exit codes.

Nothing heavy is imported here or at the top of a command's module: ``robustclevr --help``
starts neither bpy nor torch nor pyro.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import click

from robustclevr import __version__
from robustclevr.cli import (
    baseline,
    codes,
    corrupt,
    dag,
    doctor,
    evaluate,
    generate,
    index,
    list_,
    preview,
    recipe,
    schema,
    show,
    status,
    train,
    verify,
)
from robustclevr.errors import RobustClevrError, SpecError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="robustclevr")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:  # noqa: FBT001 - click passes options by name
    """Synthetic datasets for measuring how robust object-centric vision models are."""


for _module in (
    list_,
    show,
    generate,
    preview,
    status,
    verify,
    index,
    corrupt,
    train,
    baseline,
    evaluate,
    dag,
    recipe,
    schema,
    doctor,
):
    cli.add_command(_module.command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    Exit codes: 0 done; 1 the dataset is incomplete or fails verification; 2 usage or spec error;
    3 the environment lacks something.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in arguments
    # --debug is understood wherever it stands, not only before the command.
    arguments = [argument for argument in arguments if argument != "--debug"]
    sys.exit(_run(["--debug", *arguments] if debug else arguments, debug=debug))


def _run(arguments: Sequence[str], *, debug: bool) -> int:
    try:
        code = cli.main(list(arguments), prog_name="robustclevr", standalone_mode=False)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        error.show()
        return codes.USAGE
    except (KeyboardInterrupt, click.Abort):
        click.echo("stopped", err=True)
        return codes.INCOMPLETE
    except RobustClevrError as error:
        _explain(error, debug=debug)
        return error.exit_code
    except ImportError as error:
        if debug:
            traceback.print_exc()
        click.echo(
            f"error: {error}; this installation lacks a package: install it anew, with "
            "'make setup' in a checkout",
            err=True,
        )
        return codes.ENVIRONMENT
    except BrokenPipeError:
        return codes.INCOMPLETE
    except Exception as error:  # noqa: BLE001 - the last line of defence against tracebacks
        if debug:
            traceback.print_exc()
        kind = type(error).__name__
        click.echo(f"error: {kind}: {error}\nThis is a bug; --debug shows where.", err=True)
        return codes.INCOMPLETE
    return code if isinstance(code, int) else 0


def _explain(error: RobustClevrError, *, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    problems = error.problems if isinstance(error, SpecError) else (str(error),)
    for problem in problems:
        click.echo(f"error: {problem}", err=True)

"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


class FolderOrUrl(click.ParamType[Path | str]):
    """A folder as a Path, or an object store's URL as it was written."""

    name = "folder or URL"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | str:
        """Tell the two apart by ``://``."""
        _refuse_empty(value, param, ctx, self)
        return value if isinstance(value, Path) or "://" in value else Path(value)


class Output(click.ParamType[Path]):
    """Where a command writes, as a Path; an empty text would be the working folder, unasked."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        _refuse_empty(value, param, ctx, self)
        return Path(value)


def _refuse_empty(
    value: Any, param: click.Parameter | None, ctx: click.Context | None, kind: click.ParamType[Any]
) -> None:
    if value == "":
        kind.fail("an empty text names no file and no folder", param, ctx)


recipes = click.option(
    "--recipes",
    "recipe_dirs",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="DIR",
    help="Folder of further recipe files; may be given more than once.",
)

overrides = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="PATH=VALUE",
    help="Override one value of the spec, such as splits.test.samples=10.",
)

seed = click.option(
    "--seed", type=click.IntRange(min=0), default=None, help="Root seed; overrides the spec's."
)

blender = click.option(
    "--blender",
    "blender_app",
    type=click.Path(path_type=Path),
    default=None,
    metavar="PATH",
    help="Blender application that renders, in place of the bpy module.",
)

blender_python = click.option(
    "--blender-python",
    type=click.Path(path_type=Path),
    default=None,
    metavar="PATH",
    help="Python interpreter that has bpy, if it is not this one.",
)


def _known_device(_context: click.Context, _option: click.Parameter, word: str) -> str:
    from robustclevr.run.devices import check_device

    return check_device(word)


device = click.option(
    "--device",
    default="auto",
    show_default=True,
    callback=_known_device,
    help="What renders: auto (the best that is here), cpu, optix, cuda, hip, metal or oneapi.",
)

on_device_loss = click.option(
    "--on-device-loss",
    type=click.Choice(["fail", "cpu"]),
    default="fail",
    show_default=True,
    help="What a worker does whose GPU failed twice: give the sample up, or go on on the CPU.",
)

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")

split = click.option(
    "--split",
    "splits",
    multiple=True,
    metavar="S",
    help="Only this split; may be given more than once.",
)

workers = click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=None,
    help="Processes; default: one a core. The result is the same.",
)

do = click.option(
    "--do",
    "held",
    multiple=True,
    metavar="N.P=V",
    help="Hold parameter P of node N at V; what lies below responds.",
)

shift = click.option(
    "--shift",
    "shifted",
    multiple=True,
    metavar="N.E=DIST",
    help="Replace noise E of node N by a distribution, or a parameter by a formula.",
)

retries = click.option(
    "--retries",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Tries after the first of a sample whose renderer died, hung or reported an error.",
)

sample_timeout = click.option(
    "--sample-timeout",
    "sample_timeout_s",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    metavar="SECONDS",
    help="Time after which a sample counts as hung; default: 10 minutes and more for large ones.",
)

memory_limit = click.option(
    "--memory-limit",
    "memory_limit_gib",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    metavar="GIB",
    help="Memory at which a process that renders is ended; default: its share of the machine's.",
)

log_file = click.option(
    "--log-file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="Append what happens to FILE, one JSON object a line.",
)


def gib_to_bytes(gib: float | None) -> int | None:
    """Return a number of bytes; None stays None."""
    return None if gib is None else round(gib * (1 << 30))

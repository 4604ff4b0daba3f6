"""``robustclevr doctor``: what works on this machine, what is missing, what to do."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from robustclevr.cli import codes, options


@click.command("doctor")
@options.device
@options.blender
@options.blender_python
@options.as_json
def command(
    device: str,
    blender_app: Path | None,
    blender_python: Path | None,
    as_json: bool,  # noqa: FBT001
) -> int:
    """Look at interpreter, Blender, device, memory and disk."""
    from robustclevr.cli.renderer import renderer_command
    from robustclevr.run.blender_process import RendererSetup
    from robustclevr.run.doctor import examine

    setup = RendererSetup(
        recipes=(), device=device, command=renderer_command(blender_app, blender_python)
    )
    findings = []
    for finding in examine(setup, Path.cwd()):
        findings.append(finding)
        if not as_json:
            mark = "ok     " if finding.works else "MISSING" if finding.needed else "low    "
            click.echo(f"{mark}  {finding.what:8}  {finding.state}")
            if not finding.works:
                click.echo(f"         → {finding.advice}")
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    broken = any(finding.needed and not finding.works for finding in findings)
    return codes.ENVIRONMENT if broken else codes.DONE

"""``robustclevr doctor``: what works on this machine, what is missing, what to do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustclevr.cli import codes, options

if TYPE_CHECKING:
    from robustclevr.run.doctor import Finding


@click.command("doctor")
@options.device
@options.blender
@options.blender_python
@click.option(
    "--prewarm",
    is_flag=True,
    help="Also render with all that recipes use, so that kernels are compiled before a run.",
)
@options.as_json
def command(
    device: str,
    blender_app: Path | None,
    blender_python: Path | None,
    prewarm: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> int:
    """Look at interpreter, Blender, devices, drivers, memory and disk, and render a small image."""
    from robustclevr.cli.renderer import renderer_command
    from robustclevr.recipe import load_recipes
    from robustclevr.run.blender_process import RendererSetup
    from robustclevr.run.cores import share_cores
    from robustclevr.run.doctor import examine

    recipes = load_recipes()
    setup = RendererSetup(
        recipes=tuple((str(loaded.path), loaded.shipped) for loaded in recipes.values()),
        threads=share_cores(1, shards=1)[1],
        device=device,
        command=renderer_command(blender_app, blender_python),
    )
    findings = []
    for finding in examine(setup, recipes, Path.cwd(), prewarm=prewarm):
        findings.append(finding)
        if not as_json:
            _tell(finding)
    works = all(finding.works or not finding.needed for finding in findings)
    if as_json:
        click.echo(json.dumps(_document(findings, works=works), indent=2))
    return codes.DONE if works else codes.ENVIRONMENT


def _tell(finding: Finding) -> None:
    mark = "ok     " if finding.works else "MISSING" if finding.needed else "low    "
    click.echo(f"{mark}  {finding.what:10}  {finding.state}")
    if not finding.works and finding.advice:
        click.echo(f"         → {finding.advice}")


def _document(findings: Sequence[Finding], *, works: bool) -> dict[str, Any]:
    facts = {finding.what: finding.facts for finding in findings}
    return {
        "works": works,
        "device": facts.get("device", {}),
        "gpus": [finding.facts for finding in findings if finding.what == "gpu"],
        "findings": [
            asdict(finding) | {"advice": "" if finding.works else finding.advice}
            for finding in findings
        ],
    }

"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

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

device = click.option(
    "--device",
    default="auto",
    show_default=True,
    help="auto, cpu, optix, cuda or another back end of Cycles.",
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

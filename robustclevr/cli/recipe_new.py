"""``robustclevr recipe new``: a recipe file to start from."""

from __future__ import annotations

from pathlib import Path

import click

from robustclevr.cli import options

TEMPLATE = '''"""{title}: say in a sentence what it does to a picture.

Say here what stands behind the numbers, and what was measured.
"""

from robustclevr.recipe import Parameter, Recipe

RECIPE = Recipe(
    id="{name}",  # the file's name, and what a DAG's node is called
    summary="the image fades towards gray",  # one line for `robustclevr recipe list`
    # "image" works on the rendered image; "scene" changes the scene before it is rendered and
    # costs a render of its own; "encoded" works on the finished 8-bit image, after all others.
    stage="image",
    # "keeps": every object stays where it is. "warps": pixels move, and labels are carried along
    # through the same nodes.
    geometry="keeps",
    # Further passes, which build() then finds in context.passes: "depth" is there. [m]
    needs=(),
    parameters=(
        # role="severity" (the default): more of it is more degradation, from clean to worst.
        Parameter(
            name="strength",
            clean=0.0,  # leaves the image as it is, bit for bit: the recipe is then left out
            worst=1.0,  # severity 1
            low=0.0,  # what is drawn below low or above high is clamped when it is applied, and
            high=1.0,  # the record says so; every value in between must give finite pixels
            unit="1",  # "px" scales with the image's height, and is given for 240 rows
            source="worst and range: chosen, nothing of the picture is left",
            summary="weight of the gray",
        ),
        # role="nuisance": changes what it looks like, not how bad it is; clean is the default.
        Parameter(
            name="gray",
            role="nuisance",
            clean=0.2,
            low=0.0,
            high=1.0,
            source="chosen: near the mean of a CLEVR image in scene-linear light",
            summary="scene-linear brightness of the gray",
        ),
    ),
)


def build(context):
    """Add nodes behind context.image, and return the socket that holds the result.

    context.number("name")      a parameter
    context.seed                for noise: the same seed must give the same pixels
    context.height, .width      size of the image in pixels
    context.node(idname, {{...}})   any node of Blender's compositor, named as in Blender 4.5
    context.mix, math, gamma, channels, combine, with_alpha, pixel_coordinates, white_noise

    Pixels are scene-linear and may be brighter than 1. Import bpy, if need be, in here.
    """
    gray = context.number("gray")
    return context.mix("MIX", context.number("strength"), context.image, (gray, gray, gray, 1.0))


def apply(image, params, seed):
    """The same with numpy, for computers without Blender; may be left out.

    image is scene-linear float32 of shape (H, W, 3); a new one is returned.
    """
    return image + params["strength"] * (params["gray"] - image)
'''


@click.command("new")
@click.argument("name")
@click.option(
    "-o",
    "--output",
    type=options.Output(),
    default=Path("my-recipes"),
    show_default=True,
    metavar="DIR",
    help="Folder for the file; made if missing.",
)
def command(name: str, output: Path) -> None:
    """Write DIR/NAME.py, a commented recipe that works as it is."""
    from robustclevr.cli.files import write_bytes
    from robustclevr.errors import SpecError

    path = output / f"{name}.py"
    problem = _problem(name)
    if path.exists():
        problem = f"{path} exists", "choose another name, or remove it"
    if problem:
        raise SpecError.single(problem[0], file="NAME", hint=problem[1])
    write_bytes(path, TEMPLATE.format(name=name, title=name.replace("_", " ").title()).encode())
    click.echo(
        f"{path}: a recipe to start from; now\n"
        f"  robustclevr recipe list --recipes {output}\n"
        f"  robustclevr recipe sweep {name} --recipes {output} -o sweep-{name}",
        err=True,
    )


def _problem(name: str) -> tuple[str, str] | None:
    """Return what is wrong with a name, and what to do."""
    from robustclevr.recipe import is_recipe_id, load_recipes
    from robustclevr.spec.node import NODE_WORDS

    if not is_recipe_id(name):
        return f"'{name}' is no name for a recipe", "a lower-case letter, then a-z, 0-9 and _"
    if name in NODE_WORDS:
        return f"the name '{name}' is reserved", "a node of a DAG could not be called that"
    if name in load_recipes():
        return f"there is a recipe '{name}' already", "choose another name"
    return None

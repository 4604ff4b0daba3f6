"""Makes the golden images anew: ``make golden``, after a change of pixels that is meant.

One small scene and each recipe on it, stored with the Plan that makes them, by Blender version.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from robustclevr.imaging import encode_png
from robustclevr.plan import make_plan, plan_images
from robustclevr.recipe import load_recipes
from robustclevr.records import Plan, Step, to_json
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.spec import load_dataset
from robustclevr.store.sample import develop

HERE = Path(__file__).parent
SIZE = {"height": 72, "width": 96, "samples": 8}
STRENGTH = 0.8  # of the way from clean to worst, for every severity parameter


def golden_plan() -> Plan:
    """Return the Plan of the golden scene: the clean image, and one image a recipe."""
    recipes = load_recipes()
    overrides = [f"render.{name}={value}" for name, value in SIZE.items()]
    split = load_dataset("demo", recipes, overrides=overrides).split("test")
    plan = make_plan(split, recipes, root_seed=0, index=2)
    variants: dict[str, tuple[Step, ...]] = {"clean": ()}
    for recipe_id, loaded in recipes.items():
        parameters = loaded.recipe.clean_parameters()
        for parameter in loaded.recipe.parameters:
            # Spin and zoom smear as well; one smear is enough.
            if parameter.role == "severity" and parameter.name not in ("spin", "zoom"):
                clean, worst = float(parameter.clean), float(parameter.worst or 0.0)
                parameters[parameter.name] = clean + STRENGTH * (worst - clean)
        variants[recipe_id] = (Step(recipe_id, recipe_id, parameters, STRENGTH, seed=17),)
    renders, images = plan_images(variants, recipes)
    return replace(plan, draw=None, images=images, renders=renders)


def main() -> None:
    """Render, and write one folder for this version of Blender."""
    plan = golden_plan()
    files = tuple((str(item.path), item.shipped) for item in load_recipes().values())
    with BlenderProcess(RendererSetup(files, threads=2, device="cpu")) as process:
        render = process.render(plan)
        folder = HERE / ".".join(process.versions["blender"].split(".")[:2])
    folder.mkdir(exist_ok=True)
    (folder / "plan.json").write_text(json.dumps(to_json(plan), indent=1, sort_keys=True) + "\n")
    for image, planned in zip(render.images, plan.images, strict=True):
        variant = develop(image, render.labels, planned, load_recipes())
        (folder / f"{variant.name}.png").write_bytes(encode_png(variant.image))
        if image.source is not None or variant.name == "clean":
            (folder / f"{variant.name}.mask.png").write_bytes(encode_png(variant.labels))


if __name__ == "__main__":
    main()

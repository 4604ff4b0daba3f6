"""Run by an interpreter that has bpy: every image of a list made of one stored EXR.

    python composite.py FOLDER RESULT

FOLDER holds ``clean.exr``, ``depth.npy`` and ``steps.json``, a step each; RESULT becomes an
``.npz`` with the pixels of each, by number, and with their source maps.
"""

import json
import sys
import tempfile
from pathlib import Path

import bpy
import numpy as np

from robustclevr.blender import session
from robustclevr.blender.compositor import Compositor
from robustclevr.recipe import load_recipes
from robustclevr.records import Step, from_json


def main(folder: Path, result: Path) -> None:
    """Make the images."""
    session.reset()
    depth = np.load(folder / "depth.npy")
    steps = [from_json(Step, step) for step in json.loads((folder / "steps.json").read_text())]
    found = {"version": np.array(bpy.app.version_string)}
    with tempfile.TemporaryDirectory() as scratch:
        compositor = Compositor(load_recipes(), Path(scratch))
        for number, step in enumerate(steps):
            exr = compositor.apply(
                folder / "clean.exr", [step], *depth.shape, passes={"depth": depth}
            )
            found[str(number)] = compositor.read_pixels(exr)[..., :3]
            source = compositor.source_map([step], *depth.shape)
            if source is not None:
                found[f"{number}.source"] = source
    np.savez(result, **found)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

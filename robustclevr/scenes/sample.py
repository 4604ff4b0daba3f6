"""The CLEVR sampler: options and a sample's name in, a Scene out.

Count, attributes, camera and lights are drawn once a scene, each from a stream of its own;
only positions are drawn again when a placement fails. clevr-dataset-gen draws the attributes
anew at every failure, which favors scenes of small objects: here counts and attributes stay
exactly uniform.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robustclevr import seeds
from robustclevr.errors import Problem, SamplingError, SpecError, suggest
from robustclevr.records import Scene, SceneOptions
from robustclevr.scenes.attributes import draw_attributes
from robustclevr.scenes.camera import CAMERA_JITTER, clevr_camera, draw_jitter
from robustclevr.scenes.lights import JITTERED_LIGHTS, LIGHT_JITTER, clevr_lights
from robustclevr.scenes.properties import COMPATS, PALETTES
from robustclevr.scenes.relations import relationships, scene_directions
from robustclevr.scenes.search import find_objects, min_visible_pixels

_MOST_OBJECTS = 255  # labels are uint8 and 0 is the background


def sample_scene(
    options: SceneOptions, *, height: int, width: int, root_seed: int, split: str, index: int
) -> Scene:
    """Sample one scene.

    Parameters
    ----------
    options : SceneOptions
        With compat ``clevr-v1`` yaw and gaps are as in the released data; with ``none`` the
        yaw is the stored rotation in degrees, and the gap of a cube counts its corners.
    height, width : int
        Image size; visibility is judged at this size. [px]
    root_seed, split, index : int, str, int
        The sample's name; beside it the scene depends on the options and the size alone.

    Returns
    -------
    Scene

    Raises
    ------
    SamplingError
        If no placement in ``options.tries`` tries obeys the placement rules and shows every
        object; names the sample, what failed and what to relax.
    SpecError
        If the options name an unknown palette or compat, or an impossible number of objects.
    """
    _check(options)

    def rng(stage: str) -> np.random.Generator:
        return seeds.stream(root_seed, split, f"scene.{stage}", index)

    low, high = options.objects
    count = int(rng("count").integers(low, high + 1))
    things = draw_attributes(
        rng("attributes"), count, palette=options.palette, compat=options.compat
    )
    jitters = {"camera": draw_jitter(rng("camera"), CAMERA_JITTER)}
    for name in JITTERED_LIGHTS:
        jitters[name] = draw_jitter(rng(f"light.{name}"), LIGHT_JITTER)
    camera = clevr_camera(jitters["camera"], height=height, width=width)
    directions = scene_directions(camera)
    try:
        objects, tries = find_objects(
            rng("positions"), things, camera, directions, options, height=height, width=width
        )
    except SamplingError as error:
        place = f"scene {index} of split {split!r} (root seed {root_seed})"
        raise SamplingError(f"{place}: {error}") from None
    return Scene(
        objects=objects,
        camera=camera,
        lights=clevr_lights(jitters),
        jitters=jitters,
        directions=directions,
        relationships=relationships([item.position for item in objects], directions),
        compat=options.compat,
        min_visible_pixels=min_visible_pixels(options, height=height, width=width),
        tries=tries,
    )


def _check(options: SceneOptions) -> None:
    problems = tuple(_problems(options))
    if problems:
        raise SpecError(problems)


def _problems(options: SceneOptions) -> Iterator[Problem]:
    if options.palette not in PALETTES:
        yield Problem(
            f"unknown palette {options.palette!r}",
            path="scene.palette",
            hint=suggest(options.palette, PALETTES),
        )
    if options.compat not in COMPATS:
        yield Problem(
            f"unknown compat {options.compat!r}",
            path="scene.compat",
            hint=suggest(options.compat, COMPATS),
        )
    low, high = options.objects
    if not 1 <= low <= high <= _MOST_OBJECTS:
        yield Problem(
            f"objects [{low}, {high}]",
            path="scene.objects",
            hint=f"two whole numbers, 1 <= least <= most <= {_MOST_OBJECTS}",
        )

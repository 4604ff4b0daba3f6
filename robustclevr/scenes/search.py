"""The search for positions: tries until every object has a place and is seen, or an error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import SamplingError
from robustclevr.records import Camera, SceneObject, SceneOptions, Vector
from robustclevr.scenes.attributes import Attributes
from robustclevr.scenes.camera import project
from robustclevr.scenes.placement import STARTS_PER_TRY, place
from robustclevr.scenes.raster import shows_all

_REFERENCE_AREA = 320 * 240  # px; the image size for which min_pixels is given

# Chosen: with Blender's label pass (bpy 4.5, 320x240 and 64x64, 150 objects) no object showed
# more than this below the exact solids, and 0.004 % of all pixels differed.
_GUARD = 0.02
_GUARD_PIXELS = 1


def min_visible_pixels(options: SceneOptions, *, height: int, width: int) -> int:
    """Return the visible pixels each object needs at an image size, rounded up."""
    return math.ceil(options.min_pixels * height * width / _REFERENCE_AREA)


def with_guard(required: int) -> int:
    """Return what the exact solids must show: 2 % more, rounded up, and a pixel more.

    A renderer's outlines come from meshes, which lie just inside the solids; the guard keeps an
    object that only just passes here from failing there. 0 stays 0: nothing is asked then.
    """
    if required == 0:
        return 0
    return required + math.ceil(_GUARD * required) + _GUARD_PIXELS


def find_objects(
    rng: np.random.Generator,
    things: Sequence[Attributes],
    camera: Camera,
    directions: Mapping[str, Vector],
    options: SceneOptions,
    *,
    height: int,
    width: int,
) -> tuple[tuple[SceneObject, ...], int]:
    """Place objects so that both placement rules hold and each object is seen.

    Positions follow clevr-dataset-gen's law given the attributes: the first of a row of
    independent placements that passes.

    Parameters
    ----------
    rng : numpy.random.Generator
    things : sequence of Attributes
    camera : Camera
    directions : mapping of str to 3 floats
    options : SceneOptions
    height, width : int
        Image size at which visibility is judged. [px]

    Returns
    -------
    tuple of SceneObject, int
        The objects in the order of ``things``, and the number of tries it took, >= 1.

    Raises
    ------
    SamplingError
        After ``options.tries`` tries; says what failed and what to relax.
    """
    required = min_visible_pixels(options, height=height, width=width)
    reaches = [thing.reach for thing in things]
    complete = 0
    for tries in range(1, options.tries + 1):
        for centres in place(rng, reaches, directions, options):
            objects = _stand(things, centres, camera)
            if shows_all(objects, camera, height, width, required=with_guard(required)):
                return objects, tries
            complete += 1
    begun = options.tries * STARTS_PER_TRY
    raise SamplingError(
        f"{len(things)} objects found no arrangement in {options.tries} tries: of {begun} "
        f"placements, {begun - complete} left an object without a free place "
        f"(scene.min_distance {options.min_distance:g}, scene.margin {options.margin:g}) and "
        f"{complete} hid an object (each needs {required} visible pixels at {width}x{height}, "
        f"from scene.min_pixels {options.min_pixels}); {_advice(begun, complete)}"
    )


def _advice(begun: int, complete: int) -> str:
    """Say what to relax, the likelier cause first."""
    crowded = "lower scene.min_distance or scene.margin"
    hidden = "lower scene.min_pixels or render larger images"
    if complete == 0:
        causes = [crowded]
    else:
        causes = [hidden, crowded] if 2 * complete > begun else [crowded, hidden]
    return "; ".join(["ask for fewer scene.objects", *causes, "or raise scene.tries"])


def _stand(
    things: Sequence[Attributes], centres: NDArray[np.float64], camera: Camera
) -> tuple[SceneObject, ...]:
    places = ((x, y, thing.radius) for thing, (x, y) in zip(things, centres.tolist(), strict=True))
    return tuple(
        _object(thing, position, camera) for thing, position in zip(things, places, strict=True)
    )


def _object(thing: Attributes, position: Vector, camera: Camera) -> SceneObject:
    column, row, depth = project(camera, position)
    return SceneObject(
        shape=thing.shape,
        size=thing.size,
        color=thing.color,
        material=thing.material,
        radius=thing.radius,
        rgba=thing.rgba,
        position=position,
        rotation=thing.rotation,
        yaw_rad=thing.yaw_rad,
        pixel_coords=(float(round(column)), float(round(row)), depth),
    )

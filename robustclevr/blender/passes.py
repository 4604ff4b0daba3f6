"""What is seen where: instance labels, depth, normals and amodal masks of a clean stage.

Enters: a stage without any scene-stage recipe, so without depth of field, motion blur and fog,
under which Blender's labels become random per pixel. Leaves: arrays. Each pass is one Cycles
render of one sample through the pixel's centre; the stage's own settings come back afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.blender import compat
from robustclevr.blender.compositor import read_exr
from robustclevr.blender.scene import Stage
from robustclevr.blender.session import render_to
from robustclevr.errors import RenderError
from robustclevr.records import Camera

_NOTHING_M = 1e9  # Blender writes 1e10 where a ray hits nothing
_NARROWEST_FILTER_PX = 0.01  # Cycles' least filter width: all samples at the pixel's centre


def label_and_depth(
    stage: Stage, camera: Camera, scratch: Path
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Render the labels and the distances of a stage.

    Parameters
    ----------
    stage : Stage
        Without scene-stage recipes.
    camera : Camera
        The record that the stage's camera was made from.
    scratch : Path
        Existing folder for one temporary file.

    Returns
    -------
    labels : ndarray of uint8, shape (H, W)
        0 background, i = object i.
    depth : ndarray of float32, shape (H, W)
        Distance from the camera's centre along the pixel's ray, the ground included; infinite
        where nothing is hit. [m]

    Raises
    ------
    RenderError
        If Blender fails, or a label is not an object's number.
    """

    def fill(tree: Any, layers: Any) -> Any:
        combine = compat.new_node(tree, "CompositorNodeCombineColor")
        tree.links.new(compat.find_pass(layers.outputs, "Depth"), combine.inputs[0])
        tree.links.new(compat.find_pass(layers.outputs, "IndexOB"), combine.inputs[3])
        return combine.outputs[0]

    pixels = _render_pass(stage, fill, scratch)
    index, along_axis = pixels[..., 3], pixels[..., 0]
    labels = index.astype(np.uint8)
    if not np.array_equal(labels, index) or labels.max() > len(stage.objects):
        odd = sorted(set(index.ravel().tolist()) - set(range(len(stage.objects) + 1)))
        raise RenderError(f"the label pass holds {odd[:5]}, which are no object's numbers")
    stretch = _ray_stretch(camera, *labels.shape)
    depth = np.where(along_axis < _NOTHING_M, along_axis * stretch, np.inf).astype(np.float32)
    return labels, depth


def finer_labels(stage: Stage, camera: Camera, scratch: Path, factor: int) -> NDArray[np.uint8]:
    """Render the labels of a stage at ``factor`` times its resolution: shape (f H, f W)."""
    render = stage.scene.render
    size = {
        "resolution_x": factor * render.resolution_x,
        "resolution_y": factor * render.resolution_y,
    }
    with _changed(render, **size):
        return label_and_depth(stage, camera, scratch)[0]


def normals(stage: Stage, scratch: Path) -> NDArray[np.float32]:
    """Render the world-space normals of a stage.

    Returns
    -------
    ndarray of float32, shape (H, W, 3)
        Unit vectors, the ground's included; zero where nothing is hit.
    """

    def fill(_tree: Any, layers: Any) -> Any:
        return compat.find_pass(layers.outputs, "Normal")

    vectors = _render_pass(stage, fill, scratch)[..., :3]
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(
        vectors, length, out=np.zeros_like(vectors), where=length > 0
    )
    return unit


def amodal_masks(stage: Stage, camera: Camera, scratch: Path) -> NDArray[np.bool_]:
    """Render each object alone on the ground.

    Returns
    -------
    ndarray of bool, shape (N, H, W)
        Element i - 1 is object i with nothing in front of it.
    """
    masks = []
    for shown in stage.objects:
        with ExitStack() as changes:
            for other in stage.objects:
                changes.enter_context(_changed(other, hide_render=other is not shown))
            labels, _ = label_and_depth(stage, camera, scratch)
        masks.append(labels > 0)
    render = stage.scene.render
    return np.array(masks, bool).reshape(-1, render.resolution_y, render.resolution_x)


def _render_pass(
    stage: Stage, fill: Callable[[Any, Any], Any], scratch: Path
) -> NDArray[np.float32]:
    """Render one sample and return what ``fill(tree, render_layers)`` makes of its passes."""
    result = scratch / "pass.exr"
    with _one_sample(stage):
        tree, output = compat.new_compositor(stage.scene)
        try:
            layers = compat.new_node(tree, "CompositorNodeRLayers")
            layers.scene = stage.scene
            tree.links.new(fill(tree, layers), output)
            pixels = read_exr(render_to(stage.scene, result))
        finally:
            compat.remove_compositor(tree)
            result.unlink(missing_ok=True)
    return pixels


@contextmanager
def _one_sample(stage: Stage) -> Iterator[None]:
    scene = stage.scene
    layer, cycles = scene.view_layers[0], scene.cycles
    with ExitStack() as changes:
        for light in stage.lights.values():  # nobody looks at the light here: half the time
            changes.enter_context(_changed(light, hide_render=True))
        for thing, values in (
            (cycles, {"samples": 1, "use_denoising": False, "max_bounces": 0}),
            (cycles, {"pixel_filter_type": "BOX", "filter_width": _NARROWEST_FILTER_PX}),
            (scene.render, {"use_compositing": True}),
            (layer, {"use_pass_object_index": True, "use_pass_z": True, "use_pass_normal": True}),
        ):
            changes.enter_context(_changed(thing, **values))
        yield


@contextmanager
def _changed(thing: Any, **values: Any) -> Iterator[None]:
    before = {name: getattr(thing, name) for name in values}
    try:
        for name, value in values.items():
            setattr(thing, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(thing, name, value)


def _ray_stretch(camera: Camera, height: int, width: int) -> NDArray[np.float64]:
    """Return by how much a ray is longer than its part along the optical axis, shape (H, W)."""
    (focal_x, _, center_x), (_, focal_y, center_y), _ = camera.intrinsics
    x = (np.arange(width) + 0.5 - center_x) / focal_x
    y = (np.arange(height) + 0.5 - center_y) / focal_y
    stretch: NDArray[np.float64] = np.sqrt(1.0 + x[None, :] ** 2 + y[:, None] ** 2)
    return stretch

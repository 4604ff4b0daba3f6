"""Apply image-stage recipes to a rendered image, in Blender's compositor, without rendering.

Enters: a 32-bit float scene-linear EXR and the steps of an image. Leaves: another such EXR, and
for recipes that move pixels the map of where each pixel came from. Nothing on the way clamps,
dithers or applies a view transform, so the result equals the same nodes behind the render
itself, bit for bit (tested for every recipe).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from robustclevr.blender import compat
from robustclevr.blender.context import CompositorContext, Socket
from robustclevr.blender.images import (
    coordinate_images,
    gray_image,
    held,
    load_image,
    new_image,
    opaque,
    read_exr,
)
from robustclevr.errors import RecipeError, RenderError
from robustclevr.recipe import LoadedRecipe, call_build, first_line, parameters_at
from robustclevr.records import Step, Value

__all__ = ["Compositor", "append_step", "read_exr"]

Passes = Mapping[str, NDArray[np.float32]]
"""What is known of each pixel beside its color, by name: shape (H, W), row 0 on top."""

_NO_PASSES: Passes = MappingProxyType({})

_NOWHERE = 1e6
"""Stands in a pass for infinity, and where pixels came in from outside the image. Chosen: far
beyond any scene, and finite, so that no recipe has to beware of infinity."""

_TIE = 1e-3
"""Added to source positions before rounding down: a shift by exactly half a pixel then goes the
same way everywhere. Far above the position error of 2e-5 px measured on bpy 4.5. [px]"""

_SEEN = 0.5
"""How much of a pixel must come from inside the image for it to show something there."""

StepKey = tuple[str, int, tuple[tuple[str, Value], ...]]


class Compositor:
    """Runs steps on images of one sample at a time.

    Parameters
    ----------
    recipes : mapping of str to LoadedRecipe
        By id; every step's recipe must be among them.
    scratch : Path
        Existing folder for results; files there belong to this object until :meth:`clear`.

    Notes
    -----
    Chains share their beginnings: the image of a node is made from the image of the node before
    it, so each distinct sequence of steps is run once a sample.
    """

    def __init__(self, recipes: Mapping[str, LoadedRecipe], scratch: Path) -> None:
        self._recipes = recipes
        self._scratch = scratch
        self._made: dict[tuple[Path, tuple[StepKey, ...]], Path] = {}
        self._pixels: dict[Path, NDArray[np.float32]] = {}
        self._maps: dict[tuple[int, int, tuple[StepKey, ...]], NDArray[np.float32]] = {}
        self._count = 0

    def apply(
        self,
        exr: Path,
        steps: Sequence[Step],
        height: int,
        width: int,
        *,
        passes: Passes = _NO_PASSES,
    ) -> Path:
        """Apply steps in order to an image.

        Parameters
        ----------
        exr : Path
            RGBA float image; must not change before :meth:`clear`.
        steps : sequence of Step
            Image-stage steps. Those of severity 0 are left out, so that a clean node gives the
            clean image bit for bit.
        height, width : int
            Size of the image. [px]
        passes : mapping of str to ndarray of float32, shape (height, width)
            Further passes that recipes need, as seen in ``exr``; the same at every call before
            :meth:`clear`. They move with the pixels.

        Returns
        -------
        Path
            EXR of the same kind; ``exr`` itself if no step is active.

        Raises
        ------
        RecipeError
            If a recipe raises, needs a pass that is missing, returns no output socket or gives
            values that are not finite.
        """
        image = exr
        done: tuple[StepKey, ...] = ()
        before: list[Step] = []
        for step in _active(steps):
            done = (*done, _key(step))
            if (exr, done) not in self._made:
                found = self._needed(step, passes, before)
                self._made[exr, done] = self._run(image, step, height, width, found)
            image = self._made[exr, done]
            before.append(step)
        return image

    def hold(self, pixels: NDArray[np.float32]) -> Path:
        """Take an image that no file holds, for :meth:`apply`; it is not written to one.

        Parameters
        ----------
        pixels : ndarray of float32, shape (H, W, 3)
            Scene-linear, row 0 on top.

        Returns
        -------
        Path
            Its name here until :meth:`clear`.
        """
        name = self._new_path()
        self._keep(name, opaque(pixels))
        return name

    def read_pixels(self, exr: Path) -> NDArray[np.float32]:
        """Return an image as float32 of shape (H, W, 4), scene-linear RGBA, row 0 on top.

        Results of :meth:`apply` are kept and come back read-only.
        """
        return self._pixels[exr] if exr in self._pixels else read_exr(exr)

    def source_map(
        self, steps: Sequence[Step], height: int, width: int, *, finer: int = 1
    ) -> NDArray[np.int32] | None:
        """Follow the pixels through the steps that move them.

        The pixels' own coordinates go through the same nodes with the same settings, as gray
        images; green is read, so that a color fringe is followed in its middle.

        Parameters
        ----------
        steps : sequence of Step
        height, width : int
            Size of the image. [px]
        finer : int
            Each clean pixel counts as a square of ``finer`` by ``finer``: with 3, the map leads
            into an image of three times the height and width.

        Returns
        -------
        ndarray of int32, shape (height, width), or None
            Flat index ``row * finer * width + column`` of the clean pixel that is seen, -1 where
            none is. None if no active step warps.
        """
        warps = [step for step in _active(steps) if self._warps(step)]
        if not warps:
            return None
        key = (height, width, tuple(_key(step) for step in warps))
        if key not in self._maps:
            self._maps[key] = self._trace(warps, height, width)
        return _flat_index(self._maps[key], finer)

    def clear(self) -> None:
        """Forget the sample: delete all results."""
        for path in self._made.values():
            path.unlink(missing_ok=True)
        self._made.clear()
        self._pixels.clear()
        self._maps.clear()

    def _warps(self, step: Step) -> bool:
        return self._recipes[step.recipe].recipe.geometry == "warps"

    def _new_path(self) -> Path:
        self._count += 1
        return self._scratch / f"composited-{self._count:06d}.exr"

    def _needed(self, step: Step, passes: Passes, before: Sequence[Step]) -> Passes:
        """Return the passes that a step needs, moved as the pixels were by the steps before."""
        loaded = self._recipes[step.recipe]
        found = {}
        for name in loaded.recipe.needs:
            if name not in passes:
                raise RecipeError(f"{loaded.path}: needs the pass '{name}', which was not rendered")
            values = np.nan_to_num(passes[name], nan=_NOWHERE, posinf=_NOWHERE, neginf=-_NOWHERE)
            source = self.source_map(before, *values.shape)
            if source is not None:
                values = np.where(source >= 0, values.ravel()[source], np.float32(_NOWHERE))
            found[name] = values
        return found

    def _run(self, exr: Path, step: Step, height: int, width: int, passes: Passes) -> Path:
        loaded = self._recipes[step.recipe]
        result = self._new_path()

        def sources() -> Iterable[bpy.types.Image]:
            known = self._pixels.get(exr)
            yield load_image(exr) if known is None else new_image(known)
            yield from (gray_image(values) for values in passes.values())

        with held(sources()) as images:

            def fill(tree: Any) -> Socket:
                image, *others = (_image_socket(tree, image) for image in images)
                sockets = dict(zip(passes, others, strict=True))
                return append_step(tree, image, step, loaded, (height, width), sockets)

            _composite(fill, result, height, width)
        pixels = read_exr(result)
        broken = int(np.count_nonzero(~np.isfinite(pixels).all(axis=-1)))
        if broken:
            raise RecipeError(
                f"{loaded.path}:{first_line(loaded)}: recipe '{step.recipe}' gives NaN or infinite "
                f"values in {broken} of {height * width} pixels with {dict(step.parameters)}; "
                "narrow the safe range (low, high) of its parameters"
            )
        self._keep(result, pixels)
        return result

    def _keep(self, name: Path, pixels: NDArray[np.float32]) -> None:
        pixels.setflags(write=False)
        self._pixels[name] = pixels

    def _trace(self, warps: Sequence[Step], height: int, width: int) -> NDArray[np.float32]:
        """Return column and row of the point that each pixel shows, and how much of it is seen."""
        result = self._new_path()
        with held(coordinate_images(height, width)) as images:

            def fill(tree: Any) -> Socket:
                greens = []
                for image in images:
                    socket = _image_socket(tree, image)
                    for step in warps:
                        loaded = self._recipes[step.recipe]
                        socket = append_step(tree, socket, step, loaded, (height, width), {})
                    separate = compat.new_node(tree, "CompositorNodeSeparateColor")
                    tree.links.new(socket, separate.inputs[0])
                    greens.append(separate.outputs[1])
                combine = compat.new_node(tree, "CompositorNodeCombineColor")
                for green, target in zip(greens, combine.inputs, strict=False):
                    tree.links.new(green, target)
                return combine.outputs[0]

            _composite(fill, result, height, width)
        column, row, valid = np.moveaxis(read_exr(result)[..., :3], -1, 0)
        result.unlink()
        whole = np.where(valid >= _SEEN, valid, 1.0)
        return np.stack([column / whole, row / whole, valid], axis=-1)


def _flat_index(points: NDArray[np.float32], finer: int) -> NDArray[np.int32]:
    height, width = finer * points.shape[0], finer * points.shape[1]
    columns = np.clip(np.floor(finer * (points[..., 0] + _TIE)), 0, width - 1).astype(np.int32)
    rows = np.clip(np.floor(finer * (points[..., 1] + _TIE)), 0, height - 1).astype(np.int32)
    seen = points[..., 2] >= _SEEN
    flat: NDArray[np.int32] = np.where(seen, rows * width + columns, -1).astype(np.int32)
    return flat


def append_step(
    tree: Any,
    image: Socket,
    step: Step,
    loaded: LoadedRecipe,
    size: tuple[int, int],
    passes: Mapping[str, Socket],
) -> Socket:
    """Put one step's nodes behind an image.

    Parameters
    ----------
    tree : bpy.types.NodeTree
        A compositor.
    image : Socket
        Output socket.
    step : Step
    loaded : LoadedRecipe
        Its recipe.
    size : pair of int
        Height and width. [px]
    passes : mapping of str to Socket

    Returns
    -------
    Socket
        Output socket of the result; its alpha is that of ``image``.

    Raises
    ------
    RecipeError
        Names the recipe's file and line.
    """
    parameters = parameters_at(size[0], step.parameters, loaded)
    context = CompositorContext(image, parameters, step.seed, *size, passes, tree)
    socket = call_build(loaded, context)
    if not (isinstance(socket, bpy.types.NodeSocket) and socket.is_output):
        raise RecipeError(
            f"{loaded.path}:{first_line(loaded)}: build(context) returned {socket!r}; "
            "it must return the output socket that holds the image"
        )
    alpha = context.channels(image)[3]
    return context.with_alpha(socket, alpha)


def _active(steps: Iterable[Step]) -> list[Step]:
    return [step for step in steps if step.severity > 0]


def _key(step: Step) -> StepKey:
    return step.recipe, step.seed, tuple(sorted(step.parameters.items()))


def _image_socket(tree: Any, image: bpy.types.Image) -> Socket:
    node = compat.new_node(tree, "CompositorNodeImage")
    node.image = image
    return node.outputs["Image"]


def _composite(fill: Callable[[Any], Socket], result: Path, height: int, width: int) -> None:
    """Run one compositor in a scene of its own, which is removed afterwards."""
    scene = bpy.data.scenes.new("compositor")
    tree = None
    try:
        _configure(scene.render, result, height, width)
        tree, output = compat.new_compositor(scene)
        tree.links.new(fill(tree), output)
        bpy.ops.render.render(write_still=True, scene=scene.name)
    except RuntimeError as error:
        raise RenderError(f"the compositor could not write {result}: {error}") from error
    finally:
        if tree is not None:
            compat.remove_compositor(tree)
        bpy.data.scenes.remove(scene)


def _configure(render: Any, result: Path, height: int, width: int) -> None:
    render.engine = "CYCLES"  # never runs: there is no Render Layers node
    render.resolution_x, render.resolution_y = width, height
    render.resolution_percentage = 100
    render.compositor_device = "CPU"
    render.dither_intensity = 0.0
    render.filepath = str(result)
    render.image_settings.file_format = "OPEN_EXR"
    render.image_settings.color_mode = "RGBA"
    render.image_settings.color_depth = "32"
    render.image_settings.exr_codec = "NONE"

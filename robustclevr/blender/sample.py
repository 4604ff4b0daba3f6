"""One sample, Plan to files: Cycles renders, then labels, then the images of the DAG's nodes.

Enters: a Plan, the loaded recipes, a folder. Leaves: ``.npy`` files in that folder, and a reply
that names them. Every Cycles render starts from an empty session, so nothing is left of the
sample before; the compositor works on files alone and never sees the scene.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.blender import passes, session
from robustclevr.blender.compositor import Compositor
from robustclevr.blender.devices import take_device
from robustclevr.blender.exposures import expose
from robustclevr.blender.images import read_exr
from robustclevr.blender.scene import Stage, build_scene
from robustclevr.blender.scene_context import apply_scene_steps
from robustclevr.blender.scene_renders import Passes, SceneRenders
from robustclevr.errors import RenderError
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import PLAN_VERSION, Plan, RenderPass

Reply = dict[str, Any]

FINER = 3
"""Labels of images whose pixels move are looked up in labels of this many times the resolution,
so that a shift by half a pixel is known to a sixth. Odd, so that each clean pixel's middle is the
middle of a fine one, and what has not moved keeps its label."""


class SampleRenderer:
    """Renders Plans one after another in one Blender session.

    Parameters
    ----------
    recipes : mapping of str to LoadedRecipe
        By id.
    threads : int
        Processor threads, >= 1.
    device : str
        One of ``robustclevr.records.device.DEVICES``.
    gpu_id : str or None
        Cycles' id of the one GPU that may be used; None takes the first.
    """

    def __init__(
        self,
        recipes: Mapping[str, LoadedRecipe],
        *,
        threads: int,
        device: str,
        gpu_id: str | None = None,
    ) -> None:
        self._recipes = recipes
        self._threads = threads
        self._renders = SceneRenders()
        session.reset()
        self.choice, self.survey = take_device(device, gpu_id)

    @property
    def device(self) -> str:
        """What renders: ``cpu``, or a back end and the GPU's name."""
        return self.choice.label

    def render(self, plan: Plan, scratch: Path) -> Reply:
        """Render one sample.

        Parameters
        ----------
        plan : Plan
        scratch : Path
            Existing folder for the results.

        Returns
        -------
        dict
            ``images``, ``labels``, ``amodal``, ``depth``, ``normal``: file names in
            ``scratch``, with shapes and dtypes as in ``robustclevr.records.Render``;
            ``seconds`` by kind of work; ``renders``, the number of Cycles renders of images: 0
            where the sample before had the same scene.

        Raises
        ------
        RecipeError
            If a recipe raises or breaks its contract.
        RenderError
            If Blender fails, or what it gives cannot be right.
        """
        if plan.version != PLAN_VERSION:
            raise RenderError(
                f"this renderer reads Plans of version {PLAN_VERSION}, not {plan.version}; "
                "use the package version that made the Plan"
            )
        clock = _Clock()
        compositor = Compositor(self._recipes, scratch)
        self._renders.turn_to(plan)
        made = 0
        try:
            with clock.time("other"):
                files = []
                for entry in plan.renders:
                    found = self._renders.find(entry)
                    made += found is None
                    files.append(found or self._render_scene(plan, entry, scratch, clock))
                reply = _save_all(self._renders.passes, plan.outputs, scratch)
                reply["images"] = self._composite_all(plan, scratch, files, compositor, clock)
        except BaseException:
            self._renders.clear()
            raise
        finally:
            compositor.clear()
        return {**reply, "seconds": clock.seconds, "renders": made}

    def _render_scene(self, plan: Plan, entry: RenderPass, scratch: Path, clock: _Clock) -> Path:
        """Render the scene with the steps of one entry; the clean one brings the label passes."""
        stage = self._build(plan, entry)
        # Beside the folder of this sample, which its reader removes.
        exr = scratch.parent / f"{scratch.name}-render-{plan.renders.index(entry)}.exr"
        self._renders.keep(entry, exr)
        with clock.time("cycles"):
            expose(stage, exr)
        _check_image(read_exr(exr), plan)
        if not entry.steps:
            with clock.time("labels"):
                self._renders.passes = _label_passes(plan, stage, scratch)
        return exr

    def _composite_all(
        self,
        plan: Plan,
        scratch: Path,
        renders: list[Path],
        compositor: Compositor,
        clock: _Clock,
    ) -> list[Reply]:
        height, width = plan.settings.height, plan.settings.width
        passes = {"depth": self._renders.passes["depth"]}
        images = []
        for number, image in enumerate(plan.images):
            with clock.time("compositor"):
                exr = compositor.apply(
                    renders[image.render], image.steps, height, width, passes=passes
                )
                pixels = compositor.read_pixels(exr)[..., :3]
                source = compositor.source_map(image.steps, height, width)
                finer = compositor.source_map(image.steps, height, width, finer=FINER)
            moved = None if source is None else _save(scratch, f"{number}.source", source)
            labels = None
            if finer is not None:
                with clock.time("labels"):
                    seen = np.append(self._finer_labels(plan, scratch).ravel(), np.uint8(0))[finer]
                labels = _save(scratch, f"{number}.labels", seen)
            images.append(
                {
                    "variant": image.variant,
                    "pixels": _save(scratch, str(number), np.ascontiguousarray(pixels)),
                    "source": moved,
                    "labels": labels,
                }
            )
        return images

    def _finer_labels(self, plan: Plan, scratch: Path) -> NDArray[np.uint8]:
        """Return the clean labels at :data:`FINER` times the resolution; rendered once a scene."""
        if "finer" not in self._renders.passes:
            stage = self._build(plan, RenderPass(()))
            found = passes.finer_labels(stage, plan.scene.camera, scratch, FINER)
            self._renders.passes["finer"] = found
        return self._renders.passes["finer"]

    def _build(self, plan: Plan, entry: RenderPass) -> Stage:
        scene = session.reset()
        session.configure(scene, plan.settings, threads=self._threads, device=self.device)
        stage = build_scene(scene, plan.scene)
        apply_scene_steps(stage, entry.steps, self._recipes, plan.settings)
        return stage


class _Clock:
    """Wall time by kind of work; time in an inner kind does not count for the outer one."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(("cycles", "labels", "compositor", "other"), 0.0)

    @contextmanager
    def time(self, kind: str) -> Iterator[None]:
        start, before = time.perf_counter(), sum(self.seconds.values())
        try:
            yield
        finally:
            inner = sum(self.seconds.values()) - before
            self.seconds[kind] += time.perf_counter() - start - inner


def _label_passes(plan: Plan, stage: Stage, scratch: Path) -> Passes:
    camera = plan.scene.camera
    labels, depth = passes.label_and_depth(stage, camera, scratch)
    _check_labels(labels, plan)
    found: Passes = {"labels": labels, "depth": depth}  # recipes may need it, asked for or not
    if "normal" in plan.outputs:
        found["normal"] = passes.normals(stage, scratch)
    if "amodal" in plan.outputs:
        found["amodal"] = passes.amodal_masks(stage, camera, scratch)
    return found


def _save_all(found: Passes, outputs: tuple[str, ...], scratch: Path) -> Reply:
    names = ("labels", "amodal", "depth", "normal")
    wanted = found.keys() & {"labels", *outputs}
    return {name: _save(scratch, name, found[name]) if name in wanted else None for name in names}


def _save(scratch: Path, name: str, array: NDArray[Any]) -> str:
    np.save(scratch / f"{name}.npy", array, allow_pickle=False)
    return f"{name}.npy"


def _check_image(pixels: NDArray[np.float32], plan: Plan) -> None:
    size = plan.settings.height, plan.settings.width
    if pixels.shape[:2] != size:
        raise RenderError(f"Blender gave an image of {pixels.shape[:2]} pixels instead of {size}")
    broken = int(np.count_nonzero(~np.isfinite(pixels).all(axis=-1)))
    if broken:
        raise RenderError(f"Cycles gave NaN or infinite values in {broken} pixels")


def _check_labels(labels: NDArray[np.uint8], plan: Plan) -> None:
    counts = np.bincount(labels.ravel(), minlength=len(plan.scene.objects) + 1)
    for number, item in enumerate(plan.scene.objects, 1):
        if counts[number] < plan.scene.min_visible_pixels:
            raise RenderError(
                f"object {number} ({item.size} {item.color} {item.material} {item.shape}) shows "
                f"{counts[number]} pixels; the Plan promises {plan.scene.min_visible_pixels}"
            )

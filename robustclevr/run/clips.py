"""Plans to finished clips, all in this process: neither Blender nor torch is started."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

import robustclevr
from robustclevr.errors import RecipeError, RenderError, SamplingError
from robustclevr.imaging import apply_encoded, linear_to_srgb8, srgb8_to_linear, warp_labels
from robustclevr.imaging.twins import apply_steps, source_map
from robustclevr.plan import CLEAN, ClipPlanner, clip_options
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import ClipPlan, ClipVariant, RenderedClip, Step, VideoOptions
from robustclevr.run.alarm import IN_PROCESS_LIMIT_S, time_limit
from robustclevr.run.job import Job, OnEvent, SampleFailure, SampleStarted
from robustclevr.spec import SplitSpec
from robustclevr.store.clip import clip_members
from robustclevr.store.parking import ParkedSample, Provenance
from robustclevr.video import render_clip


class ClipMaker:
    """Makes clips; a context manager, as every maker of samples.

    Parameters
    ----------
    job : Job
    recipes : mapping of str to LoadedRecipe
        The files of ``job.renderer.recipes``, loaded.
    on_event : callable
        Hears when a clip is started.
    """

    def __init__(self, job: Job, recipes: Mapping[str, LoadedRecipe], on_event: OnEvent) -> None:
        self._job, self._recipes, self._on_event = job, recipes, on_event
        self._versions = {
            "robustclevr": robustclevr.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is held."""

    def make(
        self, split: SplitSpec, indices: Iterable[int]
    ) -> Iterator[ParkedSample | SampleFailure]:
        """Yield each clip, or why it could not be made, in order.

        Parameters
        ----------
        split : SplitSpec
        indices : iterable of int

        Raises
        ------
        SpecError
            If the file of sprites or the folder of textures cannot be read.
        """
        options = clip_options(split)
        limit_s = self._job.sample_timeout_s or IN_PROCESS_LIMIT_S
        planner = ClipPlanner(split, self._recipes, root_seed=self._job.root_seed)
        for index in indices:
            self._on_event(SampleStarted(split.name, index))
            started = time.perf_counter()
            try:
                with time_limit(limit_s):
                    plan = planner.plan(index)
                    members, encode_s = encode_clip(plan, options, self._recipes)
            except (SamplingError, RenderError, RecipeError, TimeoutError) as error:
                yield SampleFailure(split.name, index, str(error))
                continue
            yield ParkedSample(
                index=index,
                fingerprint=self._job.fingerprints[split.name],
                provenance=self._provenance(time.perf_counter() - started, encode_s),
                members=members,
            )

    def _provenance(self, total_s: float, encode_s: float) -> Provenance:
        seconds = dict.fromkeys(("cycles", "labels", "compositor", "startup"), 0.0)
        seconds |= {"encode": encode_s, "other": total_s - encode_s, "total": total_s}
        return Provenance(self._versions, "cpu", seconds, renders=0)


def encode_clip(
    plan: ClipPlan, options: VideoOptions, recipes: Mapping[str, LoadedRecipe]
) -> tuple[dict[str, bytes], float]:
    """Return the files of one clip, by member name without the key, and the time of encoding.

    Parameters
    ----------
    plan : ClipPlan
    options : VideoOptions
        Those of the plan, with paths that lead somewhere.
    recipes : mapping of str to LoadedRecipe
        Those that the plan applies.

    Raises
    ------
    RecipeError
        If a recipe cannot be applied.
    SamplingError
        If a picture of its textures is gone or has changed.
    """
    rendered = render_clip(plan.clip, options, flow="flow" in plan.outputs)
    corrupted = {
        variant.variant: _corrupted(rendered, variant, recipes)
        for variant in plan.variants
        if variant.variant != CLEAN
    }
    started = time.perf_counter()
    members = clip_members(plan, rendered, corrupted)
    return members, time.perf_counter() - started


def _corrupted(
    clip: RenderedClip, variant: ClipVariant, recipes: Mapping[str, LoadedRecipe]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    if not variant.frames:
        return _under(clip.video, clip.masks, variant.steps, recipes)
    frames = [
        _under(clip.video[t : t + 1], clip.masks[t : t + 1], steps, recipes)
        for t, steps in enumerate(variant.frames)
    ]
    return np.concatenate([video for video, _ in frames]), np.concatenate([m for _, m in frames])


def _under(
    video: NDArray[np.uint8],
    masks: NDArray[np.uint8],
    steps: Sequence[Step],
    recipes: Mapping[str, LoadedRecipe],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Apply the same steps to frames, encoded ones last; labels move along with the pixels."""
    if not any(step.severity > 0 for step in steps):
        return video, masks
    encoded = [step for step in steps if recipes[step.recipe].recipe.stage == "encoded"]
    others = [step for step in steps if step not in encoded]
    frames = [
        linear_to_srgb8(apply_steps(srgb8_to_linear(frame), others, recipes)) for frame in video
    ]
    height, width = masks.shape[1:]
    source = source_map(others, height, width, recipes)
    if source is not None:
        masks = np.stack([warp_labels(labels, source) for labels in masks])
    return np.stack([apply_encoded(frame, encoded, recipes) for frame in frames]), masks

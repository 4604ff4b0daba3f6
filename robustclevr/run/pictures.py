"""Existing pictures to finished samples: in Blender's compositor, or by the recipes' twins."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

import robustclevr
from robustclevr.errors import RecipeError, RenderError, SamplingError, StoreError
from robustclevr.imaging import srgb_to_linear
from robustclevr.imaging.twins import apply_steps, source_map
from robustclevr.pictures import Entry, Mask, PictureSet
from robustclevr.plan import PicturePlanner
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import ImagePlan, LinearImage, PicturePlan, SourcePicture
from robustclevr.run.alarm import IN_PROCESS_LIMIT_S, time_limit
from robustclevr.run.job import Job, OnEvent, SampleFailure, SampleStarted
from robustclevr.run.renderer import Renderer
from robustclevr.run.shards import sample_name
from robustclevr.spec import SplitSpec, pictures_of
from robustclevr.store.parking import ParkedSample, Provenance
from robustclevr.store.pictures import picture_members

_SAMPLE_ERRORS = (RecipeError, RenderError, SamplingError, StoreError)


@dataclass(frozen=True)
class LoadedPicture:
    """A picture, ready to be corrupted.

    Attributes
    ----------
    source : SourcePicture
    linear : ndarray of float32, shape (H, W, 3)
        Scene-linear.
    mask : Mask or None
    """

    source: SourcePicture
    linear: NDArray[np.float32]
    mask: Mask | None


class PictureMaker:
    """Corrupts pictures; a context manager, as every maker of samples.

    Parameters
    ----------
    job : Job
    recipes : mapping of str to LoadedRecipe
        The files of ``job.renderer.recipes``, loaded.
    on_event : callable
        Hears when a sample is started.
    """

    def __init__(self, job: Job, recipes: Mapping[str, LoadedRecipe], on_event: OnEvent) -> None:
        self._job, self._recipes, self._on_event = job, recipes, on_event
        self._renderer = Renderer(job, on_event)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._renderer.__exit__(kind, error, trace)

    def make(
        self, split: SplitSpec, indices: Iterable[int]
    ) -> Iterator[ParkedSample | SampleFailure]:
        """Yield each sample, or why it could not be made, in order.

        Parameters
        ----------
        split : SplitSpec
        indices : iterable of int

        Raises
        ------
        SetupError
            If Blender is needed and there is none.
        GaveUpError
            If Blender died time and again.
        """
        pictures = PictureSet(pictures_of(split))
        planner = PicturePlanner(split, self._recipes, root_seed=self._job.root_seed)
        for index in indices:
            self._renderer.require_hope()
            self._on_event(SampleStarted(split.name, index))
            attempts = self._renderer.attempts(split.name, index)
            started = time.perf_counter()
            entry = pictures.entries[planner.picture(index)]
            try:
                picture = load_picture(pictures, entry)
                plan = planner.plan(index, picture.source)
                made, compositor_s, startup_s = self._renderer.persist(
                    attempts, partial(self._corrupt, plan, picture)
                )
                encoding = time.perf_counter()
                members = picture_members(plan, made, picture.mask, self._recipes)
            except _SAMPLE_ERRORS as error:
                self._renderer.reassure(self._renderer.ready)
                failure = attempts.failure(error)
                yield replace(failure, reason=f"{entry.name}: {failure.reason}")
                continue
            encode_s = time.perf_counter() - encoding
            total_s = time.perf_counter() - started - startup_s
            seconds = {
                **dict.fromkeys(("cycles", "labels"), 0.0),
                "compositor": compositor_s,
                "encode": encode_s,
                "other": total_s - compositor_s - encode_s,
                "startup": startup_s,
                "total": total_s,
            }
            yield ParkedSample(
                index=index,
                fingerprint=self._job.fingerprints[split.name],
                provenance=Provenance(
                    self._versions(), "cpu", seconds, renders=0, retries=tuple(attempts.retries)
                ),
                members=members,
            )

    def _corrupt(
        self, plan: PicturePlan, picture: LoadedPicture
    ) -> tuple[list[LinearImage], float, float]:
        """Return the images of a plan, and seconds in the compositor and in starting Blender."""
        linear, follow = picture.linear, picture.mask is not None
        if plan.engine == "numpy":
            started = time.perf_counter()
            with time_limit(self._job.sample_timeout_s or IN_PROCESS_LIMIT_S):
                made = corrupt_by_twins(plan.images, linear, self._recipes, follow=follow)
            return made, time.perf_counter() - started, 0.0
        changed = [image for image in plan.images if _changes(image)]
        if not changed:
            return _in_order(plan.images, linear, ()), 0.0, 0.0
        process, startup_s = self._renderer.ready()
        name = sample_name(plan.split, plan.index)
        composited, seconds = process.composite(linear, changed, name, follow=follow)
        return _in_order(plan.images, linear, composited), seconds, startup_s

    def _versions(self) -> dict[str, str]:
        own = {
            "robustclevr": robustclevr.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
        }
        process = self._renderer.process
        return own if process is None else {**own, **process.versions}


def load_picture(pictures: PictureSet, entry: Entry) -> LoadedPicture:
    """Read a picture and its mask; StoreError naming the file if that fails."""
    data = pictures.read_bytes(entry)
    picture, mask = pictures.decode(entry, data)
    height, width = picture.encoded.shape[:2]
    source = SourcePicture(
        name=entry.name,
        sha256=hashlib.sha256(data).hexdigest(),
        height=height,
        width=width,
        mode=picture.mode,
        bits=8 * picture.encoded.dtype.itemsize,
        mask=entry.mask,
    )
    return LoadedPicture(source, srgb_to_linear(picture.encoded), mask)


def corrupt_by_twins(
    images: Sequence[ImagePlan],
    linear: NDArray[np.float32],
    recipes: Mapping[str, LoadedRecipe],
    *,
    follow: bool = True,
) -> list[LinearImage]:
    """Apply the steps of each image by the numpy twins of its recipes.

    With ``follow`` the pixels that move are followed, so that labels can move along.

    Raises
    ------
    RecipeError
        If a recipe has no twin, or raises.
    """
    height, width = linear.shape[:2]
    return [
        LinearImage(
            image.variant,
            apply_steps(linear, image.steps, recipes),
            source_map(image.steps, height, width, recipes) if follow else None,
        )
        for image in images
    ]


def _changes(image: ImagePlan) -> bool:
    return any(step.severity > 0 for step in image.steps)


def _in_order(
    planned: Sequence[ImagePlan], linear: NDArray[np.float32], made: Sequence[LinearImage]
) -> list[LinearImage]:
    """Return an image for each that was planned: the picture itself where nothing changes it."""
    by_name = {image.variant: image for image in made}
    return [by_name.get(p.variant, LinearImage(p.variant, linear, None)) for p in planned]

"""Plans to finished clips, all in this process: neither Blender nor torch is started."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

import numpy as np

import robustclevr
from robustclevr.errors import RenderError, SamplingError
from robustclevr.plan import clip_options, make_clip_plan
from robustclevr.records import ClipPlan, VideoOptions
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
    on_event : callable
        Hears when a clip is started.
    """

    def __init__(self, job: Job, on_event: OnEvent) -> None:
        self._job, self._on_event = job, on_event
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
        for index in indices:
            self._on_event(SampleStarted(split.name, index))
            started = time.perf_counter()
            try:
                plan = make_clip_plan(split, root_seed=self._job.root_seed, index=index)
                members, encode_s = encode_clip(plan, options)
            except (SamplingError, RenderError) as error:
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


def encode_clip(plan: ClipPlan, options: VideoOptions) -> tuple[dict[str, bytes], float]:
    """Return the files of one clip, by member name without the key, and the time of encoding.

    Parameters
    ----------
    plan : ClipPlan
    options : VideoOptions
        Those of the plan, with paths that lead somewhere.
    """
    rendered = render_clip(plan.clip, options, flow="flow" in plan.outputs)
    started = time.perf_counter()
    members = clip_members(plan, rendered)
    return members, time.perf_counter() - started

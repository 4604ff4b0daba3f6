"""Plans to finished samples, with one Blender process.

While Blender renders a sample, the next one is planned; it is not handed over before the one in
flight is parked, so that a process that is killed loses one sample and no more.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import robustclevr
from robustclevr.errors import RecipeError, RenderError, SamplingError
from robustclevr.imaging import SIMILARITIES, linear_to_srgb8
from robustclevr.plan import CLEAN, Planner
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import Choice, ImagePlan, Plan, Render, RenderPass
from robustclevr.run.blender_process import BlenderProcess
from robustclevr.run.job import Job, OnEvent, SampleFailure, SampleStarted
from robustclevr.run.renderer import Attempts, Renderer
from robustclevr.scenes import amodal_masks, scene_to_clevr
from robustclevr.spec import SplitSpec
from robustclevr.store.parking import ParkedSample, Provenance
from robustclevr.store.sample import develop, sample_members

_SAMPLE_ERRORS = (RenderError, RecipeError, SamplingError)


@dataclass(frozen=True)
class _Probe:
    """What was rendered to choose a sample among candidates."""

    choice: Choice
    render: Render
    startup_s: float
    total_s: float


@dataclass
class _Flight:
    """One sample on its way through the pipeline.

    ``plan_s`` includes the probe; ``process`` is the one that renders it already, ``lost`` says why
    handing it over failed.
    """

    plan: Plan
    plan_s: float
    attempts: Attempts
    probe: _Probe | None = None
    startup_s: float = 0.0
    process: BlenderProcess | None = None
    lost: RenderError | None = None


class SampleMaker:
    """Makes samples with a Blender process of its own; a context manager.

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
            If there is no Blender.
        GaveUpError
            If Blender died time and again.
        """
        clock = _Clock()
        flying: _Flight | None = None
        planner = Planner(split, self._recipes, root_seed=self._job.root_seed)
        for index in indices:
            # Choosing renders, and one sample at a time may be in flight.
            planned = None if planner.must_choose else self._plan(planner, split.name, index)
            if flying is not None:
                yield self._land(flying, clock)
            self._renderer.require_hope()
            self._on_event(SampleStarted(split.name, index))
            planned = planned or self._plan(planner, split.name, index)
            flying = self._submit(planned) if isinstance(planned, _Flight) else None
            if isinstance(planned, SampleFailure):
                yield planned
        if flying is not None:
            yield self._land(flying, clock)

    def _plan(self, planner: Planner, split: str, index: int) -> _Flight | SampleFailure:
        started = time.monotonic()
        attempts = self._renderer.attempts(split, index)
        probe: _Probe | None = None
        try:
            if planner.must_choose:
                probe = self._renderer.persist(attempts, lambda: self._probe(planner, index))
            plan = planner.plan(index, None if probe is None else probe.choice)
        except _SAMPLE_ERRORS as error:
            return attempts.failure(error)
        return _Flight(plan, time.monotonic() - started, attempts, probe)

    def _probe(self, planner: Planner, index: int) -> _Probe:
        """Render the scene, composite every candidate, and take the least similar one."""
        started = time.monotonic()
        plan, candidates = planner.probe(index)
        process, startup_s = self._renderer.ready()
        render = process.render(plan)
        clean, *others = render.images
        reference = linear_to_srgb8(clean.pixels)
        similarity = SIMILARITIES[planner.metric]
        developed = [
            develop(image, render.labels, planned, self._recipes)
            for image, planned in zip(others, plan.images[1:], strict=True)
        ]
        scores = [similarity(reference, variant.image) for variant in developed]
        choice = planner.choose(candidates, scores)
        return _Probe(choice, render, startup_s, time.monotonic() - started)

    def _submit(self, flight: _Flight) -> _Flight:
        """Hand a sample over; if that fails, :meth:`_land` hears of it and tries again."""
        try:
            flight.process, flight.startup_s = self._renderer.ready()
            flight.process.submit(flight.plan)
        except RenderError as error:
            flight.process, flight.lost = None, error
        return flight

    def _land(self, flight: _Flight, clock: _Clock) -> ParkedSample | SampleFailure:
        """Wait for a sample in flight, and encode it."""
        try:
            render = self._renderer.persist(flight.attempts, lambda: self._render(flight))
            return self._finish(flight, render, clock)
        except _SAMPLE_ERRORS as error:
            self._renderer.reassure(lambda: self._renderer.ready()[0].render(_plain(flight.plan)))
            return flight.attempts.failure(error)

    def _render(self, flight: _Flight) -> Render:
        """Return the picture: from the process that has the sample, or else from a fresh one."""
        process, flight.process = flight.process, None
        lost, flight.lost = flight.lost, None
        if lost is not None:
            raise lost
        if process is not None:
            return process.collect()
        process, startup_s = self._renderer.ready()
        flight.startup_s += startup_s
        return process.render(flight.plan)

    def _finish(self, flight: _Flight, landed: Render, clock: _Clock) -> ParkedSample:
        started = time.monotonic()
        members = encode(flight.plan, landed, self._recipes)
        encode_s = time.monotonic() - started
        renders = [landed] if flight.probe is None else [landed, flight.probe.render]
        startup_s = flight.startup_s + (flight.probe.startup_s if flight.probe else 0.0)
        seconds = {
            name: sum(float(render.seconds[name]) for render in renders)
            for name in ("cycles", "labels", "compositor", "other")
        }
        seconds["other"] += flight.plan_s - (flight.probe.total_s if flight.probe else 0.0)
        seconds |= {"encode": encode_s, "startup": startup_s, "total": clock.lap() - startup_s}
        versions = {"robustclevr": robustclevr.__version__, **landed.versions}
        return ParkedSample(
            index=flight.plan.index,
            fingerprint=self._job.fingerprints[flight.plan.split],
            provenance=Provenance(
                versions,
                landed.device,
                seconds,
                renders=sum(render.renders for render in renders),
                retries=tuple(flight.attempts.retries),
            ),
            members=members,
        )


def _plain(plan: Plan) -> Plan:
    """Return the Plan of the same scene without any recipe."""
    return replace(plan, renders=(RenderPass(()),), images=(ImagePlan(CLEAN, 0, ()),))


class _Clock:
    """Time between finished samples, so that the laps add up to the whole."""

    def __init__(self) -> None:
        self._mark = time.monotonic()

    def lap(self) -> float:
        now = time.monotonic()
        lap_s, self._mark = now - self._mark, now
        return lap_s


def encode(plan: Plan, render: Render, recipes: Mapping[str, LoadedRecipe]) -> dict[str, bytes]:
    """Return the files of one rendered sample, by member name without the key."""
    settings, scene = plan.settings, plan.scene
    whole = render.amodal
    if whole is None:
        whole = amodal_masks(scene.objects, scene.camera, settings.height, settings.width)
    described = scene_to_clevr(scene)
    return sample_members(plan, render, scene=described, whole=whole, recipes=recipes)

"""The whole examination, what is quick first, Blender's renders last."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from robustclevr.errors import RendererLostError, RobustClevrError
from robustclevr.recipe import LoadedRecipe
from robustclevr.records.device import DeviceSurvey, Gpu
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.run.devices import BROKEN
from robustclevr.run.doctor.caches import cache_findings, caches
from robustclevr.run.doctor.finding import Finding
from robustclevr.run.doctor.gpus import Surroundings, gpu_findings
from robustclevr.run.doctor.machine import machine_findings, processor_name
from robustclevr.run.doctor.trial import SIZE_PX, judge, prewarm_plan, trial_plan

_TRIAL_TIMEOUT_S = 1800.0  # chosen: a driver that compiles every kernel takes minutes
_PREWARM_TIMEOUT_S = 7200.0  # chosen: the same for every feature


def examine(
    setup: RendererSetup,
    recipes: Mapping[str, LoadedRecipe],
    folder: Path,
    *,
    prewarm: bool = False,
) -> Iterator[Finding]:
    """Yield what is found.

    Parameters
    ----------
    setup : RendererSetup
        Which Blender to try, and the device that it should render on.
    recipes : mapping of str to LoadedRecipe
        Those of the setup.
    folder : Path
        Where a dataset would be written.
    prewarm : bool
        Whether to render all that makes kernels compile, on every kind of GPU.
    """
    yield from machine_findings(folder)
    wanted = setup.device
    try:
        process, broken = _started(setup)
        with process:
            yield from broken
            yield _blender(process)
            survey = process.survey
            yield from gpu_findings(survey, Surroundings.here())
            gpu = process.gpu if wanted == "auto" else next(iter(survey.of(wanted)), None)
            yield _device(wanted, gpu, process)
            matter = bool(survey.of("cuda"))
            yield from cache_findings(caches(os.environ, Path.home()), matter=matter)
            if gpu == process.gpu:
                yield _trial(process, recipes)
    except RobustClevrError as error:
        yield Finding("blender", "cannot be used", works=False, needed=True, advice=str(error))
        return
    if gpu is None and wanted not in ("auto", "cpu"):
        return
    if gpu != process.gpu:
        yield from _trial_on(setup.on(gpu), recipes)
    if prewarm:
        yield from _prewarm(setup, recipes, survey, gpu)


def _started(setup: RendererSetup) -> tuple[BlenderProcess, Sequence[Finding]]:
    """Return a Blender that has looked for GPUs; if that is its end, one that has not, and why."""
    if setup.device != "cpu":
        try:
            asked = replace(setup, device="auto")
            return BlenderProcess(asked, timeout_s=_TRIAL_TIMEOUT_S), ()
        except RendererLostError as error:
            broken = Finding(
                "gpu access",
                f"{BROKEN}: {error.reason}",
                works=False,
                advice="install the GPU's driver anew; until then the CPU renders",
            )
            return BlenderProcess(setup.on(None), timeout_s=_TRIAL_TIMEOUT_S), (broken,)
    return BlenderProcess(setup, timeout_s=_TRIAL_TIMEOUT_S), ()


def numpy_for(blender: str) -> str:
    """Return the major version of numpy that a Blender is built for; empty if it is not known.

    From the packages on PyPI: bpy 4.5 asks for numpy before 2, bpy 5.2 for 2.2 or newer.
    """
    release = tuple(int(part) for part in blender.split(".")[:2])
    if release < (5, 0):
        return "1"
    return "2" if release >= (5, 2) else ""


def _blender(process: BlenderProcess) -> Finding:
    versions = process.versions
    numpy, blender = versions["numpy"], versions["blender"]
    major = numpy_for(blender)
    return Finding(
        "blender",
        f"{blender} on Python {versions['python']}, numpy {numpy}; "
        f"started in {process.startup_s:.1f} s",
        works=major in ("", numpy.partition(".")[0]),
        needed=True,
        advice=f"Blender {blender} is built for numpy {major}.x: install that beside it",
        facts=dict(versions),
    )


def _device(wanted: str, gpu: Gpu | None, process: BlenderProcess) -> Finding:
    """Return what renders, and why nothing better does."""
    absent = process.survey.absent
    if wanted not in ("auto", "cpu") and gpu is None:
        return Finding(
            "device",
            f"{wanted} is not here: {absent.get(wanted, 'no device')}",
            works=False,
            needed=True,
            advice="--device auto takes the best that is here",
        )
    state = f"cpu ({processor_name()})" if gpu is None else gpu.label
    why = process.why if wanted == "auto" else ""
    facts = {"device": state, "why": why, "absent": dict(absent)}
    return Finding("device", f"{state}; {why}" if why else state, needed=True, facts=facts)


def _trial(process: BlenderProcess, recipes: Mapping[str, LoadedRecipe]) -> Finding:
    what = f"{SIZE_PX}x{SIZE_PX} image"
    started = time.monotonic()
    try:
        render = process.render(trial_plan(recipes))
    except RobustClevrError as error:
        return Finding("render", f"no {what}", works=False, needed=True, advice=str(error))
    seconds = time.monotonic() - started
    fault = judge(render)
    return Finding(
        "render",
        f"{what} on {render.device} in {seconds:.1f} s" + (f": {fault}" if fault else ""),
        works=not fault,
        needed=True,
        advice="try --device cpu; if that works, the GPU or its driver is at fault",
        facts={"device": render.device, "seconds": seconds},
    )


def _trial_on(setup: RendererSetup, recipes: Mapping[str, LoadedRecipe]) -> Iterator[Finding]:
    try:
        with BlenderProcess(setup, timeout_s=_TRIAL_TIMEOUT_S) as process:
            yield _trial(process, recipes)
    except RobustClevrError as error:
        yield Finding("render", "cannot be tried", works=False, needed=True, advice=str(error))


def _prewarm(
    setup: RendererSetup,
    recipes: Mapping[str, LoadedRecipe],
    survey: DeviceSurvey,
    gpu: Gpu | None,
) -> Iterator[Finding]:
    """Render with every feature on the processor, or on one GPU of each kind."""
    kinds: Sequence[Gpu | None] = [None]
    if gpu is not None:
        kinds = list({other.name: other for other in reversed(survey.of(gpu.backend))}.values())
    for kind in kinds:
        try:
            with BlenderProcess(setup.on(kind), timeout_s=_PREWARM_TIMEOUT_S) as process:
                started = time.monotonic()
                render = process.render(prewarm_plan(recipes))
                seconds = time.monotonic() - started
        except RobustClevrError as error:
            yield Finding("prewarm", "failed", works=False, needed=True, advice=str(error))
            continue
        compiled = "the CPU has nothing to compile" if kind is None else "kernels are compiled"
        yield Finding(
            "prewarm",
            f"{compiled}: {render.renders} renders on {render.device} in {seconds:.1f} s",
            facts={"device": render.device, "seconds": seconds, "renders": render.renders},
        )

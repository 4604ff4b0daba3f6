"""Options that are each right and contradict one another."""

from __future__ import annotations

from collections.abc import Iterator

from robustclevr.errors import Problem, SpecError
from robustclevr.records import VideoOptions
from robustclevr.video.scenarios import SCENARIOS
from robustclevr.video.stamps import CANVAS_PX

STREAM, SAMPLING, STREAM_FRAMES = "own", "aligned", 10
"""Defaults of what Sprites-MOT alone has, and the length of clips in the authors' stream."""

_SPMOT_SIDES_PX = (64, 128)


def check(options: VideoOptions) -> None:
    """Refuse options that contradict one another.

    Raises
    ------
    SpecError
        With all contradictions.
    """
    problems = [*_geometry_problems(options), *_scenario_problems(options)]
    problems += _spmot_problems(options) if options.family == "spmot" else _own_problems(options)
    if problems:
        raise SpecError(problems)


def _geometry_problems(options: VideoOptions) -> Iterator[Problem]:
    side = min(options.height, options.width)
    if not 0.0 <= options.margin_px < side / 2:
        yield Problem(
            f"a margin of {options.margin_px:g} px leaves no place in {side} px",
            path="video.margin_px",
            hint=f"must be at least 0 and below {side / 2:g}",
        )
    if options.dsprites is not None and (options.height, options.width) != (CANVAS_PX, CANVAS_PX):
        yield Problem(
            f"its sprites are drawn for 64x64 and the clips are {options.width}x{options.height}",
            path="video.dsprites",
            hint="ask for 64x64, or leave it out: the closed forms have any size",
        )


def _scenario_problems(options: VideoOptions) -> Iterator[Problem]:
    names = list(options.scenarios)
    for k, name in enumerate(names):
        for other in names[:k]:
            both = SCENARIOS[name].sets & SCENARIOS[other].sets
            if both:
                what = f"'{other}' and '{name}' both set the {', '.join(sorted(both))}"
                yield Problem(what, path="scenario", hint="leave one of them out")
        if options.frames < SCENARIOS[name].least_frames:
            yield Problem(
                f"'{name}' needs {SCENARIOS[name].least_frames} frames, got {options.frames}",
                path="scenario",
                hint="raise video.frames, or leave the scenario out",
            )
    low, high = options.sprites
    if low > high:
        what = f"{' and '.join(names)} need {low} sprites, and there are at most {high}"
        yield Problem(what, path="video.sprites", hint=f"ask for up to {low} or more")
    if "rotation" in names and options.dsprites is not None:
        hint = "leave video.dsprites out: the closed forms turn by any angle"
        yield Problem("the file's sprites have 40 orientations", path="video.dsprites", hint=hint)


def _own_problems(options: VideoOptions) -> Iterator[Problem]:
    for key, default in (("stream", STREAM), ("sampling", SAMPLING)):
        value = getattr(options, key)
        if value != default:
            hint = "leave it out, or use family: spmot"
            yield Problem(f"{value!r} belongs to Sprites-MOT", path=f"video.{key}", hint=hint)
    if options.family != "texvmds":
        if options.textures is not None:
            hint = "leave it out, or use family: texvmds"
            yield Problem("plain sprites have no textures", path="video.textures", hint=hint)
        return
    for name in options.scenarios:
        if SCENARIOS[name].needs_colors:
            hint = "leave it out, or use family: vmds"
            yield Problem(f"'{name}' is about colors, not textures", path="scenario", hint=hint)


def _spmot_problems(options: VideoOptions) -> Iterator[Problem]:
    if options.height != options.width or options.height not in _SPMOT_SIDES_PX:
        what = f"Sprites-MOT has no size {options.width}x{options.height}"
        yield Problem(what, path="video.height", hint="allowed: 64x64, or 128x128 as it is drawn")
    if options.scenarios:
        names = ", ".join(options.scenarios)
        hint = "leave them out, or use family: vmds"
        yield Problem(f"Sprites-MOT has no scenarios, got {names}", path="scenario", hint=hint)
    if options.stream != STREAM and options.frames != STREAM_FRAMES:
        what = f"the authors' stream is cut into clips of 10 frames, got {options.frames}"
        yield Problem(what, path="video.frames", hint="ask for 10 frames, or for stream: own")

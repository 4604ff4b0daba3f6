"""The ``video:`` and ``scenario:`` of a file to VideoOptions; every mistake at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from robustclevr.errors import Problem, SpecError, suggest
from robustclevr.records import VideoOptions
from robustclevr.video.checks import SAMPLING, STREAM, check
from robustclevr.video.scenarios import COMBINED, SCENARIOS, Option
from robustclevr.video.stamps import CANVAS_PX

FAMILIES = ("vmds", "texvmds", "spmot")
COUNTS = ("balanced", "uniform")
EDGES = ("coverage", "bilinear", "cubic", "hard")
STREAMS = (STREAM, "torch-seed-0")
SAMPLINGS = (SAMPLING, "odd-even")

MOST_SPRITES = 32
"""Chosen: 32 sprites of middling size cover a 64x64 frame twice."""

MOST_FRAMES = 1000
MOST_SIDE_PX = 1024
SPMOT_SPRITES = (0, 6)
"""Least and most objects a Sprites-MOT clip of ten frames can hold: two in each of three slots."""

_OUTER_PX = 10.0  # centroids stay in [10, 54] of 64: Weis et al., B.1
_SIGMA_PX = 55.0

DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "frames": 10,
        "height": CANVAS_PX,
        "width": CANVAS_PX,
        "sprites": (1, 4),
        "counts": "balanced",
        "edges": "coverage",
        "mask_threshold": 0.5,
        "tau_frames": 10.0,
        "tries": 16_384,
        "dsprites": None,
        "textures": None,
        "stream": STREAM,
        "sampling": SAMPLING,
    }
)
"""Numbers of Weis et al. (JMLR 2021), appendix B.1, where it gives any. ``sigma_px`` is 55 and
``margin_px`` 10 at 64x64, and grow with the shorter side. The paper's kernel has unit variance,
which cannot be pixels: clips would hardly move. 55 px makes clips of ten frames move 2.8 px a
frame and axis (root mean square), as the released ones do, 2.7 to 3.0."""


def unit_of(options: VideoOptions) -> float:
    """Return the pixels of the picture for one of dSprites' 64x64 canvas."""
    return min(options.height, options.width) / CANVAS_PX


def resolve(
    family: str,
    video: Mapping[str, Any] | None = None,
    scenario: Mapping[str, Mapping[str, Any]] | None = None,
) -> VideoOptions:
    """Fill in defaults and check.

    Parameters
    ----------
    family : str
        One of :data:`FAMILIES`.
    video : mapping, optional
        Some of the fields of :class:`~robustclevr.records.VideoOptions`; None counts as absent.
    scenario : mapping of str to mapping, optional
        Options of each scenario by name; a number may stand for a list of one.

    Returns
    -------
    VideoOptions

    Raises
    ------
    SpecError
        With all that is wrong; each problem says what is allowed.
    """
    given = {key: value for key, value in (video or {}).items() if value is not None}
    problems = list(_key_problems(family, given))
    values = {**DEFAULTS, **{key: value for key, value in given.items() if key in _KEYS}}
    values["sprites"] = SPMOT_SPRITES if family == "spmot" else _pair(values["sprites"])
    if family == "spmot":
        values["mask_threshold"] = given.get("mask_threshold", 0.0)
    problems += _value_problems(values)
    chosen = _scenarios(scenario or {}, problems)
    if problems:
        raise SpecError(problems)
    unit = min(values["height"], values["width"]) / CANVAS_PX
    values.setdefault("sigma_px", _SIGMA_PX * unit)
    values.setdefault("margin_px", _OUTER_PX * unit)
    values["sprites"] = _sprites(values["sprites"], chosen)
    options = VideoOptions(family=family, scenarios=chosen, **values)
    check(options)
    return options


_KEYS = (*DEFAULTS, "sigma_px", "margin_px")
_NOT_FOR_SPMOT = (
    "sprites", "counts", "edges", "tau_frames", "sigma_px", "margin_px", "dsprites", "textures"
)  # fmt: skip


def _key_problems(family: str, given: Mapping[str, Any]) -> Iterator[Problem]:
    if family not in FAMILIES:
        hint = suggest(family, FAMILIES)
        yield Problem(f"unknown family {family!r}", path="family", hint=hint)
    for key in given:
        if key not in _KEYS:
            hint = suggest(key, _KEYS)
            yield Problem(f"unknown key {key!r}", path=f"video.{key}", hint=hint)
        elif family == "spmot" and key in _NOT_FOR_SPMOT:
            what = "Sprites-MOT has its own law of counts, motion and edges"
            yield Problem(what, path=f"video.{key}", hint="leave it out, or use family: vmds")


def _whole(low: int, high: int) -> str:
    return f"a whole number from {low} to {high}"


_WORDS = {"counts": COUNTS, "edges": EDGES, "stream": STREAMS, "sampling": SAMPLINGS}
_WHOLE = {
    "frames": (1, MOST_FRAMES),
    "height": (8, MOST_SIDE_PX),
    "width": (8, MOST_SIDE_PX),
    "tries": (1, 2**24),
}
_BELOW_ZERO = -math.ulp(0.0)
_RANGES = {
    "tau_frames": (0.0, math.inf, "must be above 0"),
    "sigma_px": (0.0, math.inf, "must be above 0"),
    "margin_px": (_BELOW_ZERO, math.inf, "must be at least 0"),
    "mask_threshold": (_BELOW_ZERO, 1.0, "must be at least 0 and below 1"),
}


def _value_problems(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Find what is wrong with single values."""
    for key, allowed in _WORDS.items():
        if values[key] not in allowed:
            hint = suggest(str(values[key]), allowed)
            yield Problem(f"unknown value {values[key]!r}", path=f"video.{key}", hint=hint)
    for key, (low, high) in _WHOLE.items():
        value = values[key]
        if not (isinstance(value, int) and low <= value <= high):
            yield Problem(f"got {value!r}", path=f"video.{key}", hint=f"write {_whole(low, high)}")
    for key, (least, below, hint) in _RANGES.items():
        value = values.get(key)
        if key in values and not (isinstance(value, int | float) and least < value < below):
            yield Problem(f"got {value!r}", path=f"video.{key}", hint=hint)
    yield from _count_problems(values["sprites"])


def _pair(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _count_problems(sprites: tuple[Any, ...]) -> Iterator[Problem]:
    whole = len(sprites) == 2 and all(isinstance(count, int) for count in sprites)
    if not (whole and 0 <= sprites[0] <= sprites[1] and 1 <= sprites[1] <= MOST_SPRITES):
        yield Problem(
            f"got {list(sprites)!r}",
            path="video.sprites",
            hint=f"two whole numbers, 0 <= least <= most <= {MOST_SPRITES}; more sprites would "
            "hide one another",
        )


def _scenarios(
    given: Mapping[str, Mapping[str, Any]], problems: list[Problem]
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return the options of each scenario in the order of SCENARIOS."""
    named: dict[str, Mapping[str, Any]] = {}
    for name, options in given.items():
        if name not in SCENARIOS and name not in COMBINED:
            hint = suggest(name, [*SCENARIOS, *COMBINED])
            problems.append(Problem(f"unknown scenario {name!r}", path="scenario", hint=hint))
        for part in COMBINED.get(name, (name,)):
            if part in named:
                problems.append(Problem(f"{part!r} stands twice", path="scenario"))
            named[part] = options if name not in COMBINED else {}
        if name in COMBINED and options:
            parts = ", ".join(COMBINED[name])
            hint = f"write {parts} instead, each with its own options"
            problems.append(Problem("takes no options", path=f"scenario.{name}", hint=hint))
    return {
        name: _scenario_options(name, named[name], problems) for name in SCENARIOS if name in named
    }


def _scenario_options(
    name: str, given: Mapping[str, Any], problems: list[Problem]
) -> dict[str, tuple[float, ...]]:
    known = SCENARIOS[name].options
    for key in given:
        if key not in known:
            hint = suggest(key, known)
            problems.append(Problem(f"unknown option {key!r}", path=f"scenario.{name}", hint=hint))
    chosen = {}
    for key, option in known.items():
        value = given.get(key, option.default)
        numbers = value if isinstance(value, list | tuple) else (value,)
        if not _fits(numbers, option):
            kind = "[least, most]" if len(option.default) == 2 else "one number"
            hint = f"{kind}, from {option.least:g} to {option.most:g}. {option.meaning}"
            problems.append(Problem(f"got {value!r}", path=f"scenario.{name}.{key}", hint=hint))
            numbers = option.default
        chosen[key] = tuple(float(number) for number in numbers)
    return chosen


def _fits(numbers: Sequence[Any], option: Option) -> bool:
    return (
        len(numbers) == len(option.default)
        and all(isinstance(number, int | float) for number in numbers)
        and all(option.least <= number <= option.most for number in numbers)
        and list(numbers) == sorted(numbers)
    )


def least_sprites(scenarios: Mapping[str, Any]) -> int:
    """Return how many sprites a clip needs for its scenarios; 0 without any."""
    chosen = [SCENARIOS[name] for name in scenarios]
    taken = sum(scenario.takes for scenario in chosen)
    return max([taken, *(scenario.least_sprites for scenario in chosen)], default=0)


def _sprites(
    sprites: tuple[int, int], scenarios: Mapping[str, Mapping[str, tuple[float, ...]]]
) -> tuple[int, int]:
    """Return the counts that scenarios leave: at least as many as they need."""
    if "crowd" in scenarios:
        low, high = (int(count) for count in scenarios["crowd"]["sprites"])
    else:
        low, high = sprites
    return max(low, least_sprites(scenarios)), high

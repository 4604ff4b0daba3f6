"""Scenarios about where sprites go: occlusion, swap, enter_exit; and about how many: crowd."""

from __future__ import annotations

import numpy as np

from robustclevr.video.scenarios.draft import Draft, Option, Scenario, Values
from robustclevr.video.shapes import reach
from robustclevr.video.trajectories import DECIMALS

_Drawn = dict[str, tuple[float, ...]]


def _meet(draft: Draft, pair: list[int], frame: int, place: list[float]) -> _Drawn:
    """Send two sprites through one place in one frame."""
    draft.frame[pair] = frame
    draft.value[pair] = place
    return {"sprites": tuple(sprite + 1.0 for sprite in pair), "frame": (float(frame),)}


def _occlusion(draft: Draft, _options: Values, rng: np.random.Generator) -> _Drawn:
    pair = draft.take(rng, 2)
    frame = int(rng.integers(draft.frames))
    place = [
        round(low + (high - low) * float(rng.random()), DECIMALS)
        for low, high in zip(draft.low[0, :, 0], draft.high[0, :, 0], strict=True)
    ]
    return _meet(draft, pair, frame, place)


def _swap(draft: Draft, options: Values, rng: np.random.Generator) -> _Drawn:
    """Two sprites of one color meet, and end on each other's side along x or y."""
    (share,) = options["gap"]
    gap = share * float(draft.high[0, 0, 0] - draft.low[0, 0, 0])
    pair = draft.take(rng, 2)
    draft.color[pair[1]] = draft.color[pair[0]]
    axis = int(rng.integers(2))
    middle = draft.frames // 2
    place = []
    for k in range(2):
        low, high = draft.low[0, k, 0], draft.high[0, k, 0]
        room = 2 * gap if k == axis else 0.0  # beyond the gap there is a gap's room at least
        place.append(round(low + room + (high - low - 2 * room) * float(rng.random()), DECIMALS))
    drawn = _meet(draft, pair, middle, place)
    for sprite, sign in zip(pair, (1, -1), strict=True):
        first, last = (0, -1) if sign > 0 else (-1, 0)
        draft.high[sprite, axis, first] = place[axis] - gap
        draft.low[sprite, axis, last] = place[axis] + gap
    return {**drawn, "axis": (float(axis),)}


def _enter_exit(draft: Draft, _options: Values, rng: np.random.Generator) -> _Drawn:
    """All free sprites cross a side of the frame, once: wholly outside, then inside, or back."""
    sprites, draft.free = draft.free, []
    sides, enters, moments = [], [], []
    for sprite in sprites:
        axis, far, enter = (int(n) for n in rng.integers(2, size=3))
        outside = int(rng.integers(max(draft.frames // 2 - 1, 1)))  # last frame wholly outside
        depth = float(rng.random())
        _cross(draft, sprite, axis, far=bool(far), outside=outside, depth=depth)
        if not enter:
            for bound in (draft.low, draft.high):
                bound[sprite] = bound[sprite][:, ::-1].copy()
            draft.frame[sprite] = draft.frames - 1 - draft.frame[sprite]
        sides.append(2.0 * axis + far)
        enters.append(float(enter))
        moments.append(float(outside if enter else draft.frames - 1 - outside))
    return {
        "sprites": tuple(sprite + 1.0 for sprite in sprites),
        "side": tuple(sides),
        "enters": tuple(enters),
        "outermost_frame": tuple(moments),
    }


def _cross(draft: Draft, sprite: int, axis: int, *, far: bool, outside: int, depth: float) -> None:
    """Bound one coordinate so that the sprite enters through a side of the frame."""
    span = float(draft.size[axis])
    clear = reach(draft.shape[sprite]) * float(draft.scale[sprite].max()) * draft.unit + 1.0
    away = round(clear + depth * draft.unit, DECIMALS)  # just outside, for it is soon seen
    inner = float(draft.high[sprite, axis, 0])
    low = np.full(draft.frames, -np.inf)
    high = np.full(draft.frames, inner)
    high[: outside + 1] = -clear
    low[-1] = 0.0
    draft.frame[sprite, axis] = outside
    draft.value[sprite, axis] = round(span + away, DECIMALS) if far else -away
    draft.low[sprite, axis] = span - high if far else low
    draft.high[sprite, axis] = span - low if far else high


def _crowd(_draft: Draft, _options: Values, _rng: np.random.Generator) -> _Drawn:
    return {}


OCCLUSION = Scenario(
    summary="two sprites stand at the same place in a random frame (Weis et al., B.1.1)",
    apply=_occlusion,
    takes=2,
)

SWAP = Scenario(
    summary="two sprites of one color cross, and end where the other came from",
    apply=_swap,
    options={
        "gap": Option(
            default=(0.1,),
            least=0.0,
            most=0.2,
            meaning="Along one axis both are this far from the meeting place at the first and "
            "the last frame, as a share of the range of centroids. Chosen: 4.4 px at 64x64.",
        )
    },
    takes=2,
    least_frames=3,
    needs_colors=True,
)

ENTER_EXIT = Scenario(
    summary="each sprite comes in or goes out through a side of the frame, seen whole and not",
    apply=_enter_exit,
    takes=1,
    least_frames=6,
)

CROWD = Scenario(
    summary="five to ten sprites",
    apply=_crowd,
    options={
        "sprites": Option(
            default=(5.0, 10.0),
            least=1.0,
            most=32.0,
            meaning="Least and most number of sprites; replaces video.sprites. Chosen.",
        )
    },
    sets=frozenset({"count"}),
)

"""Sprites-MOT: sprites that cross a black 128x128 canvas along straight lines.

The law is that of He et al. (CVPR 2019) as Weis et al. (JMLR 2021) run it. Three slots each wait,
give birth to an object, move it to the other side and wait again. In the authors' stream clips
are consecutive pieces of one run; here each clip is a piece of a run of its own, so that it can be
made alone. Their test stream can be had too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robustclevr import seeds
from robustclevr.records import Clip, Point, Sprite, VideoOptions
from robustclevr.video.mersenne import TorchUniforms

CANVAS_PX = 128
SLOTS = 3
TEMPLATE_PX = 21
SHAPES = ("disc", "rectangle", "triangle", "diamond")
COLORS = ((0, 0, 255), (0, 255, 0), (0, 255, 255), (255, 0, 0), (255, 0, 255), (255, 255, 0))
"""Blue, green, cyan, red, magenta, yellow."""

_MARGIN_PX = TEMPLATE_PX // 2
_SPEED_PX = 5.3  # a frame
_WAIT_FRAMES = 5
_BIRTH_PROBABILITY = 0.5
_SCALE_SPREAD = 0.1
_RATIO_SPREAD = 0.2
_BURN_IN_FRAMES = 240
_LATEST_START = 186
"""Slots of our own stream begin up to this many frames late, each by itself: lives are so alike
that slots which begin together stay together for hundreds of frames. Chosen: six lives with their
pauses, so that a clip sees every phase of a life alike."""
_CLIP_FRAMES = 10  # of the authors' stream
_BLOCK_CLIPS = 256


class _Uniforms(Protocol):
    def rand(self, *shape: int) -> NDArray[np.float32]: ...


class _PhiloxUniforms:
    """Our own stream behind the same call."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def rand(self, *shape: int) -> NDArray[np.float32]:
        return self._rng.random(shape, dtype=np.float32)


@dataclass(frozen=True)
class Mover:
    """One object on the canvas.

    Attributes
    ----------
    slot : int
        Later slots are in front.
    shape, color : int
        Index into :data:`SHAPES` and :data:`COLORS`.
    scale : float
    size_px : pair of int
        Height and width.
    start, velocity : pair of float
        (x, y) of the pixel at its centre when it is born. [px, px a frame]
    """

    slot: int
    shape: int
    color: int
    scale: float
    size_px: tuple[int, int]
    start: Point
    velocity: Point

    def pixel(self, step: int) -> tuple[int, int]:
        """Return the pixel (x, y) at its centre after some frames."""
        (x, y), (vx, vy) = self.start, self.velocity
        return round(x + step * vx), round(y + step * vy)


@dataclass
class _Slot:
    """What a slot is doing: waiting ``waited`` frames, or moving an object."""

    waited: int = 0
    mover: Mover | None = None
    step: int = 0


Sighting = tuple[Mover, int]
"""An object, and the frames since its birth."""

Frame = tuple[Sighting, ...]


class _Run:
    """A run of the three slots."""

    def __init__(self, uniforms: _Uniforms, delays: Sequence[int] = (0,) * SLOTS) -> None:
        self._uniforms = uniforms
        self._slots = [_Slot(waited=-delay) for delay in delays]

    def frames(self, count: int) -> list[Frame]:
        """Advance; all numbers are drawn first, also those that no birth uses."""
        draws = _Draws(self._uniforms, count)
        return [
            tuple(
                seen
                for number, slot in enumerate(self._slots)
                if (seen := _advance(slot, number, draws, t)) is not None
            )
            for t in range(count)
        ]


class _Draws:
    """The numbers of some frames, in the order in which the authors draw them."""

    def __init__(self, uniforms: _Uniforms, count: int) -> None:
        one = np.float32(1.0)
        self.birth = uniforms.rand(count, SLOTS)
        self.color = _whole(uniforms.rand(count, SLOTS), len(COLORS))
        self.shape = _whole(uniforms.rand(count, SLOTS), len(SHAPES))
        self.direction = _whole(uniforms.rand(count, SLOTS), 4)
        places = uniforms.rand(count, SLOTS, 2) * np.float32(CANVAS_PX - 2 * _MARGIN_PX)
        self.place = np.floor(places + np.float32(_MARGIN_PX)).astype(np.int64)
        two = np.float32(2.0)
        scale = uniforms.rand(count, SLOTS) * two - one
        self.scale = scale * np.float32(_SCALE_SPREAD) + one
        ratio = uniforms.rand(count, SLOTS) * two - one
        self.ratio = np.sqrt(ratio * np.float32(_RATIO_SPREAD) + one)


def _whole(uniforms: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    whole: NDArray[np.int64] = np.floor(uniforms * np.float32(count)).astype(np.int64)
    return whole


def _advance(slot: _Slot, number: int, draws: _Draws, t: int) -> Sighting | None:
    """Advance a slot by a frame; return what it shows."""
    if slot.mover is None:
        if slot.waited < _WAIT_FRAMES:
            slot.waited += 1
        elif draws.birth[t, number] < _BIRTH_PROBABILITY:
            slot.mover, slot.step = _born(draws, t, number), 0
        return None
    if not all(_MARGIN_PX <= c <= CANVAS_PX - 1 - _MARGIN_PX for c in slot.mover.pixel(slot.step)):
        slot.mover, slot.waited = None, 0
        return None
    slot.step += 1
    return slot.mover, slot.step - 1


def _born(draws: _Draws, t: int, slot: int) -> Mover:
    scale, ratio = float(draws.scale[t, slot]), float(draws.ratio[t, slot])
    here, there = (int(place) for place in draws.place[t, slot])
    near, far = _MARGIN_PX, CANVAS_PX - 1 - _MARGIN_PX
    start, end = (
        ((here, near), (there, far)),
        ((here, far), (there, near)),
        ((near, here), (far, there)),
        ((far, here), (near, there)),
    )[int(draws.direction[t, slot])]
    heading = math.atan2(end[1] - start[1], end[0] - start[0])
    return Mover(
        slot=slot,
        shape=int(draws.shape[t, slot]),
        color=int(draws.color[t, slot]),
        scale=scale,
        size_px=(round(TEMPLATE_PX * scale * ratio), round(TEMPLATE_PX * scale / ratio)),
        start=(float(start[0]), float(start[1])),
        velocity=(_SPEED_PX * math.cos(heading), _SPEED_PX * math.sin(heading)),
    )


class _AuthorsStream:
    """The authors' test stream, seed 0: made as far as it was asked for."""

    def __init__(self) -> None:
        self._run = _Run(TorchUniforms(0))
        self._clips: list[list[Frame]] = []

    def clip(self, index: int) -> list[Frame]:
        while len(self._clips) <= index:
            self._clips += [self._run.frames(_CLIP_FRAMES) for _ in range(_BLOCK_CLIPS)]
        return self._clips[index]


@lru_cache(maxsize=1)
def _authors_stream() -> _AuthorsStream:
    """Return one stream a process: clip i needs all clips before it (30 us each)."""
    return _AuthorsStream()


def sample_sprites_mot(options: VideoOptions, *, root_seed: int, split: str, index: int) -> Clip:
    """Sample one clip of Sprites-MOT.

    Parameters
    ----------
    options : VideoOptions
        With ``stream`` ``torch-seed-0`` clips do not depend on the root seed and the split, and
        the first 1,000 are the authors' test set.
    root_seed, split, index : int, str, int
        The clip's name.

    Returns
    -------
    Clip
        Objects in the order in which they appear, those behind first; each has a label of its
        own, also where two follow one another in a slot.
    """
    if options.stream == "torch-seed-0":
        frames = _authors_stream().clip(index)
    else:
        rng = seeds.stream(root_seed, split, "video.sprites_mot", index)
        delays = rng.integers(_LATEST_START, size=SLOTS).tolist()
        run = _Run(_PhiloxUniforms(rng), delays)
        run.frames(_BURN_IN_FRAMES)
        frames = run.frames(options.frames)
    return Clip(
        split=split,
        index=index,
        root_seed=root_seed,
        family=options.family,
        sprites=tuple(_sprites(frames, options.height)),
        background=(0, 0, 0),
        background_texture=None,
        background_step=(0, 0),
        scenario={},
        left_out=(),
    )


def _sprites(frames: Sequence[Frame], height: int) -> Iterator[Sprite]:
    """Yield a sprite for each object that is seen, by the frame of its first appearance."""
    movers: dict[Mover, None] = {}
    for frame in frames:
        movers.update(dict.fromkeys(mover for mover, _ in frame))
    ranks = {mover: sorted(movers, key=lambda m: m.slot).index(mover) for mover in movers}
    for mover in movers:
        steps = [dict(frame).get(mover) for frame in frames]
        yield Sprite(
            shape=SHAPES[mover.shape],
            scale=(mover.scale,) * len(frames),
            orientation=(0.0,) * len(frames),
            color=(COLORS[mover.color],) * len(frames),
            position=tuple(None if step is None else _place(mover, step, height) for step in steps),
            order=(ranks[mover],) * len(frames),
            size_px=mover.size_px,
        )


def _place(mover: Mover, step: int, height: int) -> Point:
    """Return the centre of an object's box in the stored picture."""
    x, y = mover.pixel(step)
    box_height, box_width = mover.size_px
    left, top = math.floor(x - (box_width - 1) / 2), math.floor(y - (box_height - 1) / 2)
    return to_stored(left + box_width / 2, height), to_stored(top + box_height / 2, height)


def to_stored(canvas: float, side: int) -> float:
    """Return a coordinate on the canvas in the stored picture, which may keep even pixels alone.

    The centre of canvas pixel 2 i, at 2 i + 0.5, is the centre of stored pixel i, at i + 0.5.
    """
    keep = CANVAS_PX // side
    return (canvas - 0.5) / keep + 0.5


def to_canvas(stored: float, side: int) -> float:
    """Undo :func:`to_stored`."""
    return (stored - 0.5) * (CANVAS_PX // side) + 0.5

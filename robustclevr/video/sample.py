"""The clip sampler: options and a clip's name in, a Clip out."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from robustclevr import seeds
from robustclevr.errors import SamplingError
from robustclevr.records import Clip, Sprite, Texture, VideoOptions
from robustclevr.video.options import unit_of
from robustclevr.video.scenarios import SCENARIOS, Draft
from robustclevr.video.shapes import AREAS_PX, ORIENTATIONS, SCALES, SHAPES
from robustclevr.video.sprites_mot import sample_sprites_mot
from robustclevr.video.textures import Chosen, choose_textures, crop_side
from robustclevr.video.trajectories import DECIMALS, Constraints, draw_paths

_DRAWS_PER_SPRITE = 8  # shape, scale, orientation, 3 of color, 2 of place
_ANGLE_DECIMALS = 6
_LEVELS = 256

DIRECTIONS = ((0, -1), (0, 1), (-1, 0), (1, 0), (1, -1), (-1, -1), (1, 1), (-1, 1))
"""Steps (x, y) of a textured background: up, down, left, right and the diagonals. [px]"""


def sample_clip(options: VideoOptions, *, root_seed: int, split: str, index: int) -> Clip:
    """Sample one clip.

    Parameters
    ----------
    options : VideoOptions
        As :func:`robustclevr.video.resolve` returns them.
    root_seed, split, index : int, str, int
        The clip's name; beside it the clip depends on the options alone, and with a folder of
        textures on its pictures.

    Returns
    -------
    Clip

    Raises
    ------
    SamplingError
        If no trajectory in ``options.tries`` stays within its bounds, or no picture can be
        used; names the clip and says what to relax.
    """
    if options.family == "spmot":
        return sample_sprites_mot(options, root_seed=root_seed, split=split, index=index)

    def rng(stage: str) -> np.random.Generator:
        return seeds.stream(root_seed, split, f"video.{stage}", index)

    count = _count(options, root_seed=root_seed, split=split, index=index)
    draft = _draft(options, count, rng("sprites"))
    drawn = {
        name: SCENARIOS[name].apply(draft, values, rng(f"scenario.{name}"))
        for name, values in options.scenarios.items()
    }
    try:
        positions = _positions(options, draft, rng("paths"))
        chosen = _textures(options, draft, rng) if options.family == "texvmds" else Chosen((), ())
    except SamplingError as error:
        place = f"clip {index} of split {split!r} (root seed {root_seed})"
        raise SamplingError(f"{place}: {error}") from None
    textured = bool(chosen.textures)
    step = DIRECTIONS[int(rng("background").integers(len(DIRECTIONS)))] if textured else (0, 0)
    return Clip(
        split=split,
        index=index,
        root_seed=root_seed,
        family=options.family,
        sprites=_sprites(draft, positions, chosen.textures[1:]),
        background=_rgb(draft.background),
        background_texture=chosen.textures[0] if textured else None,
        background_step=step,
        scenario=drawn,
        left_out=chosen.left_out,
    )


def _count(options: VideoOptions, *, root_seed: int, split: str, index: int) -> int:
    """Return the number of sprites; balanced: each once in every run of as many clips."""
    low, high = options.sprites
    choices = high - low + 1
    if options.counts == "uniform":
        return low + int(seeds.stream(root_seed, split, "video.count", index).integers(choices))
    run, place = divmod(index, choices)
    order = seeds.stream(root_seed, split, "video.count", run).permutation(choices)
    return low + int(order[place])


def _draft(options: VideoOptions, count: int, rng: np.random.Generator) -> Draft:
    """Draw what plain VMDS draws; sprite i does not depend on ``count``."""
    background = np.floor(_LEVELS * rng.random(3))
    uniforms = rng.random((count, _DRAWS_PER_SPRITE))
    frames = options.frames
    scale = _picked(SCALES, uniforms[:, 1])
    orientation = _picked(ORIENTATIONS, uniforms[:, 2])
    color = np.floor(_LEVELS * uniforms[:, 3:6])
    size = np.array([options.width, options.height], dtype=np.float64)
    low = np.full(2, options.margin_px)
    high = size - options.margin_px
    start = np.round(low + (high - low) * uniforms[:, 6:8], DECIMALS)
    return Draft(
        shape=[SHAPES[int(u * len(SHAPES))] for u in uniforms[:, 0].tolist()],
        scale=np.repeat(scale[:, np.newaxis], frames, axis=1),
        orientation=np.repeat(orientation[:, np.newaxis], frames, axis=1),
        color=np.repeat(color[:, np.newaxis], frames, axis=1),
        background=background,
        frame=np.zeros((count, 2), np.int64),
        value=start,
        low=np.broadcast_to(low[:, np.newaxis], (count, 2, frames)).copy(),
        high=np.broadcast_to(high[:, np.newaxis], (count, 2, frames)).copy(),
        size=(options.width, options.height),
        unit=unit_of(options),
        free=list(range(count)),
    )


def _picked(items: tuple[float, ...], u: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array(items)[(u * len(items)).astype(np.int64)]


def _positions(
    options: VideoOptions, draft: Draft, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return shape (N, T, 2)."""
    coordinates = 2 * draft.count
    paths = draw_paths(
        rng,
        Constraints(
            frame=draft.frame.reshape(coordinates),
            value=draft.value.reshape(coordinates),
            low=draft.low.reshape(coordinates, options.frames),
            high=draft.high.reshape(coordinates, options.frames),
        ),
        tau_frames=options.tau_frames,
        sigma_px=options.sigma_px,
        tries=options.tries,
    )
    return paths.reshape(draft.count, 2, options.frames).transpose(0, 2, 1)


def _textures(
    options: VideoOptions, draft: Draft, rng: Callable[[str], np.random.Generator]
) -> Chosen:
    """Choose the background's texture and then one for each sprite."""
    background = max(options.height, options.width) + options.frames - 1
    sides = [background]
    sides += [crop_side(shape, draft.unit) for shape in draft.shape]
    return choose_textures(options.textures, sides, rng("textures"))


def _orders(draft: Draft) -> NDArray[np.int64]:
    """Return the rank in depth of each sprite in each frame, shape (T, N).

    Larger scales are in front; of equal ones the shape of larger area; of equal shapes the
    sprite of the lower number.
    """
    areas = np.array([AREAS_PX[shape] for shape in draft.shape])
    number = np.arange(draft.count)
    ranks = np.empty((draft.frames, draft.count), np.int64)
    for t in range(draft.frames):
        behind_first = np.lexsort((-number, areas, draft.scale[:, t]))
        ranks[t, behind_first] = number
    return ranks


def _sprites(
    draft: Draft, positions: NDArray[np.float64], textures: tuple[Texture, ...]
) -> tuple[Sprite, ...]:
    ranks = _orders(draft).T.tolist()
    scales = draft.scale.tolist()
    angles = np.round(draft.orientation, _ANGLE_DECIMALS).tolist()
    colors = draft.color.astype(np.int64).tolist()
    places = positions.tolist()
    return tuple(
        Sprite(
            shape=draft.shape[i],
            scale=tuple(scales[i]),
            orientation=tuple(angles[i]),
            color=() if textures else tuple(map(tuple, colors[i])),
            position=tuple(map(tuple, places[i])),
            order=tuple(ranks[i]),
            texture=textures[i] if textures else None,
        )
        for i in range(draft.count)
    )


def _rgb(color: NDArray[np.float64]) -> tuple[int, int, int]:
    red, green, blue = (math.floor(level) for level in color)
    return red, green, blue

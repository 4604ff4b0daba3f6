"""A clip of moving sprites: what is where in which frame, and the pixels made from it.

Pixel space: origin at the top left corner of the picture, x right, y down, pixel centres at
+0.5, so a 64 pixels wide picture spans x from 0 to 64.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
Rgb = tuple[int, int, int]


@dataclass(frozen=True)
class VideoOptions:
    """``video:`` and ``scenario:`` of a split with everything resolved.

    Attributes
    ----------
    family : str
        ``vmds``, ``texvmds`` or ``spmot``.
    frames, height, width : int
        Size of a clip. [1, px, px]
    sprites : pair of int
        Least and most number of sprites.
    counts : str
        ``balanced``: each number of sprites once in every run of as many clips; ``uniform``.
    edges : str
        ``coverage``, ``bilinear``, ``cubic`` or ``hard``.
    mask_threshold : float
        A sprite's mask holds the pixels whose alpha is greater. [0, 1)
    tau_frames : float
        Time constant of the trajectories. [frame]
    sigma_px : float
        Standard deviation of the Gaussian process behind them. [px]
    margin_px : float
        Centroids stay this far from the border. [px]
    tries : int
        Bound on the candidates of one coordinate of one trajectory.
    dsprites : str or None
        File of the dSprites dataset; None for the closed forms.
    textures : str or None
        Folder of pictures; None for procedural textures. Read by ``texvmds`` alone.
    scenarios : mapping of str to mapping of str to tuple of float
        Options of each scenario by its name, in the order in which they are applied.
    stream : str
        ``own`` or, for ``spmot``, ``torch-seed-0``.
    sampling : str
        For ``spmot`` at 64x64: which pixels of its 128x128 canvas are kept, ``aligned`` or
        ``odd-even``.
    """

    family: str
    frames: int
    height: int
    width: int
    sprites: tuple[int, int]
    counts: str
    edges: str
    mask_threshold: float
    tau_frames: float
    sigma_px: float
    margin_px: float
    tries: int
    dsprites: str | None
    textures: str | None
    scenarios: Mapping[str, Mapping[str, tuple[float, ...]]]
    stream: str
    sampling: str


@dataclass(frozen=True)
class Texture:
    """A rectangle of a picture.

    Attributes
    ----------
    picture : str or None
        Path below the folder of textures, ``/`` between its parts; None for a procedural one.
    seed : int
        Of a procedural texture; 0 for a picture.
    zoom : float
        Factor by which the picture is enlarged before it is cropped.
    top, left : int
        Corner of the crop in the enlarged picture. [px]
    """

    picture: str | None
    seed: int
    zoom: float
    top: int
    left: int


@dataclass(frozen=True)
class Sprite:
    """One moving thing; every tuple has one element a frame.

    Attributes
    ----------
    shape : str
        ``square``, ``ellipse`` or ``heart``; Sprites-MOT: ``disc``, ``rectangle``,
        ``triangle`` or ``diamond``.
    scale : tuple of float
        dSprites' scale, [0.5, 1]; Sprites-MOT's, [0.9, 1.1].
    orientation : tuple of float
        Counter-clockwise on the screen, not wrapped: a sprite that turns may leave [0, 2 pi).
        [rad]
    color : tuple of 3 ints
        sRGB, [0, 255]. Empty for a textured sprite.
    position : tuple of (x, y) or None
        Area centroid; Sprites-MOT: centre of the box. None where the sprite does not exist. [px]
    order : tuple of int
        Rank in depth: 0 is rearmost, the largest is in front of all others.
    texture : Texture or None
    size_px : pair of int or None
        Sprites-MOT: height and width on its 128x128 canvas. [px]
    """

    shape: str
    scale: tuple[float, ...]
    orientation: tuple[float, ...]
    color: tuple[Rgb, ...]
    position: tuple[Point | None, ...]
    order: tuple[int, ...]
    texture: Texture | None = None
    size_px: tuple[int, int] | None = None


@dataclass(frozen=True)
class Clip:
    """Everything that is seen in one clip, before any corruption.

    Attributes
    ----------
    split, index, root_seed : str, int, int
        The clip's name.
    family : str
    sprites : tuple of Sprite
        Label i of the masks is element i - 1.
    background : 3 ints
        sRGB, [0, 255]; not seen behind a textured background.
    background_texture : Texture or None
    background_step : pair of int
        How the background's content moves from frame to frame, (x, y). [px]
    scenario : mapping of str to mapping of str to tuple of float
        What each scenario drew, by its name; one value a sprite where it concerns all.
    left_out : tuple of str
        Pictures that were drawn for this clip and could not be used.
    """

    split: str
    index: int
    root_seed: int
    family: str
    sprites: tuple[Sprite, ...]
    background: Rgb
    background_texture: Texture | None
    background_step: tuple[int, int]
    scenario: Mapping[str, Mapping[str, tuple[float, ...]]]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class RenderedClip:
    """The pixels of one clip of T frames and N sprites.

    Attributes
    ----------
    video : ndarray of uint8, shape (T, H, W, 3)
        sRGB.
    masks : ndarray of uint8, shape (T, H, W)
        0 background, i = sprite i (element i - 1).
    amodal : ndarray of bool, shape (T, N, H, W)
        Each sprite as if it stood alone.
    visibility : ndarray of float64, shape (T, N)
        Pixels in ``masks`` over pixels in ``amodal``; 0 where a sprite has none.
    background : ndarray of uint8, shape (T, H, W, 3)
        The video without its sprites.
    flow : ndarray of float16, shape (T - 1, H, W, 2), or None
        (x, y) by which the point seen at a pixel of frame t moves until frame t + 1, NaN where
        it then exists no more. [px]
    """

    video: NDArray[np.uint8]
    masks: NDArray[np.uint8]
    amodal: NDArray[np.bool_]
    visibility: NDArray[np.float64]
    background: NDArray[np.uint8]
    flow: NDArray[np.float16] | None

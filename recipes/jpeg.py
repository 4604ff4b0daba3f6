"""JPEG: the finished image is compressed with loss, and decoded again.

It acts on the 8-bit image, after every other recipe whatever the DAG's order says, as a file
format does. Qualities need not be whole: the quantization steps follow the rule of the
Independent JPEG Group between its whole qualities too, so severity is continuous. Even quality 100
is not the image itself: it halves the resolution of color, and rounds. So from 99 up the result is
blended with the image, and at 100 nothing of JPEG is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robustclevr.recipe import Parameter, Recipe

if TYPE_CHECKING:
    from robustclevr.imaging.encoded import EncodedContext

FADES_FROM = 99.0
"""Quality above which JPEG's result is blended with the image. Chosen: the last whole one."""

RECIPE = Recipe(
    id="jpeg",
    summary="JPEG compression: blocks, ringing at edges, smeared color",
    stage="encoded",
    geometry="keeps",
    parameters=(
        Parameter(
            name="quality",
            clean=100.0,
            worst=5.0,
            low=1.0,
            high=100.0,
            source="worst: chosen, below ImageNet-C's lowest, 7 (Hendrycks and Dietterich 2019); "
            "low and high: the scale of the Independent JPEG Group",
            summary="100 loses least; need not be whole",
        ),
        Parameter(
            name="halve_color",
            role="nuisance",
            clean=True,
            source="default of libjpeg: color at half the resolution, 4:2:0",
            summary="store color at half the resolution",
        ),
    ),
)


def build(context: EncodedContext) -> NDArray[np.uint8]:
    """Encode and decode."""
    quality = context.number("quality")
    lossy = context.jpeg(quality, halve=bool(context.parameters["halve_color"]))
    if quality <= FADES_FROM:
        return lossy
    share = (100.0 - quality) / (100.0 - FADES_FROM)
    blend = context.image + share * (lossy.astype(np.float64) - context.image)
    return np.floor(blend + 0.5).astype(np.uint8)

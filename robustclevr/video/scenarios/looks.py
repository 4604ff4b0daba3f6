"""Scenarios that fix how sprites look: small, large, low_contrast, same_color."""

from __future__ import annotations

import numpy as np

from robustclevr.video.scenarios.draft import Draft, Option, Scenario, Values
from robustclevr.video.shapes import SCALES

_Drawn = dict[str, tuple[float, ...]]


def _small(draft: Draft, _options: Values, _rng: np.random.Generator) -> _Drawn:
    draft.scale[:] = SCALES[0]
    return {}


def _large(draft: Draft, _options: Values, _rng: np.random.Generator) -> _Drawn:
    draft.scale[:] = SCALES[-1]
    return {}


def _low_contrast(draft: Draft, options: Values, rng: np.random.Generator) -> _Drawn:
    """Draw a distance and a direction; a channel that would leave the cube is mirrored."""
    least, most = options["distance"]
    drawn = []
    for sprite in range(draft.count):
        direction = rng.standard_normal(3)
        distance = least + (most - least) * float(rng.random())
        length = np.sqrt((direction * direction).sum())
        offset = direction * (distance / length)
        color = draft.background + offset
        outside = (color < 0.0) | (color > 255.0)
        color = np.rint(np.where(outside, draft.background - offset, color))
        draft.color[sprite] = color
        drawn.append(float(np.sqrt(((color - draft.background) ** 2).sum())))
    return {"distance": tuple(drawn)}


def _same_color(draft: Draft, _options: Values, _rng: np.random.Generator) -> _Drawn:
    draft.color[:] = draft.color[0]
    return {}


SMALL = Scenario(
    summary="all sprites have dSprites' smallest scale (Weis et al., B.1.1)",
    apply=_small,
    sets=frozenset({"scale"}),
)

LARGE = Scenario(
    summary="all sprites have dSprites' largest scale (Weis et al., B.1.1)",
    apply=_large,
    sets=frozenset({"scale"}),
)

LOW_CONTRAST = Scenario(
    summary="sprites are colored nearly as the background, which all models of Weis et al. miss",
    apply=_low_contrast,
    options={
        "distance": Option(
            default=(16.0, 48.0),
            least=1.0,
            most=127.0,
            meaning="Euclidean distance of each sprite's color from the background's. [sRGB "
            "levels] Chosen: seen by eye, and a tenth of what random colors have.",
        )
    },
    sets=frozenset({"color"}),
    needs_colors=True,
)

SAME_COLOR = Scenario(
    summary="all sprites share one color, also where it changes (Weis et al., B.1.1)",
    apply=_same_color,
    least_sprites=2,
    needs_colors=True,
)

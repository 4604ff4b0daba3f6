"""Scenarios in which sprites change while they move: rotation, color, size."""

from __future__ import annotations

import colorsys
import math

import numpy as np

from robustclevr.video.scenarios.draft import Draft, Option, Scenario, Values, floats
from robustclevr.video.shapes import SCALES

_Drawn = dict[str, tuple[float, ...]]


def _signed_steps(rng: np.random.Generator, count: int, bounds: tuple[float, ...]) -> list[float]:
    """Return a size within bounds and a random sign for each sprite."""
    least, most = bounds
    uniforms = rng.random((count, 2)).tolist()
    return [(least + (most - least) * u) * (1 if sign < 0.5 else -1) for u, sign in uniforms]


def _rotation(draft: Draft, options: Values, rng: np.random.Generator) -> _Drawn:
    steps = _signed_steps(rng, draft.count, options["step_deg"])
    turned = np.array([math.radians(step) for step in steps])[:, np.newaxis]
    draft.orientation[:] = draft.orientation[:, :1] + turned * np.arange(draft.frames)
    return {"step_deg": tuple(steps)}


def _color(draft: Draft, options: Values, rng: np.random.Generator) -> _Drawn:
    steps = _signed_steps(rng, draft.count, options["step_deg"])
    uniforms = rng.random((draft.count, 3)).tolist()
    hues, saturations, values = [], [], []
    for sprite, (u_hue, u_saturation, u_value) in enumerate(uniforms):
        saturation = _between(options["saturation"], u_saturation)
        value = _between(options["value"], u_value)
        for t in range(draft.frames):
            hue = u_hue + t * steps[sprite] / 360.0
            rgb = colorsys.hsv_to_rgb(hue % 1.0, saturation, value)
            draft.color[sprite, t] = [math.floor(255.0 * channel + 0.5) for channel in rgb]
        hues.append(360.0 * u_hue)
        saturations.append(saturation)
        values.append(value)
    return {
        "step_deg": tuple(steps),
        "hue_deg": tuple(hues),
        "saturation": tuple(saturations),
        "value": tuple(values),
    }


def _between(bounds: tuple[float, ...], u: float) -> float:
    return bounds[0] + (bounds[1] - bounds[0]) * u


def _size(draft: Draft, _options: Values, rng: np.random.Generator) -> _Drawn:
    """Each sprite starts at an end of the scales and walks to the other, a scale a frame."""
    steps = len(SCALES) - 1
    grows = rng.random(draft.count) < 0.5
    start = rng.integers(0, draft.frames - steps, draft.count)
    for sprite in range(draft.count):
        scales = SCALES if grows[sprite] else SCALES[::-1]
        for t in range(draft.frames):
            draft.scale[sprite, t] = scales[min(max(t - int(start[sprite]), 0), steps)]
    return {"last_frame_at_start": floats(start), "grows": floats(grows.astype(np.int64))}


ROTATION = Scenario(
    summary="each sprite turns about its centroid by a constant step (Weis et al., B.1.2)",
    apply=_rotation,
    options={
        "step_deg": Option(
            default=(5.0, 40.0),
            least=0.0,
            most=180.0,
            meaning="Least and most turn from frame to frame, either way. [degree] The paper's.",
        )
    },
    sets=frozenset({"orientation"}),
)

COLOR = Scenario(
    summary="each sprite's hue moves by a constant step, saturation and value stay (B.1.2)",
    apply=_color,
    options={
        "step_deg": Option(
            default=(5.0, 36.0),
            least=0.0,
            most=180.0,
            meaning="Least and most move of the hue from frame to frame, either way. [degree] "
            "Chosen, the paper gives no range: seen as gradual, and no hue returns in 10 frames.",
        ),
        "saturation": Option(
            default=(0.5, 1.0),
            least=0.0,
            most=1.0,
            meaning="Range of the saturation. Chosen: a gray has no hue that could change.",
        ),
        "value": Option(
            default=(0.5, 1.0),
            least=0.0,
            most=1.0,
            meaning="Range of the value. Chosen, as the saturation's.",
        ),
    },
    sets=frozenset({"color"}),
    needs_colors=True,
)

SIZE = Scenario(
    summary="each sprite grows or shrinks through all scales, from a random frame (B.1.2)",
    apply=_size,
    sets=frozenset({"scale"}),
    least_frames=len(SCALES),
)

"""Corruptions of the authors and the recipes that take their place, parameter by parameter.

Source: ndrenkow/robustclevr corruptions_compositor.py, whose defaults stand in ``unset``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from robustclevr.records import Value


@dataclass(frozen=True)
class Corruption:
    """One of the authors' functions.

    Attributes
    ----------
    recipe : str
        Id of the recipe.
    parameters : mapping of str to str
        Their parameter to the recipe's.
    unset : mapping of str to Value
        By the recipe's names: what theirs is where a file says nothing, if the recipe's clean
        value is another.
    fixed : mapping of str to tuple of Value
        Their parameters that the recipe does not have, and the values that it stands for.
    dropped : mapping of str to str
        Their parameters that have no effect here, and why.
    words : mapping of str to mapping of str to str
        Of a parameter of theirs that is a word: the recipe's words.
    inert : mapping of str to str
        Their parameters that no pixel follows, and why.
    """

    recipe: str
    parameters: Mapping[str, str]
    unset: Mapping[str, Value] = field(default_factory=dict)
    fixed: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    inert: Mapping[str, str] = field(default_factory=dict)

    def known(self) -> list[str]:
        """Return every parameter that a file may name."""
        return [*self.parameters, *self.fixed, *self.dropped]


_PLACE = {"distance": "distance", "angle": "angle", "spin": "spin", "zoom": "zoom"}
_CENTER = {"center_x": "center_x", "center_y": "center_y"}

CORRUPTIONS: Mapping[str, Corruption] = {
    "gamma": Corruption("gamma", {"gamma": "gamma"}),
    "blur": Corruption("gaussian_blur", {"size_x": "size", "size_y": "size"}, {"size": 1}),
    "defocus": Corruption(
        "defocus",
        {"z": "z", "f_stop": "f_stop"},
        {"z": 1},
        inert={"f_stop": "Blender does not read it without a z-buffer, there as here"},
    ),
    "directional_blur": Corruption(
        "motion_blur",
        {**_PLACE, **_CENTER, "iterations": "iterations"},
        # Their default is 0, which Blender raises to its least value.
        {"iterations": 1},
        dropped={"wrap": "Blender has had no such option since 3.5"},
    ),
    "lensdist": Corruption(
        "lens_distortion",
        {"distort": "distort", "dispersion": "dispersion", "fit": "fit"},
        fixed={"projector": (False,), "jitter": (False,)},
    ),
    "noise": Corruption("white_noise", {"factor": "factor"}, fixed={"blend_type": ("ADD",)}),
    "clouds": Corruption("clouds", {"factor": "factor"}, fixed={"blend_type": ("ADD",)}),
    "glare": Corruption(
        "glare",
        {
            "mix": "mix",
            "angle_offset": "angle_offset",
            "glare_type": "kind",
            "streaks": "streaks",
            "iterations": "iterations",
        },
        {"kind": "streaks", "streaks": 1},
        fixed={"color_modulation": (0, 0.0)},
        dropped={"size": "only Blender's fog glow reads it"},
        inert={"angle_offset": "Blender turns streaks, and leaves a simple star as it is"},
        words={"glare_type": {"SIMPLE_STAR": "simple_star", "STREAKS": "streaks"}},
    ),
    "displace": Corruption("displace", {"scale_x": "scale", "scale_y": "scale"}),
    "bright_contrast": Corruption("bright_contrast", {"bright": "bright", "contrast": "contrast"}),
    "pixelate": Corruption(
        "pixelate",
        {"downscale": "scale"},
        {"scale": 0.2},
        dropped={"upscale": "the image keeps its size: it is enlarged by 1 / downscale"},
    ),
}
"""By their names."""

UNFINISHED = frozenset({"rain", "snow", "vector_blur", "noise_shader"})
"""Registered in their code and not working there: wrong links, or marked as work in progress."""

OTHER_AXIS = {"size_x": "size_y", "size_y": "size_x", "scale_x": "scale_y", "scale_y": "scale_x"}
"""Pairs that are one parameter here: the recipe is the same along both axes."""

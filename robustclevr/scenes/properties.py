"""CLEVR's tables: what an object can be.

Numbers and names are those of clevr-dataset-gen, image_generation/data/properties.json and
CoGenT_A.json, CoGenT_B.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

Rgba = tuple[float, float, float, float]

SHAPES = ("cube", "sphere", "cylinder")
"""In the order of the property table."""

SIZES: Mapping[str, float] = MappingProxyType({"large": 0.7, "small": 0.35})
"""Half height of an object of each size. [m]"""

MATERIALS = ("rubber", "metal")

_RGB_BYTES = {
    "gray": (87, 87, 87),
    "red": (173, 35, 35),
    "blue": (42, 75, 215),
    "green": (29, 105, 20),
    "brown": (129, 74, 25),
    "purple": (129, 38, 192),
    "cyan": (41, 208, 208),
    "yellow": (255, 238, 51),
}


def _scene_linear(rgb: tuple[int, int, int]) -> Rgba:
    """Divide by 255 and no more: CLEVR writes that quotient into the shader's linear socket."""
    red, green, blue = rgb
    return (red / 255, green / 255, blue / 255, 1.0)


COLORS: Mapping[str, Rgba] = MappingProxyType(
    {name: _scene_linear(rgb) for name, rgb in _RGB_BYTES.items()}
)
"""Base color of each color name, scene-linear RGBA. [0, 1]"""

_ALL = tuple(COLORS)
_MUTED = ("gray", "blue", "brown", "yellow")
_VIVID = ("red", "green", "purple", "cyan")

PALETTES: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "clevr": {"cube": _ALL, "sphere": _ALL, "cylinder": _ALL},
        "cogent-a": {"cube": _MUTED, "sphere": _ALL, "cylinder": _VIVID},
        "cogent-b": {"cube": _VIVID, "sphere": _ALL, "cylinder": _MUTED},
    }
)
"""Colors that each shape can have, per palette."""

COMPATS = ("none", "clevr-v1")
"""``none``: mended rules. ``clevr-v1``: the quirks of the released data."""

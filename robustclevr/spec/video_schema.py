"""Which keys the video families have: ``video:`` and ``scenario:``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from robustclevr.errors import suggest
from robustclevr.spec.schema import Section, count_range, show, wrong

SCENARIOS = ("occlusion", "same_color", "small", "large", "rotation", "color", "size")


class VideoFile(Section):
    """``video:``; None stands for a key that is not given."""

    frames: int | None = Field(default=None, ge=1, description="Frames of a clip.")
    height: int | None = Field(default=None, ge=8, description="[px]")
    width: int | None = Field(default=None, ge=8, description="[px]")
    sprites: Annotated[list[int], AfterValidator(count_range)] | None = Field(
        default=None, description="Least and most number of sprites."
    )
    counts: Literal["balanced", "uniform"] | None = None
    edges: Literal["coverage", "bilinear", "cubic", "hard"] | None = None
    sigma_px: float | None = Field(default=None, gt=0, description="Size of the motion. [px]")
    dsprites: str | None = Field(default=None, description="File of the dSprites dataset.")
    textures: str | None = Field(
        default=None, description="Folder of pictures to fill sprites with."
    )


def _scenario(value: Any) -> dict[str, dict[str, Any]]:
    """Read a name, a list of names, or names with options, as name to options."""
    items = value if isinstance(value, list) else [value]
    found: dict[str, dict[str, Any]] = {}
    for item in items:
        named = {item: {}} if isinstance(item, str) else item
        if not isinstance(named, Mapping):
            raise wrong(f"must be a scenario or a list of them, got {show(item)}")
        for name, options in named.items():
            if name in found:
                raise wrong(f"the scenario '{name}' stands twice")
            found[name] = _options(name, options)
    return found


def _options(name: str, options: Any) -> dict[str, Any]:
    if name not in SCENARIOS:
        raise wrong(f"unknown scenario '{name}'", suggest(name, SCENARIOS))
    if not isinstance(options, Mapping):
        hint = "write {rotation: {step_deg: [5, 40]}}"
        raise wrong(f"the options of '{name}' must be a mapping, got {show(options)}", hint)
    for key, value in options.items():
        numbers = value if isinstance(value, list) else [value]
        if not all(isinstance(item, int | float | bool) for item in numbers):
            raise wrong(f"{key} of '{name}' must be a number or a list, got {show(value)}")
    return dict(options)


Scenario = Annotated[dict[str, dict[str, Any]], BeforeValidator(_scenario)]
"""Name of a scenario to its options."""

"""Which keys the video families have: ``video:`` and ``scenario:``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from robustclevr.spec.schema import Section, show, wrong


class VideoFile(Section):
    """``video:``; None stands for a key that is not given.

    Which numbers are allowed, and which go together, the video package says.
    """

    frames: int | None = Field(default=None, description="Frames of a clip.")
    height: int | None = Field(default=None, description="[px]")
    width: int | None = Field(default=None, description="[px]")
    sprites: list[int] | None = Field(default=None, description="Least and most number of sprites.")
    counts: Literal["balanced", "uniform"] | None = None
    edges: Literal["coverage", "bilinear", "cubic", "hard"] | None = None
    mask_threshold: float | None = Field(default=None, description="Of alpha, in [0, 1).")
    tau_frames: float | None = Field(default=None, description="Time constant. [frame]")
    sigma_px: float | None = Field(default=None, description="Size of the motion. [px]")
    margin_px: float | None = Field(default=None, description="Kept free of centroids. [px]")
    tries: int | None = Field(default=None, description="Bound on candidates of a trajectory.")
    dsprites: str | None = Field(default=None, description="File of the dSprites dataset.")
    textures: str | None = Field(
        default=None, description="Folder of pictures to fill sprites with."
    )
    stream: Literal["own", "torch-seed-0"] | None = Field(
        default=None, description="Of spmot alone."
    )
    sampling: Literal["aligned", "odd-even"] | None = Field(
        default=None, description="Of spmot alone."
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

"""Which keys a dataset file has."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from robustclevr.errors import suggest
from robustclevr.spec.schema import FormulaValue, Section, count_range, show, wrong
from robustclevr.spec.video_schema import Scenario, VideoFile

EVERY_NODE = "every-node"
_MAX_SIDE_PX = 65_536  # largest side of an image in Blender's render settings
_MAX_PATHS = 2**24  # largest number of samples in Cycles' settings
_MAX_SAMPLES = 10**7  # chosen: a hundred times the largest dataset of the field


def _emit(value: Any) -> Any:
    if isinstance(value, list) and EVERY_NODE in value:
        raise wrong(f"'{EVERY_NODE}' stands alone, not in a list", f"write emit: {EVERY_NODE}")
    if isinstance(value, str) and value != EVERY_NODE:
        hint = f"write [{value}]; {suggest(value, [EVERY_NODE])}, or a list"
        raise wrong(f"must be '{EVERY_NODE}' or a list, got {show(value)}", hint)
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise wrong(f"must be '{EVERY_NODE}' or a list of names, got {show(value)}")
    return _distinct(value) if isinstance(value, list) else value


def _distinct(value: list[str]) -> list[str]:
    for name in value:
        if value.count(name) > 1:
            raise wrong(f"'{name}' stands twice")
    return value


def _outputs(value: list[str]) -> list[str]:
    if "image" not in value:
        raise wrong("'image' is missing", "images are always written: put it into the list")
    return _distinct(value)


def _dag(value: Any) -> Any:
    if value is None or isinstance(value, dict) or (isinstance(value, str) and value):
        return value
    raise wrong(f"must be the name of a DAG, a path, or null, got {show(value)}")


class SceneFile(Section):
    """``scene:``; None stands for a key that is not given, here and below."""

    objects: Annotated[list[int], AfterValidator(count_range)] | None = Field(
        default=None, description="Least and most number of objects."
    )
    palette: Literal["clevr", "cogent-a", "cogent-b"] | None = None
    compat: Literal["none", "clevr-v1"] | None = Field(
        default=None, description="clevr-v1: the quirks of the released data."
    )
    variant: Literal["full", "pbg", "vbg", "grassbg", "camo", "outd"] | None = Field(
        default=None, description="CLEVRTex only."
    )
    min_pixels: int | None = Field(default=None, ge=0, description="Visible pixels at 320x240.")
    min_distance: float | None = Field(default=None, ge=0, description="[m]")
    margin: float | None = Field(default=None, ge=0, description="[m]")
    tries: int | None = Field(default=None, ge=1, description="Bound on placements of a scene.")


class RenderFile(Section):
    """``render:``."""

    height: int | None = Field(default=None, ge=16, le=_MAX_SIDE_PX, description="[px]")
    width: int | None = Field(default=None, ge=16, le=_MAX_SIDE_PX, description="[px]")
    samples: int | None = Field(default=None, ge=1, le=_MAX_PATHS, description="Paths a pixel.")
    denoise: bool | None = None


class TailFile(Section):
    """``tail:``."""

    of: str = "joint"
    below: float | None = Field(default=None, gt=0, lt=1, description="Share of the draws.")


class WorstCaseFile(Section):
    """``worst_case:``."""

    metric: Literal["ssim", "psnr"] | None = None
    over: list[str] = Field(default=[])
    budget: int | None = Field(default=None, ge=1, description="Candidates a scene.")


class Overridable(Section):
    """What may stand at the top and, overriding it, in a split."""

    dag: Annotated[Any, BeforeValidator(_dag)] = None
    emit: Annotated[Any, BeforeValidator(_emit)] = None
    scene: SceneFile = SceneFile()
    video: VideoFile = VideoFile()
    scenario: Scenario | None = None
    per: Literal["clip", "frame"] | None = Field(
        default=None, description="Clips only: one draw for all frames, or one for each."
    )
    render: RenderFile = RenderFile()
    outputs: (
        Annotated[
            list[Literal["image", "mask", "amodal", "depth", "normal", "flow", "background"]],
            AfterValidator(_outputs),
        ]
        | None
    ) = None
    shard_size: int | None = Field(default=None, ge=1, le=_MAX_SAMPLES)


class SplitFile(Overridable):
    """An entry of ``splits:``."""

    samples: int | None = Field(default=None, ge=1, le=_MAX_SAMPLES)
    shift: dict[str, Any] | None = None
    do: dict[str, Any] | None = None
    given: FormulaValue = None
    twin_of: str | None = None
    tail: TailFile | None = None
    ood: dict[str, Any] | None = None
    grid: dict[str, Any] | None = None
    worst_case: WorstCaseFile | None = None


class DatasetFile(Overridable):
    """A dataset file."""

    family: Literal["clevr", "clevrtex", "vmds", "texvmds", "spmot", "vor"] | None = None
    name: str | None = None
    summary: str = ""
    source: str = ""
    licence: str = "CC-BY-4.0"
    seed: int = Field(default=0, ge=0, lt=2**63)
    splits: dict[str, SplitFile] = Field(default={})

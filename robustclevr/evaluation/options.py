"""What is scored, and by which rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from robustclevr.errors import SpecError, suggest
from robustclevr.metrics import PRESETS, TrackingRules

METRICS: Mapping[str, str] = {
    "ari": "adjusted Rand index, precision and recall, of all pixels and of true objects",
    "miou": "mean IoU of segments under the best pairing",
    "classes": "mean IoU of shapes, and of foreground and background, beside chance",
    "mot": "tracking: MOTA, MOTP and the events they count (clips)",
    "sweep": "MOTA at IoU thresholds from 0.1 to 0.9 (clips)",
    "mse": "squared error of reconstructions (clips)",
    "detection": "average precision and recall of boxes (images)",
    "importance": "the same on the objects that captions are about (images)",
}
"""Groups of scores by name."""

OF_LABELS = ("ari", "miou", "classes", "mot", "sweep", "mse")
OF_BOXES = ("detection", "importance")
OF_CLIPS = ("mot", "sweep", "mse")
DEFAULT_OF_IMAGES = ("ari", "miou", "classes")
DEFAULT_OF_CLIPS = ("mot", "ari", "miou")

DEFAULT_PRESET = "all-frames"


@dataclass(frozen=True)
class EvaluationOptions:
    """Choices of an evaluation.

    Attributes
    ----------
    metrics : tuple of str
        Of :data:`METRICS`; empty for what fits images or clips.
    preset : str
        Rules of tracking, of :data:`robustclevr.metrics.PRESETS`.
    variants : tuple of str
        Images or clips of a sample to score; empty for all.
    allow_missing : bool
        Whether predictions may be missing; they are scored as empty.
    captions : Path or None
        COCO's captions for importance; None to make them from the records of the scenes.
    importance : float
        Objects more important than this are evaluated. [0, 1]
    bins : int
        Of severity.
    resamples : int
        Of the bootstrap.
    workers : int or None
        Processes; None for one a core.

    Raises
    ------
    SpecError
        If a name is unknown or a number out of range.
    """

    metrics: tuple[str, ...] = ()
    preset: str = DEFAULT_PRESET
    variants: tuple[str, ...] = ()
    allow_missing: bool = False
    captions: Path | None = None
    importance: float = 0.075
    bins: int = 10
    resamples: int = 1000
    workers: int | None = None

    def __post_init__(self) -> None:
        for name in self.metrics:
            if name not in METRICS:
                raise SpecError.single(f"no metric '{name}'", hint=suggest(name, METRICS))
        if self.preset not in PRESETS:
            raise SpecError.single(f"no preset '{self.preset}'", hint=suggest(self.preset, PRESETS))
        if self.bins < 1 or self.resamples < 1:
            raise SpecError.single(
                f"{self.bins} bins and {self.resamples} resamples", hint="at least 1 of each"
            )

    @property
    def rules(self) -> TrackingRules:
        """The rules of tracking."""
        return PRESETS[self.preset]

    def resolved(self, *, is_clip: bool, has_labels: bool) -> tuple[str, ...]:
        """Return the metrics to compute.

        Parameters
        ----------
        is_clip : bool
            What the samples hold.
        has_labels : bool
            Whether label maps are predicted, and not boxes alone.

        Raises
        ------
        SpecError
            If one of those asked for is not of what the samples hold.
        """
        if not self.metrics:
            labels = DEFAULT_OF_CLIPS if is_clip else DEFAULT_OF_IMAGES
            return labels if has_labels else ("detection",)
        for name in self.metrics:
            if (name in OF_CLIPS) > is_clip:
                fitting = [key for key in METRICS if key not in OF_CLIPS]
                raise SpecError.single(
                    f"'{name}' is of clips, and the dataset holds images",
                    file="--metrics",
                    hint=suggest(name, fitting),
                )
            if is_clip and name in OF_BOXES:
                fitting = [key for key in METRICS if key not in OF_BOXES]
                raise SpecError.single(
                    f"'{name}' is of images, and the dataset holds clips",
                    file="--metrics",
                    hint=suggest(name, fitting),
                )
        return tuple(name for name in METRICS if name in self.metrics)

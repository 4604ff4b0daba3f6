"""What counts in an evaluation of tracking, and the rules that are known by name.

Those called ``weis2021`` are of the video benchmark of [1]_, read from its public evaluator
(ecker-lab/object-centric-representation-benchmark, ``ocrb/eval/eval_mot.py``), which does more
than the paper's appendix A says: it looks at frames 2 to 9 alone, leaves out masks of 5 pixels or
fewer, takes away predictions of the background, pairs from an IoU of 0.5 itself, and lets an
object keep its last prediction in mind however long it was not matched. One thing is not taken
over: where the background itself has 5 pixels or fewer, the evaluator deletes an object instead.

References
----------
.. [1] M. A. Weis et al., "Benchmarking unsupervised object representations for video
   sequences", JMLR 22(183), 2021, appendix A.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from robustclevr.errors import Problem, SpecError


@dataclass(frozen=True)
class TrackingRules:
    """What counts, and as what.

    Attributes
    ----------
    start_frame, stop_frame : int
        Frames ``start_frame <= t < stop_frame`` are evaluated; no stop means to the end.
    ignored_pixels : int
        A mask, true or predicted, of this many pixels or fewer is not there. [px]
    background_iou : float, optional
        A predicted mask whose IoU with a segment of the true background is above this is no
        prediction. None: predictions of the background are false positives.
    match_iou : float
        A prediction may be paired with an object from this IoU on, in (0, 1]. (The paper says
        "exceed 0.5"; for that, give ``math.nextafter(0.5, 1)``.)
    switch_memory : int, optional
        A pairing that differs from the object's last one is an identity switch if the object
        was last seen at most this many frames ago. None: however long ago.
    coverage : float
        Share of an object's frames from which on it is mostly detected or tracked.

    Raises
    ------
    SpecError
        If a value is outside its range.
    """

    start_frame: int = 0
    stop_frame: int | None = None
    ignored_pixels: int = 0
    background_iou: float | None = None
    match_iou: float = 0.5
    switch_memory: int | None = None
    coverage: float = 0.8

    def __post_init__(self) -> None:
        allowed = {
            "start_frame": (self.start_frame >= 0, ">= 0"),
            "stop_frame": (
                self.stop_frame is None or self.stop_frame > self.start_frame,
                "above start_frame",
            ),
            "ignored_pixels": (self.ignored_pixels >= 0, ">= 0"),
            "background_iou": (
                self.background_iou is None or 0 <= self.background_iou <= 1,
                "in [0, 1]",
            ),
            "match_iou": (0 < self.match_iou <= 1, "in (0, 1]"),
            "switch_memory": (self.switch_memory is None or self.switch_memory >= 0, ">= 0"),
            "coverage": (0 < self.coverage <= 1, "in (0, 1]"),
        }
        problems = [
            Problem(f"{field.name} is {getattr(self, field.name)}", hint=allowed[field.name][1])
            for field in fields(self)
            if not allowed[field.name][0]
        ]
        if problems:
            raise SpecError(problems)


PRESETS = {
    "all-frames": TrackingRules(background_iou=0.2),
    "weis2021": TrackingRules(start_frame=2, stop_frame=10, ignored_pixels=5, background_iou=0.2),
    "weis2021-warm-start": TrackingRules(
        start_frame=10, stop_frame=20, ignored_pixels=5, background_iou=0.2
    ),
}
"""Rules by name: of [1]_ as run on all its data sets, and of its figure 2b, where models have seen
up to 10 frames before the evaluated ones. ``all-frames`` is ours: every frame and every pixel
counts, and the background is no false positive."""

"""MOTA and its relatives: the events of clips counted, added and turned into fractions.

Counts of clips add up to those of a set, so clips can be scored apart, in any order, and
resampled. Scores are taken of the sums: an object that is seen often weighs more, as in a single
accumulator over the whole set. Definitions: Weis et al., "Benchmarking unsupervised object
representations for video sequences", JMLR 22(183), 2021, appendix A, and its public evaluator.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.metrics.overlap import Overlaps, label_overlaps
from robustclevr.metrics.tracking import Event, EventKind, clip_events
from robustclevr.metrics.tracking_rules import TrackingRules

IOU_SWEEP = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The thresholds of figure 2a of Weis et al. (2021)."""


@dataclass(frozen=True)
class TrackingCounts:
    """What was counted in some clips; counts of further clips are added with ``+``.

    Attributes
    ----------
    matches, switches, misses, false_positives : int
        Events.
    iou_sum : float
        Of the pairs of matches and switches.
    tracks : int
        Objects, each counted once a clip.
    mostly_tracked : int
        Objects that were matched, without a switch of identity, in a large share of the frames
        in which they are there.
    mostly_detected : int
        Objects that were matched or switched in a large share of them.
    """

    matches: int = 0
    switches: int = 0
    misses: int = 0
    false_positives: int = 0
    iou_sum: float = 0.0
    tracks: int = 0
    mostly_tracked: int = 0
    mostly_detected: int = 0

    def __add__(self, other: TrackingCounts) -> TrackingCounts:
        return TrackingCounts(
            *(getattr(self, field.name) + getattr(other, field.name) for field in fields(self))
        )

    def scores(self) -> dict[str, float]:
        """Return the scores of the clips.

        Returns
        -------
        dict of str to float
            As fractions: ``mota`` = 1 - (misses + false positives + switches) / n, in
            (-inf, 1]; ``motp``, the mean IoU of all pairs; ``md``, ``mt``, of the objects those
            mostly detected and tracked; ``match``, ``miss``, ``ids`` (switches), ``fp``, events
            over n. n, the occurrences of objects, is matches + switches + misses. nan where
            the divisor is 0: no object, or no pair.
        """
        paired = self.matches + self.switches
        occurrences = paired + self.misses
        errors = self.misses + self.false_positives + self.switches
        return {
            "mota": 1.0 - _ratio(errors, occurrences),
            "motp": _ratio(self.iou_sum, paired),
            "md": _ratio(self.mostly_detected, self.tracks),
            "mt": _ratio(self.mostly_tracked, self.tracks),
            "match": _ratio(self.matches, occurrences),
            "miss": _ratio(self.misses, occurrences),
            "ids": _ratio(self.switches, occurrences),
            "fp": _ratio(self.false_positives, occurrences),
        }


def score_clip(
    truth: NDArray[Any],
    predicted: NDArray[Any],
    rules: TrackingRules,
    *,
    background: Sequence[int] = (0,),
) -> TrackingCounts:
    """Count the events of a clip of label maps.

    Parameters
    ----------
    truth : ndarray of int, shape (T, H, W)
        A label is one object in all frames.
    predicted : ndarray of int, shape (T, H, W)
        Likewise; 0 is no prediction. A method that also predicts the background gives it a
        label like any other; ``rules.background_iou`` takes it away.
    rules : TrackingRules
    background : sequence of int
        True labels of the background.

    Returns
    -------
    TrackingCounts

    Raises
    ------
    ValueError
        If the shapes differ, labels are no integers >= 0, or the clip ends before the first
        evaluated frame.
    """
    if truth.shape != predicted.shape:
        raise ValueError(f"true labels of shape {truth.shape}, predicted {predicted.shape}")
    frames = _evaluated(len(truth), rules)
    overlaps = label_overlaps(truth[frames], predicted[frames], background=background)
    return count_events(clip_events(overlaps, rules), rules)


def score_masks(overlaps: Overlaps, rules: TrackingRules) -> TrackingCounts:
    """Count the events of a clip of masks that may lie over each other.

    Parameters
    ----------
    overlaps : Overlaps
        Of all frames of the clip, the first included.
    rules : TrackingRules

    Returns
    -------
    TrackingCounts

    Raises
    ------
    ValueError
        If the clip ends before the first evaluated frame.
    """
    frames = _evaluated(len(overlaps.shared), rules)
    evaluated = Overlaps(*(getattr(overlaps, field.name)[frames] for field in fields(overlaps)))
    return count_events(clip_events(evaluated, rules), rules)


def count_events(events: Iterable[Event], rules: TrackingRules) -> TrackingCounts:
    """Count the events of one clip.

    Parameters
    ----------
    events : iterable of Event
    rules : TrackingRules
        Its ``coverage`` says what "mostly" is.

    Returns
    -------
    TrackingCounts
    """
    totals = [0, 0, 0, 0]
    by_object: dict[int, list[int]] = {}
    pairs = []
    for event in events:
        totals[event.kind] += 1
        if event.kind is not EventKind.FALSE_POSITIVE:
            by_object.setdefault(event.truth, [0, 0, 0])[event.kind] += 1
        if event.predicted >= 0 and event.truth >= 0:
            pairs.append(event.iou)
    lives = by_object.values()
    return TrackingCounts(
        matches=totals[EventKind.MATCH],
        switches=totals[EventKind.SWITCH],
        misses=totals[EventKind.MISS],
        false_positives=totals[EventKind.FALSE_POSITIVE],
        iou_sum=math.fsum(pairs),
        tracks=len(by_object),
        mostly_tracked=sum(life[0] / sum(life) >= rules.coverage for life in lives),
        mostly_detected=sum((life[0] + life[1]) / sum(life) >= rules.coverage for life in lives),
    )


def iou_sweep(
    clips: Sequence[Overlaps],
    rules: TrackingRules,
    thresholds: Sequence[float] = IOU_SWEEP,
) -> dict[float, TrackingCounts]:
    """Score clips at several IoU thresholds for a match.

    Parameters
    ----------
    clips : sequence of Overlaps
        Each of all frames of a clip.
    rules : TrackingRules
        All but ``match_iou``.
    thresholds : sequence of float
        In (0, 1].

    Returns
    -------
    dict of float to TrackingCounts
    """
    return {
        threshold: sum(
            (score_masks(clip, replace(rules, match_iou=threshold)) for clip in clips),
            TrackingCounts(),
        )
        for threshold in thresholds
    }


def squared_error(
    video: NDArray[np.uint8], reconstruction: NDArray[Any], rules: TrackingRules
) -> float:
    """Return the squared error of a reconstructed clip, summed over a frame, mean over frames.

    Parameters
    ----------
    video : ndarray of uint8, shape (T, H, W, C)
        [0-255]
    reconstruction : ndarray of uint8 or float, shape (T, H, W, C)
        Bytes in [0, 255], or floats in [0, 1].
    rules : TrackingRules
        Chooses the frames.

    Returns
    -------
    float
        In squared units of the full range, so that white for black in one channel of one pixel
        is 1.

    Raises
    ------
    ValueError
        If the shapes differ or the clip ends before the first evaluated frame.
    """
    if video.shape != reconstruction.shape:
        raise ValueError(f"a video of shape {video.shape}, reconstructed {reconstruction.shape}")
    frames = _evaluated(len(video), rules)
    difference = _unit_range(reconstruction[frames]) - _unit_range(video[frames])
    return float(np.sum(difference**2) / len(difference))


def _evaluated(length: int, rules: TrackingRules) -> slice:
    if length <= rules.start_frame:
        raise ValueError(
            f"a clip of {length} frames ends before the first evaluated one, {rules.start_frame}"
        )
    return slice(rules.start_frame, rules.stop_frame)


def _unit_range(images: NDArray[Any]) -> NDArray[np.float64]:
    scale = 255.0 if images.dtype == np.uint8 else 1.0
    return np.asarray(images, np.float64) / scale


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan

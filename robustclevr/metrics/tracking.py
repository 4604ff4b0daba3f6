"""Which prediction is which object, frame by frame: the CLEAR MOT events.

Overlaps of masks and the rules of an evaluation enter, events leave. Pairing is that of [1]_ as
py-motmetrics does it, on the IoU of masks.

References
----------
.. [1] K. Bernardin, R. Stiefelhagen, "Evaluating multiple object tracking performance: the
   CLEAR MOT metrics", EURASIP Journal on Image and Video Processing, 2008,
   doi:10.1155/2008/246309.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from robustclevr.metrics.overlap import FloatArray, Overlaps, iou
from robustclevr.metrics.tracking_rules import TrackingRules


class EventKind(enum.IntEnum):
    """What happened to one object or one prediction in one frame."""

    MATCH = 0
    SWITCH = 1
    MISS = 2
    FALSE_POSITIVE = 3


class Event(NamedTuple):
    """One event of the evaluation of a clip.

    Attributes
    ----------
    frame : int
        Counted from the first evaluated frame.
    kind : EventKind
    truth : int
        Index of the object, -1 for a false positive.
    predicted : int
        Index of the prediction, -1 for a miss.
    iou : float
        Of the pair, 0 without one.
    """

    frame: int
    kind: EventKind
    truth: int
    predicted: int
    iou: float


class _Frame(NamedTuple):
    """What may be paired in one frame."""

    objects: list[int]
    predictions: list[int]
    pairs: list[tuple[int, int]]  # those that reach the IoU, in the order of objects
    distances: FloatArray  # 1 - IoU, nan where it is not reached, of all objects and predictions


class _Track:
    """What an object keeps in mind."""

    __slots__ = ("partner", "seen")

    def __init__(self) -> None:
        self.partner = -1  # the prediction it was last paired with
        self.seen = -1  # the last frame in which it was there


def clip_events(overlaps: Overlaps, rules: TrackingRules) -> list[Event]:
    """Pair predictions with objects in all frames of a clip.

    In each frame, objects first keep the prediction they were last paired with, in any frame
    before, if it is there and near enough; of the rest, as many as possible are paired so that
    the sum of 1 - IoU is least. ``rules.start_frame`` and ``rules.stop_frame`` do not count
    here: they choose the frames that enter.

    Parameters
    ----------
    overlaps : Overlaps
        Of the evaluated frames.
    rules : TrackingRules

    Returns
    -------
    list of Event
        By frame: pairs kept, new pairs, misses, false positives; each in the order of objects
        or predictions.
    """
    distances, objects, predictions = _candidates(overlaps, rules)
    return match_frames(distances, objects, predictions, switch_memory=rules.switch_memory)


def match_frames(
    distances: FloatArray,
    objects: NDArray[np.bool_],
    predictions: NDArray[np.bool_],
    *,
    switch_memory: int | None = None,
) -> list[Event]:
    """Pair predictions with objects, given their distances: the accumulator of CLEAR MOT.

    Parameters
    ----------
    distances : ndarray of float64, shape (T, G, P)
        1 - IoU; nan where a pair is not allowed.
    objects : ndarray of bool, shape (T, G)
        Which objects are there.
    predictions : ndarray of bool, shape (T, P)
        Which predictions are there.
    switch_memory : int, optional
        As in :class:`TrackingRules`.

    Returns
    -------
    list of Event
        As :func:`clip_events`.
    """
    events: list[Event] = []
    tracks = [_Track() for _ in range(distances.shape[1])]
    for index, frame in enumerate(_frames(distances, objects, predictions)):
        kept = _kept_pairs(frame, tracks)
        new = _new_pairs(frame, kept)
        oldest = 0 if switch_memory is None else index - switch_memory
        _record(events, index, frame, (kept, new), tracks, oldest)
        for truth in frame.objects:
            tracks[truth].seen = index
    return events


def _candidates(
    overlaps: Overlaps, rules: TrackingRules
) -> tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return distances, objects that are there, and predictions that are there, by the rules."""
    objects = overlaps.truth_pixels > rules.ignored_pixels
    predictions = overlaps.predicted_pixels > rules.ignored_pixels
    if rules.background_iou is not None:
        seen = overlaps.background_pixels > rules.ignored_pixels
        overlap = iou(
            overlaps.background_shared, overlaps.background_pixels, overlaps.predicted_pixels
        )
        of_background = (overlap > rules.background_iou) & seen[:, :, np.newaxis]
        predictions = predictions & ~of_background.any(axis=1)
    similarity = iou(overlaps.shared, overlaps.truth_pixels, overlaps.predicted_pixels)
    allowed = objects[:, :, np.newaxis] & predictions[:, np.newaxis, :]
    allowed &= similarity >= rules.match_iou
    return np.where(allowed, 1.0 - similarity, np.nan), objects, predictions


def _frames(
    distances: FloatArray, objects: NDArray[np.bool_], predictions: NDArray[np.bool_]
) -> list[_Frame]:
    """Split arrays into frames of plain lists, which small loops read faster than arrays."""
    allowed = ~np.isnan(distances)
    pairs: list[list[tuple[int, int]]] = [[] for _ in distances]
    for frame, truth, predicted in np.argwhere(allowed).tolist():
        pairs[frame].append((truth, predicted))
    return [
        _Frame(
            [index for index, there in enumerate(objects_there) if there],
            [index for index, there in enumerate(predictions_there) if there],
            frame_pairs,
            frame_distances,
        )
        for objects_there, predictions_there, frame_pairs, frame_distances in zip(
            objects.tolist(), predictions.tolist(), pairs, distances, strict=True
        )
    ]


def _kept_pairs(frame: _Frame, tracks: Sequence[_Track]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    taken: set[int] = set()
    for truth, predicted in frame.pairs:
        if tracks[truth].partner == predicted and predicted not in taken:
            kept.append((truth, predicted))
            taken.add(predicted)
    return kept


def _new_pairs(frame: _Frame, kept: list[tuple[int, int]]) -> list[tuple[int, int]]:
    kept_objects = {truth for truth, _ in kept}
    taken = {predicted for _, predicted in kept}
    left = [pair for pair in frame.pairs if pair[0] not in kept_objects and pair[1] not in taken]
    if len({truth for truth, _ in left}) == len({predicted for _, predicted in left}) == len(left):
        return left  # nobody competes: this is the best assignment
    return _assign(frame, left)


def _assign(frame: _Frame, allowed: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pair as many as possible at the least total distance.

    All objects and predictions of the frame stand in the table, those already paired too, and
    what is not allowed costs more than any assignment: this is the table that py-motmetrics
    gives to the same solver, so that ties fall alike.
    """
    rows = {truth: row for row, truth in enumerate(frame.objects)}
    columns = {predicted: column for column, predicted in enumerate(frame.predictions)}
    costs = {pair: float(frame.distances[pair]) for pair in allowed}
    never = 2.0 * min(len(rows), len(columns)) * (max(costs.values()) + 1.0) + 1.0
    table = np.full((len(rows), len(columns)), never)
    for (truth, predicted), cost in costs.items():
        table[rows[truth], columns[predicted]] = cost
    chosen = zip(*linear_sum_assignment(table), strict=True)
    pairs = ((frame.objects[row], frame.predictions[column]) for row, column in chosen)
    return [pair for pair in pairs if pair in costs]


def _record(
    events: list[Event],
    index: int,
    frame: _Frame,
    pairs: tuple[list[tuple[int, int]], list[tuple[int, int]]],
    tracks: Sequence[_Track],
    oldest: int,
) -> None:
    """Append the events of a frame and let the paired objects keep them in mind."""
    kept, new = pairs
    for truth, predicted in (*kept, *new):
        track = tracks[truth]
        switched = track.partner not in (-1, predicted) and track.seen >= oldest
        kind = EventKind.SWITCH if switched else EventKind.MATCH
        similarity = 1.0 - float(frame.distances[truth, predicted])
        events.append(Event(index, kind, truth, predicted, similarity))
        track.partner = predicted
    paired = {truth for truth, _ in kept} | {truth for truth, _ in new}
    taken = {predicted for _, predicted in kept} | {predicted for _, predicted in new}
    events.extend(
        Event(index, EventKind.MISS, truth, -1, 0.0)
        for truth in frame.objects
        if truth not in paired
    )
    events.extend(
        Event(index, EventKind.FALSE_POSITIVE, -1, predicted, 0.0)
        for predicted in frame.predictions
        if predicted not in taken
    )

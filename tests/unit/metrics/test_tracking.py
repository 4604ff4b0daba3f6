"""The CLEAR MOT events, event for event beside py-motmetrics, and by hand."""

import math

import motmetrics
import numpy as np
import pytest

from robustclevr.errors import SpecError
from robustclevr.metrics.overlap import label_overlaps
from robustclevr.metrics.tracking import Event, EventKind, clip_events, match_frames
from robustclevr.metrics.tracking_rules import PRESETS, TrackingRules

KINDS = {
    "MATCH": EventKind.MATCH,
    "SWITCH": EventKind.SWITCH,
    "MISS": EventKind.MISS,
    "FP": EventKind.FALSE_POSITIVE,
}


def random_clip(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances on a coarse grid (ties), gaps, swaps, merges, empty frames."""
    frames, n_objects, n_predictions = (int(n) for n in rng.integers([1, 0, 0], [12, 6, 7]))
    distances = rng.integers(0, 9, (frames, n_objects, n_predictions)) / 8
    for index in range(min(n_objects, n_predictions)):
        distances[:, index, index] *= rng.integers(0, 2, frames)  # a steady partner, mostly
    if n_objects > 1 and n_predictions > 1:
        swapped = rng.integers(0, frames)
        distances[swapped:, :, [0, 1]] = distances[swapped:, :, [1, 0]]
    distances[distances > rng.choice([0.3, 0.5, 0.9])] = np.nan
    objects = rng.random((frames, n_objects)) < 0.8
    predictions = rng.random((frames, n_predictions)) < 0.8
    empty = rng.random((2, frames)) < 0.15
    objects[empty[0]] = False
    predictions[empty[1]] = False
    distances[~(objects[:, :, np.newaxis] & predictions[:, np.newaxis, :])] = np.nan
    return distances, objects, predictions


def motmetrics_events(
    clips: list[tuple[np.ndarray, np.ndarray, np.ndarray]], memory: float
) -> list[tuple[int, EventKind, int, int, float]]:
    """Frames are counted on from clip to clip, ids are a hundred a clip."""
    accumulator = motmetrics.MOTAccumulator(auto_id=True, max_switch_time=memory)
    for clip, (distances, objects, predictions) in enumerate(clips):
        for frame, table in enumerate(distances):
            rows, columns = np.flatnonzero(objects[frame]), np.flatnonzero(predictions[frame])
            ids = (100 * clip + rows, 100 * clip + columns)
            accumulator.update(*ids, table[np.ix_(rows, columns)])
    table = accumulator.mot_events.reset_index().fillna({"OId": -1, "HId": -1, "D": 1.0})
    return [
        (frame, KINDS[kind], int(truth), int(predicted), 1.0 - distance)
        for frame, kind, truth, predicted, distance in zip(
            table.FrameId, table.Type, table.OId, table.HId, table.D, strict=True
        )
        if kind in KINDS  # the others say more about an event that follows
    ]


@pytest.mark.parametrize("memory", [None, 1, 2])
def test_events_equal_motmetrics_on_random_clips(memory: int | None) -> None:
    rng = np.random.default_rng(7)
    clips = [random_clip(rng) for _ in range(300)]
    ours, past = [], 0
    for clip, arrays in enumerate(clips):
        for frame, kind, truth, predicted, similarity in match_frames(
            *arrays, switch_memory=memory
        ):
            ids = (-1 if index < 0 else 100 * clip + index for index in (truth, predicted))
            ours.append((past + frame, kind, *ids, similarity))
        past += len(arrays[0])
    assert ours == motmetrics_events(clips, math.inf if memory is None else memory)
    kinds = [event[1] for event in ours]
    assert min(kinds.count(kind) for kind in EventKind) > 50


def grid(*rows: str) -> np.ndarray:
    return np.array([[int(cell) for cell in row] for row in rows])


def events_of(truth: list[np.ndarray], predicted: list[np.ndarray], **rules: object) -> list[Event]:
    overlaps = label_overlaps(np.stack(truth), np.stack(predicted))
    return clip_events(overlaps, TrackingRules(**rules))


def test_an_object_returns_to_another_prediction_after_a_gap() -> None:
    object_there, nothing = grid("1110"), grid("0000")
    first, second = grid("5550"), grid("6660")
    truth = [object_there, object_there, nothing, object_there]
    # Missed, then gone, then found by another: a switch, as the first is not forgotten.
    found = events_of(truth, [first, nothing, nothing, second])
    assert [event.kind.name for event in found] == ["MATCH", "MISS", "SWITCH"]
    assert [event.frame for event in found] == [0, 1, 3]
    brief = events_of(truth, [first, nothing, nothing, second], switch_memory=1)
    assert [event.kind.name for event in brief] == ["MATCH", "MISS", "MATCH"]


def test_the_old_pairing_is_kept_though_another_is_nearer() -> None:
    distances = np.array([[[0.0, np.nan]], [[0.4, 0.0]]])
    events = match_frames(distances, np.ones((2, 1), bool), np.array([[True, False], [True, True]]))
    assert [(event.kind.name, event.truth, event.predicted) for event in events] == [
        ("MATCH", 0, 0),
        ("MATCH", 0, 0),
        ("FALSE_POSITIVE", -1, 1),
    ]


def test_more_pairs_beat_nearer_pairs() -> None:
    distances = np.array([[[0.0, 0.5], [0.1, np.nan]]])
    everyone = np.ones((1, 2), bool)
    events = match_frames(distances, everyone, everyone)
    assert [(event.truth, event.predicted, event.iou) for event in events] == [
        (0, 1, 0.5),
        (1, 0, 0.9),
    ]


def test_a_match_begins_at_the_threshold_itself() -> None:
    truth, half, third = grid("1111"), grid("2200"), grid("2000")
    assert events_of([truth], [half])[0] == Event(0, EventKind.MATCH, 0, 1, 0.5)
    assert [event.kind.name for event in events_of([truth], [third])] == ["MISS", "FALSE_POSITIVE"]
    assert events_of([truth], [third], match_iou=0.25)[0].kind is EventKind.MATCH


def test_masks_of_five_pixels_are_not_there() -> None:
    truth, predicted = grid("111110", "222222"), grid("330000", "444444")
    kinds = [event.kind.name for event in events_of([truth], [predicted], ignored_pixels=5)]
    assert kinds == ["MATCH"]
    kinds = [event.kind.name for event in events_of([truth], [predicted])]
    assert kinds == ["MATCH", "MISS", "FALSE_POSITIVE"]


def test_predictions_of_the_background_are_taken_away_above_the_iou() -> None:
    truth = grid("0000000001")
    exactly_a_fifth, above = grid("2200000001"), grid("2220000001")  # background of 10 and of 9
    truth_of_ten = grid("00000000001")
    at_the_bound = grid("22000000001")
    for labels, predicted, kept in (
        (truth, exactly_a_fifth, 0),  # 2 / 9 > 0.2
        (truth, above, 0),
        (truth_of_ten, at_the_bound, 1),  # 2 / 10 is not above 0.2
    ):
        kinds = [e.kind for e in events_of([labels], [predicted], background_iou=0.2)]
        assert kinds.count(EventKind.FALSE_POSITIVE) == kept
        assert kinds[0] is EventKind.MATCH
    kinds = [e.kind.name for e in events_of([truth], [above])]
    assert kinds == ["MATCH", "FALSE_POSITIVE"]


def test_several_segments_of_background_are_each_compared() -> None:
    truth, predicted = grid("0001112222"), grid("3334445550")
    overlaps = label_overlaps(truth[np.newaxis], predicted[np.newaxis], background=(0, 1))
    events = clip_events(overlaps, TrackingRules(background_iou=0.2))
    assert [(event.kind.name, event.truth, event.predicted) for event in events] == [
        ("MATCH", 0, 4)  # of labels 1 to 5 the last; object 2 is the only one
    ]


def test_the_preset_of_the_video_benchmark() -> None:
    rules = PRESETS["weis2021"]
    assert (rules.start_frame, rules.stop_frame, rules.ignored_pixels) == (2, 10, 5)
    assert (rules.background_iou, rules.match_iou, rules.coverage) == (0.2, 0.5, 0.8)
    assert rules.switch_memory is None


def test_rules_out_of_range_are_all_named() -> None:
    with pytest.raises(SpecError) as caught:
        TrackingRules(start_frame=3, stop_frame=3, match_iou=0.0, coverage=1.5, ignored_pixels=-1)
    assert str(caught.value).splitlines() == [
        "stop_frame is 3; above start_frame",
        "ignored_pixels is -1; >= 0",
        "match_iou is 0.0; in (0, 1]",
        "coverage is 1.5; in (0, 1]",
    ]

"""Scores of clips: by hand, and the whole protocol in loops around py-motmetrics."""

import math
from dataclasses import replace

import motmetrics
import numpy as np
import pytest

from robustclevr.metrics import (
    IOU_SWEEP,
    PRESETS,
    TrackingCounts,
    TrackingRules,
    iou_sweep,
    label_overlaps,
    mask_overlaps,
    score_clip,
    score_masks,
    squared_error,
)

WEIS = PRESETS["weis2021"]
NAMES = ["mota", "motp", "md", "mt", "match", "miss", "ids", "fp"]


def moving_squares(rng: np.random.Generator, frames: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Squares that move, vanish and cover each other; predictions lag, merge, swap and vanish."""
    truth = np.zeros((frames, 24, 24), np.uint8)
    predicted = np.ones_like(truth)  # label 1: the background, predicted as a segment
    for label in range(1, 5):
        names = rng.integers(1, 7, frames)
        for frame in range(frames):
            row, column = rng.integers(0, 18, 2)
            size, shift = rng.integers(1, 8), rng.integers(0, 3)
            if rng.random() < 0.85:
                truth[frame, row : row + size, column : column + size] = label
            if rng.random() < 0.85:
                name = names[frame] if rng.random() < 0.3 else label + 1
                predicted[frame, row + shift :, column:][:size, :size] = name
    return truth, predicted


def by_the_book(clips: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
    """The public evaluator's protocol on masks, with one accumulator for all clips."""
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for clip, (truth, predicted) in enumerate(clips):
        for frame in range(2, 10):
            masks, ids = [], []
            for label in [*range(1, 7), 0]:  # the background comes last
                masks.append(truth[frame] == label)
                ids.append(10 * clip + label)
            guesses = {10 * clip + label: predicted[frame] == label for label in range(1, 9)}
            rows = [(i, m) for i, m in zip(ids, masks, strict=True) if m.sum() > 5]
            columns = [(i, m) for i, m in guesses.items() if m.sum() > 5]
            similarity = np.array(
                [[(a & b).sum() / (a | b).sum() for _, b in columns] for _, a in rows]
            ).reshape(len(rows), len(columns))
            keep = similarity[-1] <= 0.2
            distances = 1.0 - similarity[:-1][:, keep]
            distances[distances > 0.5] = np.nan
            accumulator.update(
                [i for i, _ in rows[:-1]],
                [i for (i, _), kept in zip(columns, keep, strict=True) if kept],
                distances,
            )
    events = accumulator.mot_events
    events = events[events.Type.isin(["MATCH", "SWITCH", "MISS", "FP"])]
    of_kind = events.Type.value_counts()
    of_objects = events[events.Type != "FP"]
    n = len(of_objects)
    lives = [group.Type for _, group in of_objects.groupby("OId")]
    return {
        "mota": 1 - (of_kind["MISS"] + of_kind["FP"] + of_kind["SWITCH"]) / n,
        "motp": 1 - events.D.sum() / (of_kind["MATCH"] + of_kind["SWITCH"]),
        "md": np.mean([(life != "MISS").mean() >= 0.8 for life in lives]),
        "mt": np.mean([(life == "MATCH").mean() >= 0.8 for life in lives]),
        "match": of_kind["MATCH"] / n,
        "miss": of_kind["MISS"] / n,
        "ids": of_kind["SWITCH"] / n,
        "fp": of_kind["FP"] / n,
    }


def test_the_protocol_equals_one_accumulator_over_all_clips() -> None:
    rng = np.random.default_rng(3)
    clips = [moving_squares(rng) for _ in range(40)]
    total = sum((score_clip(*clip, WEIS) for clip in clips), TrackingCounts())
    expected = by_the_book(clips)
    assert total.scores() == pytest.approx(expected, abs=1e-12)
    assert 0.1 < expected["match"] < 0.9
    assert min(expected["ids"], expected["md"], expected["mt"]) > 0.01


def test_label_maps_and_masks_score_alike() -> None:
    truth, predicted = moving_squares(np.random.default_rng(5))
    overlaps = mask_overlaps(
        np.stack([truth == label for label in range(1, 5)], axis=1),
        np.stack([predicted == label for label in range(1, 8)], axis=1),
        (truth == 0)[:, np.newaxis],
    )
    for rules in (WEIS, PRESETS["all-frames"], TrackingRules()):
        assert score_masks(overlaps, rules) == score_clip(truth, predicted, rules)


def test_truth_scores_one_and_nothing_scores_nothing() -> None:
    truth, _ = moving_squares(np.random.default_rng(6))
    perfect = score_clip(truth, truth, WEIS).scores()
    assert list(perfect) == NAMES
    assert list(perfect.values()) == [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    nothing = score_clip(truth, np.zeros_like(truth), WEIS).scores()
    assert math.isnan(nothing.pop("motp"))
    assert list(nothing.values()) == [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]


def test_without_objects_there_is_no_score() -> None:
    empty = np.zeros((10, 4, 4), np.uint8)
    assert all(math.isnan(value) for value in score_clip(empty, empty, WEIS).scores().values())


def test_scores_by_hand() -> None:
    # One object of 10 frames: 7 matched, 1 switched, 2 missed; and 3 false positives.
    counts = TrackingCounts(7, 1, 2, 3, iou_sum=6.0, tracks=1, mostly_tracked=0, mostly_detected=1)
    assert list(counts.scores().values()) == pytest.approx(
        [0.4, 0.75, 1.0, 0.0, 0.7, 0.2, 0.1, 0.3]
    )
    assert (counts + counts).scores() == counts.scores()


@pytest.mark.parametrize(
    ("missed", "switched", "md", "mt"), [(1, 0, 1, 1), (0, 2, 1, 0), (2, 0, 0, 0)]
)
def test_mostly_means_seven_of_eight_frames(missed: int, switched: int, md: int, mt: int) -> None:
    truth = np.ones((10, 3, 3), np.uint8)
    predicted = np.full_like(truth, 2)
    predicted[2 : 2 + missed] = 0
    predicted[4 : 4 + 2 * switched : 2] = 3  # each visit is a switch to 3 and one back to 2
    counts = score_clip(truth, predicted, replace(WEIS, background_iou=None))
    assert (counts.mostly_detected, counts.mostly_tracked) == (md, mt)
    assert (counts.misses, counts.switches) == (missed, 2 * switched)


def test_a_sweep_loses_matches_as_the_threshold_rises() -> None:
    rng = np.random.default_rng(8)
    clips = [label_overlaps(*moving_squares(rng)) for _ in range(5)]
    sweep = iou_sweep(clips, WEIS)
    assert tuple(sweep) == IOU_SWEEP
    missed = [counts.misses for counts in sweep.values()]
    assert missed == sorted(missed)
    assert missed[0] < missed[-1]
    assert sweep[0.5] == sum((score_masks(clip, WEIS) for clip in clips), TrackingCounts())


def test_a_warm_start_looks_at_the_second_half() -> None:
    truth, predicted = moving_squares(np.random.default_rng(9), frames=20)
    warm = score_clip(truth, predicted, PRESETS["weis2021-warm-start"])
    late = score_clip(truth[10:], predicted[10:], replace(WEIS, start_frame=0))
    assert warm == late


def test_squared_error_by_hand() -> None:
    video = np.zeros((4, 2, 2, 3), np.uint8)
    video[3, 0, 0] = 255
    rules = TrackingRules(start_frame=2)
    assert squared_error(video, np.zeros_like(video), rules) == 1.5  # 3 channels, one of 2 frames
    half = np.full(video.shape, 0.5)
    assert squared_error(video, half, rules) == pytest.approx(12 * 0.25)


@pytest.mark.parametrize("frames", [1, 2])
def test_a_clip_that_ends_too_soon_is_an_error(frames: int) -> None:
    short = np.zeros((frames, 4, 4), np.uint8)
    with pytest.raises(ValueError, match=f"a clip of {frames} frames ends before .* one, 2"):
        score_clip(short, short, WEIS)


def test_shapes_that_differ_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"\(9, 4, 4\), predicted \(9, 4, 5\)"):
        score_clip(np.zeros((9, 4, 4), int), np.zeros((9, 4, 5), int), WEIS)

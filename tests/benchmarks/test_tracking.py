"""Tracking: a set of clips from label maps, and the accumulator beside py-motmetrics'.

Both run in one process on the same distances; the seconds of the whole set are for one core.
"""

import time

import motmetrics
import numpy as np

from robustclevr.metrics import PRESETS, TrackingCounts, label_overlaps, score_clip
from robustclevr.metrics.tracking import _candidates, match_frames

CLIPS, FRAMES, SIDE = 1000, 20, 64
MOST_SECONDS = 10.0
LEAST_RATIO = 2.0


def moving_squares(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Four squares a frame, predicted a little aside, now and then under another label."""
    truth = np.zeros((FRAMES, SIDE, SIDE), np.uint8)
    predicted = np.ones_like(truth)
    for frame in range(FRAMES):
        for label in range(1, 5):
            row, column = rng.integers(0, SIDE - 16, 2)
            down, right = rng.integers(0, 4, 2)
            name = label + 1 if rng.random() < 0.9 else rng.integers(2, 7)
            truth[frame, row : row + 14, column : column + 14] = label
            predicted[frame, row + down :, column + right :][:14, :14] = name
    return truth, predicted


def test_a_test_set_is_scored_in_seconds(benchmark):
    rng = np.random.default_rng(0)
    clips = [moving_squares(rng) for _ in range(CLIPS)]
    rules = PRESETS["all-frames"]

    def score():
        return sum((score_clip(*clip, rules) for clip in clips), TrackingCounts())

    counts = benchmark.pedantic(score, rounds=1, iterations=1)
    assert counts.matches + counts.switches + counts.misses > 3 * CLIPS * FRAMES
    assert benchmark.stats.stats.max <= MOST_SECONDS


def test_the_accumulator_beats_motmetrics(benchmark):
    rng = np.random.default_rng(1)
    rules = PRESETS["all-frames"]
    clips = [_candidates(label_overlaps(*moving_squares(rng)), rules) for _ in range(50)]
    events = benchmark.pedantic(
        lambda: [match_frames(*clip) for clip in clips], rounds=3, iterations=1
    )

    started = time.perf_counter()
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for number, (distances, objects, predictions) in enumerate(clips):
        for table, seen, offered in zip(distances, objects, predictions, strict=True):
            rows, columns = np.flatnonzero(seen), np.flatnonzero(offered)
            ids = (100 * number + rows, 100 * number + columns)
            accumulator.update(*ids, table[np.ix_(rows, columns)])
    theirs = time.perf_counter() - started

    ours = benchmark.stats.stats.mean
    benchmark.extra_info.update(ours_s=ours, motmetrics_s=theirs, ratio=theirs / ours)
    print(f"\naccumulator of {len(clips) * FRAMES} frames: {benchmark.extra_info}")  # noqa: T201
    assert sum(map(len, events)) > 0
    assert theirs >= LEAST_RATIO * ours

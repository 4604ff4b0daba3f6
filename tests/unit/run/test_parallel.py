"""Results in order, errors with their kind, workers that die and workers that are not needed."""

import operator
import os
import signal

import pytest

from robustclevr.errors import RobustClevrError, SpecError, StoreError
from robustclevr.metrics.tracking_rules import TrackingRules
from robustclevr.run.parallel import ordered_results
from robustclevr.store.dataset import Dataset


def test_results_come_in_the_order_of_the_tasks():
    assert list(ordered_results(operator.neg, range(50), workers=3)) == [-i for i in range(50)]


def test_one_worker_is_this_process():
    assert list(ordered_results(lambda _: os.getpid(), range(3), workers=1)) == [os.getpid()] * 3
    assert list(ordered_results(operator.neg, [], workers=4)) == []


def test_workers_are_other_processes_with_one_thread():
    values = list(ordered_results(os.getenv, ["OMP_NUM_THREADS"] * 4, workers=2))
    assert values == ["1"] * 4


def test_an_error_of_the_project_keeps_its_kind_and_text(tmp_path):
    tasks = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(StoreError, match="a: holds no dataset"):
        list(ordered_results(Dataset.open, tasks, workers=2))
    with pytest.raises(SpecError, match="start_frame is -1; >= 0") as caught:
        list(ordered_results(TrackingRules, [-1, -1], workers=2))
    assert len(caught.value.problems) == 1


def test_any_other_error_is_told_as_internal():
    with pytest.raises(RobustClevrError, match="internal error in a worker: TypeError"):
        list(ordered_results(operator.neg, ["a", "b"], workers=2))


def test_a_worker_that_dies_is_an_error():
    with pytest.raises(RobustClevrError, match="ended with exit code -9"):
        list(ordered_results(signal.raise_signal, [signal.SIGKILL] * 2, workers=2))

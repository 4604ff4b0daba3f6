"""The tasks of a run on Ray, with a stand-in for the cluster that fails as it is told."""

from collections import deque

import pytest
from ray import exceptions

from robustclevr.errors import SetupError
from robustclevr.run import ray_tasks
from robustclevr.run.generate import GenerateOptions, job_for
from robustclevr.run.job import Fatal, Notice, Outcome, SampleRetried
from robustclevr.run.leases import Lease
from robustclevr.run.node_task import Report
from robustclevr.run.prepare import dataset_content, prepare
from robustclevr.run.ray_need import Need
from robustclevr.run.ray_tasks import RayRun
from robustclevr.run.shards import shard_tasks
from robustclevr.spec import load_dataset
from robustclevr.store.layout import Layout

CLIPS = """
family: vmds
video: {frames: 2, height: 16, width: 16, sprites: [1, 2]}
shard_size: 2
splits:
  test: {samples: 5}
"""


class Cluster:
    """Runs each task at once, in this process, or gives what stands in ``failures`` instead."""

    def __init__(self):
        self.failures = deque()
        self.results, self.asked, self.cancelled = {}, [], []

    def remote(self, **options):
        self.asked.append(options)
        return lambda function: _Remote(self, function)

    def wait(self, refs, *, num_returns, timeout):
        assert num_returns == len(refs) and timeout > 0
        return list(refs), []

    def get(self, ref):
        result = self.results[ref]
        if isinstance(result, Exception):
            raise result
        return result

    def cancel(self, ref, *, force):
        self.cancelled.append((ref, force))


class _Remote:
    def __init__(self, cluster, function):
        self._cluster, self._function = cluster, function

    def remote(self, task):
        failures = self._cluster.failures
        failure = failures.popleft() if failures else None
        ref = f"ref-{len(self._cluster.results)}"
        self._cluster.results[ref] = self._function(task) if failure is None else failure
        return ref


@pytest.fixture
def job(tmp_path):
    (tmp_path / "clips.yaml").write_text(CLIPS)
    spec = load_dataset(str(tmp_path / "clips.yaml"), {})
    out = tmp_path / "out"
    job = job_for(spec, spec.splits, {}, out, GenerateOptions(device="cpu"), threads=1)
    content = dataset_content(spec, spec.splits, job.fingerprints, {})
    prepare(Layout(out), content, {}, force=False)
    return job


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setattr(ray_tasks, "_POLL_S", 0.01)
    monkeypatch.setattr(ray_tasks, "LEASED_WAIT_S", 0.05)
    monkeypatch.setattr(ray_tasks, "_VISIBLE_TIMEOUT_S", 0.05)
    return Cluster()


@pytest.fixture
def events():
    return []


@pytest.fixture
def run(cluster, job, events):
    return RayRun(cluster, Need(cpus=3, gpus=1), job, events.append)


def tars(job):
    return sorted(path.name for path in job.layout.split("test").glob("*.tar"))


def make(run, job):
    run.make(shard_tasks(job.splits), lambda: 2)


def test_every_shard_is_a_task_with_its_resources(run, cluster, job):
    make(run, job)
    assert tars(job) == ["shard-00000.tar", "shard-00001.tar", "shard-00002.tar"]
    assert cluster.asked == [{"max_retries": 0, "num_cpus": 3, "num_gpus": 1}] * 3
    assert not list(job.layout.temp.glob("*"))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (exceptions.WorkerCrashedError(), "its worker process on the node died"),
        (exceptions.NodeDiedError("gone"), "its node was lost"),
        (exceptions.LocalRayletDiedError(), "its node was lost"),
        (exceptions.OutOfMemoryError("no room"), "the node ran out of memory"),
        (exceptions.ObjectLostError("0" * 56, None, ""), "ObjectLostError"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_lost_task_is_sent_again(run, cluster, job, events, error, reason):
    cluster.failures.append(error)
    make(run, job)
    assert len(tars(job)) == 3
    (retried,) = [event for event in events if isinstance(event, SampleRetried)]
    assert reason in retried.retry.reason
    assert run.failures == []


def test_a_shard_that_is_always_lost_is_given_up_and_the_others_made(run, cluster, job):
    run.make(shard_tasks(job.splits)[1:], lambda: 1)
    cluster.failures.extend([exceptions.WorkerCrashedError()] * 4)
    run.make(shard_tasks(job.splits)[:1], lambda: 1)
    assert tars(job) == ["shard-00001.tar", "shard-00002.tar"]
    assert [str(failure) for failure in run.failures] == [
        "test/000000: its worker process on the node died (tried 4 times)"
    ]


def test_what_stops_one_node_stops_the_run(run, cluster, job):
    cluster.failures.append(Report(fatal=Fatal("SetupError", "no Blender there")))
    with pytest.raises(SetupError, match="no Blender there"):
        make(run, job)


def test_a_node_that_lacks_a_package_is_an_error_of_the_environment(run, cluster, job):
    cause = ModuleNotFoundError("No module named 'robustclevr'")
    cluster.failures.append(exceptions.RayTaskError("make_on_node", "trace", cause))
    with pytest.raises(SetupError, match="No module named 'robustclevr'; install the same"):
        make(run, job)


def test_a_shard_that_another_run_works_on_is_waited_for(run, job):
    lease = Lease.acquire("test", 1, job.layout)
    with lease:
        cluster_calls = []

        def at_once():
            cluster_calls.append(None)
            if len(cluster_calls) == 5:
                lease._path.unlink()
            return 3

        run.make(shard_tasks(job.splits), at_once)
    assert len(tars(job)) == 3


def test_workers_that_give_up_one_after_the_other_end_the_run(run, cluster, job):
    tasks = shard_tasks(job.splits)
    cluster.failures.extend(Report((Outcome(task, gave_up=True),)) for task in tasks)
    make(run, job)
    assert tars(job) == []


def test_the_folder_is_probed_on_every_node(run, cluster, job, events):
    run.probe(["a" * 56, "b" * 56])
    nodes = [options["scheduling_strategy"].node_id for options in cluster.asked]
    assert nodes == ["a" * 56, "b" * 56]
    assert not list(job.layout.temp.glob("*"))
    assert not [event for event in events if isinstance(event, Notice)]


def test_a_folder_that_is_not_shared_is_found_out_before_any_sample(run, cluster):
    cluster.failures.append(Report())  # it ran, but what it wrote is not here
    with pytest.raises(SetupError, match=r"what a node wrote to .* is not seen here"):
        run.probe(["a" * 56])


def test_cancelling_ends_what_runs(run, cluster, job):
    def at_once():
        if run._running:
            raise KeyboardInterrupt
        return 3

    cluster.wait = lambda refs, **_: ([], list(refs))
    with pytest.raises(KeyboardInterrupt):
        run.make(shard_tasks(job.splits), at_once)
    run.cancel()
    refs = ["ref-0", "ref-1", "ref-2"]
    assert cluster.cancelled == [(ref, force) for force in (False, True) for ref in refs]
    assert not list(job.layout.temp.glob("*"))

"""Tasks on other nodes: what they check, what they write, and what follows when one is lost."""

import pickle
from dataclasses import replace

import pytest

from robustclevr.errors import SetupError
from robustclevr.records import Retry
from robustclevr.run.blender_process import RendererSetup
from robustclevr.run.event_files import EventTail, EventWriter, new_event_file
from robustclevr.run.job import (
    Job,
    Notice,
    SampleDone,
    SampleFailed,
    SampleFailure,
    SampleRetried,
    SampleStarted,
    ShardDone,
    ShardOrder,
)
from robustclevr.run.local import revived
from robustclevr.run.node_task import NodeTask
from robustclevr.run.renderer_command import RendererCommand
from robustclevr.run.shards import ShardTask
from robustclevr.run.watched import MAX_LOSSES, Losses, Watched
from robustclevr.store.layout import Layout

FIRST, SECOND = ShardOrder(ShardTask("test", 0, 0, 4)), ShardOrder(ShardTask("test", 1, 4, 4))
EVENTS = [
    SampleStarted("test", 3),
    SampleDone("test", 3, 0.25, 1000, found=True),
    SampleRetried("test", Retry(3, 1, "it died"), "last lines"),
    SampleFailed(SampleFailure("test", 3, "no luck", "tail", 2)),
    ShardDone("test", 0, 4),
    Notice("ä b"),
]


@pytest.fixture
def task(tmp_path):
    (tmp_path / "dataset.json").write_text("{}")
    recipe = tmp_path / "mine.py"
    recipe.write_text("RECIPE = None\n")
    setup = RendererSetup(((str(recipe), False),), command=RendererCommand(blender="/opt/blender"))
    job = Job(tmp_path, (), {}, 0, setup)
    return NodeTask.of(job, (FIRST, SECOND), "a", wait_for_leases=False)


@pytest.fixture
def heard():
    return []


@pytest.fixture
def watched(task, heard):
    return Watched(task, heard.append)


def write(task, *events):
    writer = EventWriter(task.events)
    for event in events:
        writer(event)
    writer.close()


def test_events_come_out_as_they_went_in(task, watched, heard):
    write(task, *EVENTS)
    watched.listen()
    assert heard == EVENTS
    watched.close()
    assert heard == EVENTS
    assert not task.events.exists()


def test_half_a_line_waits_and_a_torn_one_is_left_out(tmp_path):
    path = new_event_file(Layout(tmp_path), "x")
    tail = EventTail(path)
    assert list(tail.new()) == []
    writer = EventWriter(path)
    writer(EVENTS[0])
    line = path.read_bytes().strip()
    with path.open("ab") as file:
        file.write(line[:10])
    assert list(tail.new()) == [EVENTS[0]]
    EventWriter(path)(EVENTS[4])  # another try: the first was killed as it wrote
    assert list(tail.new()) == [EVENTS[4]]


def test_a_task_can_be_sent(task):
    assert pickle.loads(pickle.dumps(task)) == task  # noqa: S301 - our own


def test_a_node_with_another_folder_says_so(task):
    (task.job.root / "dataset.json").write_text("{} ")
    report = task()
    error = revived(report.fatal)
    assert isinstance(error, SetupError)
    assert f"does not see the dataset of this run in {task.job.root}" in str(error)
    assert "--shards i/n" in str(error)


def test_a_node_with_another_version_or_recipe_says_so(task):
    older = replace(task, identity=replace(task.identity, version="0.0.1"))
    with pytest.raises(SetupError, match=r"the machine that started the run 0\.0\.1"):
        older.checked_job()
    (task.job.root / "mine.py").write_text("RECIPE = 1\n")
    with pytest.raises(SetupError, match=r"mine\.py is missing or not the recipe"):
        task.checked_job()


def test_shipped_files_are_those_of_the_node(task):
    recipes = (("/elsewhere/recipes/glare.py", True), *task.job.renderer.recipes)
    job = replace(task.job, renderer=replace(task.job.renderer, recipes=recipes))
    there = replace(task, job=job, own_blender=True)._localized().renderer
    assert there.recipes[0][0].endswith("recipes/glare.py")
    assert not there.recipes[0][0].startswith("/elsewhere")
    assert there.recipes[1:] == task.job.renderer.recipes
    assert there.command == RendererCommand()
    assert replace(task, own_blender=False)._localized().renderer.command.blender == "/opt/blender"


def test_a_lost_task_is_tried_again_from_the_sample_it_was_at(task, watched, heard):
    write(
        task,
        *(SampleStarted("test", 0), SampleDone("test", 0, 1.0, 9), ShardDone("test", 0, 4)),
        *(SampleStarted("test", 4), SampleStarted("test", 5)),
    )
    watched.close()
    heard.clear()
    losses = Losses(heard.append)
    retry = Retry(4, 1, "the node died")
    assert losses.after(watched, "the node died") == (replace(SECOND, lost=(retry,)),)
    assert heard == [SampleRetried("test", retry)]
    assert not losses.failures


def test_one_that_is_lost_after_its_last_shard_has_nothing_left(task, watched, heard):
    write(task, ShardDone("test", 0, 4), ShardDone("test", 1, 4))
    watched.close()
    assert Losses(heard.append).after(watched, "late") == ()


def test_a_sample_that_kills_each_worker_is_left_out_in_the_end(task, heard):
    losses, orders = Losses(heard.append), (FIRST,)
    for loss in range(1, MAX_LOSSES + 2):
        watched = Watched(replace(task, orders=orders), heard.append)
        write(task, SampleStarted("test", 2))
        watched.close()
        orders = losses.after(watched, "out of memory")
        assert len(orders) == 1
        assert len(losses.failures) == (loss > MAX_LOSSES)
    assert orders[0].skip == (2,)
    assert losses.failures == [SampleFailure("test", 2, "out of memory", tries=MAX_LOSSES + 1)]


def test_progress_in_between_forgives_earlier_losses(task, heard):
    losses, orders = Losses(heard.append), (FIRST,)
    for _ in range(3 * MAX_LOSSES):
        watched = Watched(replace(task, orders=orders), heard.append)
        write(task, SampleStarted("test", 1), SampleDone("test", 1, 1.0, 9))
        watched.close()
        orders = losses.after(watched, "preempted")
        assert len(orders) == 1
    assert not losses.failures


def test_a_worker_that_ends_before_any_sample_gives_its_shard_up(task, heard):
    losses, orders = Losses(heard.append), (FIRST, SECOND)
    for _ in range(MAX_LOSSES + 1):
        watched = Watched(replace(task, orders=orders), heard.append)
        watched.close()
        orders = losses.after(watched, "no log")
    assert orders == (SECOND,)
    assert [failure.index for failure in losses.failures] == [0]

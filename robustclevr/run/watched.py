"""A task on a node as the process that waits for it sees it, and what follows when it is lost.

Events of the task enter and are passed on; orders for another try leave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from robustclevr.records import Retry
from robustclevr.run.event_files import EventTail
from robustclevr.run.job import (
    Event,
    OnEvent,
    SampleDone,
    SampleFailed,
    SampleFailure,
    SampleRetried,
    SampleStarted,
    ShardDone,
    ShardOrder,
)
from robustclevr.run.node_task import NodeTask
from robustclevr.run.shards import ShardTask

MAX_LOSSES = 3
"""Losses in a row, with no sample made in between, after which a shard is not tried again as it
was. Chosen: nodes may come and go as they like, but what kills each of them ends.
"""


class Watched:
    """One task that runs elsewhere.

    Parameters
    ----------
    task : NodeTask
    on_event : callable
        Hears of what the task writes.
    """

    def __init__(self, task: NodeTask, on_event: OnEvent) -> None:
        self.task = task
        self.progress = False
        self._on_event = on_event
        self._tail = EventTail(task.events)
        self._open: dict[tuple[str, int], None] = {}  # samples that were begun, in order
        self._done: set[tuple[str, int]] = set()

    def listen(self) -> None:
        """Pass on what the task wrote since the last call."""
        for event in self._tail.new():
            self._note(event)
            self._on_event(event)

    def close(self) -> None:
        """Pass on the last events and remove their file."""
        self.listen()
        self._tail.remove()

    @property
    def left(self) -> tuple[ShardOrder, ...]:
        """Orders whose shards are not known to be done."""
        return tuple(
            order
            for order in self.task.orders
            if (order.task.split, order.task.shard) not in self._done
        )

    @property
    def sample(self) -> tuple[str, int] | None:
        """The split and index of the sample that it was at; None between samples."""
        return next(iter(self._open), None)

    def _note(self, event: Event) -> None:
        match event:
            case SampleStarted(split, index):
                self._open[split, index] = None
            case SampleDone(split, index, found=found):
                self._open.pop((split, index), None)
                self.progress = self.progress or not found
            case SampleFailed(failure):
                self._open.pop((failure.split, failure.index), None)
            case ShardDone(split, shard):
                self._done.add((split, shard))


class Losses:
    """Counts the losses of each shard, and says what is tried again.

    Parameters
    ----------
    on_event : callable
        Hears of each retry, and of what is given up.
    """

    def __init__(self, on_event: OnEvent) -> None:
        self.failures: list[SampleFailure] = []
        self._on_event = on_event
        self._in_row: Counter[ShardTask] = Counter()

    def after(self, lost: Watched, reason: str) -> tuple[ShardOrder, ...]:
        """Return the orders for another try at what a lost task left.

        Parameters
        ----------
        lost : Watched
            Its last events were heard.
        reason : str
            Why it was lost; one line.
        """
        left = lost.left
        if not left:
            return ()
        at = _order_of(lost.sample, left) or left[0]
        self._in_row[at.task] = 1 if lost.progress else self._in_row[at.task] + 1
        index = None if lost.sample is None else lost.sample[1]
        again = self._again(at, index, reason)
        rest = tuple(order for order in left if order is not at)
        return rest if again is None else (again, *rest)

    def _again(self, order: ShardOrder, index: int | None, reason: str) -> ShardOrder | None:
        task, losses = order.task, self._in_row[order.task]
        first = task.start if index is None else index
        if losses <= MAX_LOSSES:
            retry = Retry(first, losses, reason)
            self._on_event(SampleRetried(task.split, retry))
            return replace(order, lost=(*order.lost, retry))
        failure = SampleFailure(task.split, first, reason, tries=losses)
        self.failures.append(failure)
        self._on_event(SampleFailed(failure))
        if index is None:  # it ends before its first sample: the others would fare no better
            return None
        self._in_row[task] = 0
        return replace(order, skip=(*order.skip, index))


def _order_of(sample: tuple[str, int] | None, orders: Iterable[ShardOrder]) -> ShardOrder | None:
    if sample is None:
        return None
    split, index = sample
    return next((o for o in orders if o.task.split == split and index in o.task.indices), None)

"""Finished shards on their way to an object store, while the next ones are made.

Shards enter as soon as they are done; each is uploaded, its tar first and its receipt last, and
then removed here.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from types import TracebackType
from typing import Self

from robustclevr.errors import RobustClevrError
from robustclevr.run.job import Event, OnEvent, ShardDone
from robustclevr.run.object_store import ObjectStore
from robustclevr.store.layout import Layout

_STOP_TIMEOUT_S = 10.0  # chosen: an upload that takes longer is made again by the next run


class Uploads:
    """Uploads shards in a thread of its own; a context manager.

    Leaving it well waits for all uploads; leaving it by an error gives up those that wait.

    Parameters
    ----------
    store : ObjectStore
    layout : Layout
        Of the scratch folder in which shards are made.
    on_event : callable
        Hears of every event that is passed through.
    """

    def __init__(self, store: ObjectStore, layout: Layout, on_event: OnEvent) -> None:
        self.done: set[tuple[str, int]] = set()
        self._store, self._layout, self._on_event = store, layout, on_event
        self._error: RobustClevrError | None = None
        self._stopped = threading.Event()
        self._waiting: queue.SimpleQueue[tuple[str, int] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="uploads", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._stopped.set()
        self._waiting.put(None)
        self._thread.join(None if kind is None else _STOP_TIMEOUT_S)
        if kind is None:
            self._raise_error()

    def __call__(self, event: Event) -> None:
        """Pass an event on; one of a finished shard starts its upload.

        Raises
        ------
        RobustClevrError
            What an earlier upload ended with: nothing more need be made.
        """
        self._raise_error()
        if isinstance(event, ShardDone):
            self.add(event.split, event.shard)
        self._on_event(event)

    def add(self, split: str, shard: int) -> None:
        """Have a finished shard uploaded."""
        self._waiting.put((split, shard))

    def _work(self) -> None:
        while (shard := self._waiting.get()) is not None and not self._stopped.is_set():
            try:
                self._upload(*shard)
            except RobustClevrError as error:
                self._error = error
                return

    def _upload(self, split: str, shard: int) -> None:
        tar, receipt = self._layout.tar(split, shard), self._layout.receipt(split, shard)
        self._store.send(tar, f"{split}/{tar.name}")
        self._store.send(receipt, f"{split}/{receipt.name}")
        # The receipt first: a tar without one is made again, a receipt without its tar is broken.
        for path in (receipt, tar):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._layout.split(split).rmdir()
        self.done.add((split, shard))

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

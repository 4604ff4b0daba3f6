import errno
import os
import time
from pathlib import Path

import pytest

from robustclevr.errors import StoreError
from robustclevr.run import leases
from robustclevr.run.leases import EXPIRES_S, Lease, live_leases, read_lease, remove_expired_leases
from robustclevr.store.layout import Layout
from robustclevr.store.owner import Owner


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


def write(layout: Layout, owner: Owner, age_s: float = 0.0) -> Path:
    path = layout.lease("test", 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{"owner": "{owner}", "samples": 6, "seconds": 3.0}}')
    then = time.time() - age_s
    os.utime(path, (then, then))
    return path


FAR = Owner("elsewhere", 1, 1)


def test_one_of_two_gets_it_and_it_goes_when_released(layout):
    lease = Lease.acquire("test", 0, layout)
    with lease:
        assert Lease.acquire("test", 0, layout) is None
        with Lease.acquire("test", 1, layout):
            assert len(live_leases(layout)) == 2
    assert live_leases(layout) == ()
    assert Lease.acquire("test", 0, layout) is not None


def test_a_dead_owner_is_replaced_at_once(layout):
    me = Owner.current()
    write(layout, Owner(me.host, me.pid, me.started_ms - 60_000))
    assert Lease.acquire("test", 0, layout) is not None


def test_a_silent_owner_elsewhere_is_replaced_in_time(layout):
    write(layout, FAR, age_s=EXPIRES_S - 20)
    assert Lease.acquire("test", 0, layout) is None
    write(layout, FAR, age_s=EXPIRES_S + 20)
    assert Lease.acquire("test", 0, layout) is not None


def test_a_lease_being_made_is_respected(layout):
    path = write(layout, FAR)
    path.write_text("")
    assert Lease.acquire("test", 0, layout) is None


def test_a_lease_taken_over_is_not_released_by_its_former_owner(layout):
    lease = Lease.acquire("test", 0, layout)
    with lease:
        write(layout, FAR)
    assert read_lease(layout.lease("test", 0)).owner == FAR


def test_the_heartbeat_tells_what_was_done(layout, monkeypatch):
    monkeypatch.setattr(leases, "HEARTBEAT_S", 0.02)
    with Lease.acquire("test", 0, layout) as lease:
        lease.note(4, 2.0)
        deadline = time.monotonic() + 5
        while read_lease(layout.lease("test", 0)).samples != 4:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        (state,) = live_leases(layout)
    assert (state.samples, state.seconds) == (4, 2.0)


def test_sweeping_removes_only_what_expired(layout):
    path = write(layout, FAR)
    remove_expired_leases(layout)
    assert path.exists()
    write(layout, FAR, age_s=2 * EXPIRES_S)
    remove_expired_leases(layout)
    assert not path.exists()


def test_a_full_disk_leaves_no_empty_lease(layout, monkeypatch):
    def refuse(_lease: Lease) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Lease, "_content", refuse)
    with pytest.raises(StoreError, match=r"shard-00000\.lease: cannot write: No space left"):
        Lease.acquire("test", 0, layout)
    assert not layout.lease("test", 0).exists()

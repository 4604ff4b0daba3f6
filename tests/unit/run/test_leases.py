import errno
import os
import time
from pathlib import Path

import pytest

from robustclevr.errors import StoreError
from robustclevr.run import leases
from robustclevr.run.leases import (
    EXPIRES_S,
    SKEW_S,
    Lease,
    LeaseWatch,
    live_leases,
    read_lease,
    remove_expired_leases,
)
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
    longest = EXPIRES_S + SKEW_S
    write(layout, FAR, age_s=longest - 20)
    assert Lease.acquire("test", 0, layout) is None
    write(layout, FAR, age_s=longest + 20)
    assert Lease.acquire("test", 0, layout) is not None


@pytest.mark.parametrize("ahead_s", [-SKEW_S, 0.0, SKEW_S, 1e6])
def test_a_silent_owner_is_noticed_by_our_own_clock(layout, monkeypatch, ahead_s):
    now_s = 1000.0
    monkeypatch.setattr(leases.time, "monotonic", lambda: now_s)
    write(layout, FAR, age_s=-ahead_s)
    watch = LeaseWatch()
    assert Lease.acquire("test", 0, layout, watch) is None
    now_s += EXPIRES_S
    assert Lease.acquire("test", 0, layout, watch) is None
    assert Lease.acquire("test", 0, layout, LeaseWatch()) is None  # saw it for the first time
    now_s += 1
    assert Lease.acquire("test", 0, layout, watch) is not None


def test_each_heartbeat_begins_the_count_anew(layout, monkeypatch):
    now_s = 1000.0
    monkeypatch.setattr(leases.time, "monotonic", lambda: now_s)
    watch = LeaseWatch()
    for beat in range(4):
        write(layout, FAR, age_s=-beat)
        assert Lease.acquire("test", 0, layout, watch) is None
        now_s += 0.9 * EXPIRES_S


def test_a_lease_that_came_alive_meanwhile_is_put_back(layout):
    path = write(layout, FAR, age_s=2 * (EXPIRES_S + SKEW_S))
    seen = read_lease(path)
    write(layout, FAR)
    leases._set_aside(path, seen, layout)
    assert path.exists()
    leases._set_aside(path, read_lease(path), layout)
    assert not path.exists()
    assert list(layout.temp.iterdir()) == []


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
    write(layout, FAR, age_s=2 * (EXPIRES_S + SKEW_S))
    remove_expired_leases(layout)
    assert not path.exists()


def test_a_full_disk_leaves_no_empty_lease(layout, monkeypatch):
    def refuse(_lease: Lease) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Lease, "_content", refuse)
    with pytest.raises(StoreError, match=r"shard-00000\.lease: cannot write: No space left"):
        Lease.acquire("test", 0, layout)
    assert not layout.lease("test", 0).exists()

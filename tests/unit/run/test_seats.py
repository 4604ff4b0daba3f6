"""Who gets which GPU and which cores."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustclevr.records.device import Gpu
from robustclevr.run.blender_process import RendererSetup
from robustclevr.run.seats import Seat, plan_seats


def gpus(count):
    return tuple(Gpu("cuda", f"card {k}", f"CUDA_card_0000:{k:02x}:00") for k in range(count))


def test_two_gpus_are_two_processes_each_with_half_the_cores():
    first, second = gpus(2)
    seats = plan_seats(
        (first, second), range(8), workers=None, shards=100, uuids={first: "GPU-a", second: "GPU-b"}
    )
    assert seats == (
        Seat(4, first, "GPU-a", (0, 1, 2, 3)),
        Seat(4, second, "GPU-b", (4, 5, 6, 7)),
    )


def test_more_workers_take_turns_on_the_gpus_and_cores_stay_apart():
    seats = plan_seats(gpus(2), range(10), workers=5, shards=100)
    assert [seat.gpu.id[-5:-3] for seat in seats] == ["00", "01", "00", "01", "00"]
    assert [seat.cores for seat in seats] == [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]


def test_fewer_shards_than_gpus_leave_gpus_idle():
    assert len(plan_seats(gpus(8), range(8), workers=None, shards=3)) == 3
    assert len(plan_seats(gpus(8), range(8), workers=2, shards=30)) == 2


def test_a_gpu_keeps_to_the_cores_of_its_socket():
    a, b, c = gpus(3)
    near = {a: frozenset(range(8)), b: frozenset(range(8)), c: frozenset(range(8, 16))}
    seats = plan_seats((a, b, c), range(16), workers=None, shards=9, near=near)
    assert [seat.cores for seat in seats] == [
        (0, 1, 2, 3),
        (4, 5, 6, 7),
        (8, 9, 10, 11, 12, 13, 14, 15),
    ]


@pytest.mark.parametrize(
    "near",
    [{0: {0, 1, 2}, 1: {2, 3}}, {0: {0, 1}}, {0: {90}, 1: {91}}],
    ids=["overlapping", "known-of-one", "of-no-use"],
)
def test_sockets_that_do_not_part_the_cores_are_ignored(near):
    cards = gpus(2)
    seats = plan_seats(
        cards,
        range(4),
        workers=None,
        shards=9,
        near={cards[k]: frozenset(cores) for k, cores in near.items()},
    )
    assert [seat.cores for seat in seats] == [(0, 1), (2, 3)]


def test_threads_stay_within_what_a_container_may_use():
    seats = plan_seats(gpus(2), range(64), workers=None, shards=9, limit=6)
    assert [seat.threads for seat in seats] == [3, 3]
    assert [len(seat.cores) for seat in seats] == [32, 32]


@given(
    count=st.integers(1, 9),
    cores=st.sets(st.integers(0, 200), min_size=1, max_size=40),
    workers=st.none() | st.integers(1, 30),
    shards=st.integers(1, 50),
    limit=st.none() | st.integers(1, 64),
)
def test_every_plan_is_fair(count, cores, workers, shards, limit):
    cards, numbers = gpus(count), sorted(cores)
    seats = plan_seats(cards, numbers, workers=workers, shards=shards, limit=limit)
    assert len(seats) == min(workers or count, shards)
    load = [sum(seat.gpu == card for seat in seats) for card in cards]
    assert max(load) - min(load) <= 1
    for seat in seats:
        assert seat.cores and set(seat.cores) <= cores
        assert 1 <= seat.threads <= len(seat.cores)
    taken = [core for seat in seats for core in seat.cores]
    if len(seats) <= len(cores):
        assert sorted(taken) == numbers
        sizes = [len(seat.cores) for seat in seats]
        assert max(sizes) - min(sizes) <= 1
    else:
        assert {len(seat.cores) for seat in seats} == {1}
    if limit is not None and limit >= len(seats):
        assert sum(seat.threads for seat in seats) <= limit


def test_a_seat_is_what_the_renderer_is_told():
    (card,) = gpus(1)
    setup = RendererSetup((), device="auto")
    told = Seat(3, card, "GPU-a", (4, 5, 6)).setup(setup)
    assert (told.device, told.gpu, told.gpu_uuid) == ("cuda", card, "GPU-a")
    assert (told.threads, told.cores) == (3, (4, 5, 6))
    told = Seat(2).setup(setup)
    assert (told.device, told.gpu, told.threads, told.cores) == ("cpu", None, 2, ())

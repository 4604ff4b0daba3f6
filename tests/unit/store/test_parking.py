import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robustclevr.store.layout import Layout
from robustclevr.store.parking import (
    ParkedSample,
    Provenance,
    clear_parked,
    park,
    parked_indices,
    unpark,
)

SAMPLE = ParkedSample(
    index=17,
    fingerprint="f" * 64,
    provenance=Provenance({"blender": "4.5"}, "cpu", {"total": 1.5, "cycles": 1.0}, 2),
    members={"json": b"{}\n", "clean.png": bytes(range(256)), "empty": b""},
)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path)
    park(SAMPLE, "test", 0, layout)
    return layout


def fetch(layout: Layout, fingerprint: str = SAMPLE.fingerprint) -> ParkedSample | None:
    return unpark("test", 0, 17, layout, fingerprint=fingerprint)


def test_round_trip(layout: Layout) -> None:
    assert fetch(layout) == SAMPLE
    assert parked_indices("test", 0, layout) == (17,)


def test_none_where_there_is_none(layout: Layout) -> None:
    assert unpark("test", 0, 18, layout, fingerprint=SAMPLE.fingerprint) is None
    assert parked_indices("test", 1, layout) == ()


def test_a_sample_of_another_spec_does_not_count(layout: Layout) -> None:
    assert fetch(layout, "0" * 64) is None
    assert not layout.parked("test", 0, 17).exists()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_cut_or_flipped_file_is_discarded(layout: Layout, data: st.DataObject) -> None:
    park(SAMPLE, "test", 0, layout)
    path = layout.parked("test", 0, 17)
    whole = path.read_bytes()
    position = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        path.write_bytes(whole[:position])
    else:
        flipped = bytearray(whole)
        flipped[position] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(flipped)
    assert fetch(layout) is None
    assert not path.exists()


def test_clearing_leaves_no_folder(layout: Layout) -> None:
    clear_parked("test", 0, layout)
    assert not layout.parked_dir("test", 0).exists()
    clear_parked("test", 0, layout)


@pytest.mark.parametrize(("renders", "synced"), [(2, True), (0, False)])
def test_what_took_a_render_is_synced_and_a_clip_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renders: int, synced: bool
) -> None:
    calls: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (calls.append(file), fsync(file))[1])
    provenance = replace(SAMPLE.provenance, renders=renders)
    park(replace(SAMPLE, provenance=provenance), "test", 0, Layout(tmp_path))
    assert bool(calls) == synced
    assert fetch(Layout(tmp_path)) is not None

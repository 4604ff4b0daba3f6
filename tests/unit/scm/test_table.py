"""Tables as arrays, as records and as files."""

import csv
import errno
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from robustclevr.errors import SpecError, StoreError
from robustclevr.scm import SCM, files
from robustclevr.scm.table import DrawTable, concatenate

NODES = {
    "weather": {"latent": True, "noise": {"w": "Normal(0, 1)"}, "set": {"value": "w"}},
    "clouds": {
        "parents": ["weather"],
        "when": "weather.value > 0",
        "noise": {"h": "HalfNormal(0.3)"},
        "set": {"factor": "h"},
    },
    "glare": {"set": {"kind": "streaks"}},
    "lens_distortion": {"set": {"fit": True}},
}
NAMES = [
    "index",
    "weather.value",
    "weather.severity",
    "weather.active",
    "weather.log_density",
    "clouds.factor",
    "clouds.severity",
    "clouds.active",
    "clouds.log_density",
    "glare.mix",
    "glare.angle_offset",
    "glare.kind",
    "glare.severity",
    "glare.active",
    "glare.log_density",
    "lens_distortion.distort",
    "lens_distortion.dispersion",
    "lens_distortion.fit",
    "lens_distortion.severity",
    "lens_distortion.active",
    "lens_distortion.log_density",
    "log_density",
]


@pytest.fixture(scope="module")
def table(dags):
    return SCM(dags.build(NODES)).sample(200, seed=1, start=40)


def read(path):
    """Read CSV back with Python's own reader, or Parquet, as a dict of lists."""
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pydict()
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    return {name: list(cells) for name, *cells in zip(*rows, strict=True)}


def test_names_and_order(table):
    assert list(table.columns(noise=False)) == NAMES
    noisy = list(table.columns(noise=True))
    assert [name for name in noisy if name not in NAMES] == ["weather.noise.w", "clouds.noise.h"]
    assert noisy.index("clouds.noise.h") == noisy.index("clouds.log_density") - 1
    arrow = table.to_arrow(noise=True, interventions=True)
    assert arrow.column_names == [*noisy, "interventions"]
    assert table.to_arrow(noise=False, interventions=False).column_names == NAMES


def test_rows_as_records_agree_with_columns(table):
    columns = table.columns(noise=True)
    for row, draw in enumerate(table.draws()):
        assert draw == table.draw(row)
        assert draw.index == columns["index"][row] == 40 + row
        for name, node in draw.nodes.items():
            assert node.severity == columns[f"{name}.severity"][row]
            assert node.active == columns[f"{name}.active"][row]
            for key, value in node.parameters.items():
                assert value == columns[f"{name}.{key}"][row]
            for key, value in node.noise.items():
                assert value == columns[f"{name}.noise.{key}"][row]
    assert row == 199
    assert len(table) == 200


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_parts_make_the_file_of_the_whole(table, tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(files, "ROWS_TOGETHER", 64)
    whole, parts = tmp_path / f"whole{suffix}", tmp_path / f"parts{suffix}"
    table.write(whole, noise=True)
    rows = np.arange(len(table))
    files.write(
        (
            table.take(rows[first : first + 64]).to_arrow(noise=True, interventions=False)
            for first in range(0, len(table), 64)
        ),
        parts,
    )
    assert parts.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_hold_every_bit(table, tmp_path, suffix):
    path = tmp_path / f"draws{suffix}"
    table.write(path, noise=True)
    found = read(path)
    columns = table.columns(noise=True)
    assert list(found) == list(columns)
    for name, column in columns.items():
        if column.dtype == np.float64:
            np.testing.assert_array_equal([float(cell) for cell in found[name]], column)
        elif column.dtype == np.bool_:
            cells = [cell in (True, "true") for cell in found[name]]
            np.testing.assert_array_equal(cells, column)
        else:
            assert [str(cell) for cell in found[name]] == [str(value) for value in column]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_equal_tables_give_equal_bytes(dags, table, tmp_path, suffix):
    one, other = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    table.write(one, noise=True, interventions=True)
    SCM(dags.build(NODES)).sample(200, seed=1, start=40).write(
        str(other), noise=True, interventions=True
    )
    assert one.read_bytes() == other.read_bytes()


def test_interventions_column(table, tmp_path):
    changed = DrawTable(table.index, table.nodes, table.log_density, {"gamma.gamma": "2"})
    changed.write(tmp_path / "draws.parquet", interventions=True)
    cells = set(read(tmp_path / "draws.parquet")["interventions"])
    assert [json.loads(cell) for cell in cells] == [{"gamma.gamma": "2"}]
    assert changed.draw(3).interventions == {"gamma.gamma": "2"}


def test_an_empty_table(dags, tmp_path):
    SCM(dags.build(NODES)).sample(0, seed=1).write(tmp_path / "draws.csv")
    assert read(tmp_path / "draws.csv") == {name: [] for name in NAMES}


def test_unknown_suffix(table, tmp_path):
    with pytest.raises(SpecError, match=r"'\.xlsx'; the suffix may be \.csv or \.parquet"):
        table.write(tmp_path / "draws.xlsx")


def test_missing_folder(table, tmp_path):
    with pytest.raises(SpecError, match="folder does not exist"):
        table.write(tmp_path / "nowhere" / "draws.csv")


def test_a_full_disk_leaves_nothing_behind(table, tmp_path, monkeypatch):
    def full(_, path):
        path.write_bytes(b"half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setitem(files._WRITERS, ".csv", full)
    with pytest.raises(StoreError, match=r"draws\.csv: cannot be written: No space left"):
        table.write(tmp_path / "draws.csv")
    assert list(tmp_path.iterdir()) == []


def test_blocks_are_stacked_without_filling_constant_columns(dags, monkeypatch):
    from robustclevr.scm import model

    scm = SCM(dags.build(NODES))
    whole = scm.sample(200, seed=1)
    monkeypatch.setattr(model, "_BLOCK", 64)
    stacked = scm.sample(200, seed=1)
    for name, column in stacked.columns(noise=True).items():
        np.testing.assert_array_equal(column, whole.columns(noise=True)[name])
    assert stacked.nodes["glare"].parameters["mix"].strides == (0,)
    assert stacked.nodes["glare"].parameters["kind"].strides == (0,)


def test_concatenate_keeps_every_row(dags):
    """Columns that are constant in one part and not, or otherwise, in the next."""
    scm = SCM(dags.build(NODES))
    models = [
        scm.do({"glare.mix": 0.25}),
        scm.do({"glare.mix": 0.25}),
        scm,
        scm.do({"glare.mix": 1}),
    ]
    parts = [model.sample(3, seed=1, start=3 * i) for i, model in enumerate(models)]
    parts.insert(0, scm.sample(0, seed=1))
    whole = concatenate(parts)
    assert whole.index.tolist() == list(range(12))
    for name, column in whole.columns(noise=True).items():
        expected = np.concatenate([part.columns(noise=True)[name] for part in parts])
        np.testing.assert_array_equal(column, expected)
        assert not column.flags.writeable
    assert whole.nodes["glare"].parameters["mix"].tolist() == [0.25] * 6 + [-1] * 3 + [1] * 3
    rows = np.array([11, 0, 5])
    assert [draw.index for draw in whole.take(rows).draws()] == [11, 0, 5]
    assert whole.take(rows).draw(0).nodes == whole.draw(11).nodes

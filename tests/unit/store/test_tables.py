import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from robustclevr.errors import StoreError
from robustclevr.recipe import load_recipes
from robustclevr.records import to_json
from robustclevr.scm import SCM
from robustclevr.spec import load_dag
from robustclevr.store.jsonbytes import stable_json
from robustclevr.store.layout import Layout
from robustclevr.store.tables import (
    DrawColumns,
    read_index,
    scene_entry,
    write_draws,
    write_index,
    write_scenes,
)


def through_json(value):
    return json.loads(stable_json(to_json(value)))


@pytest.mark.parametrize("dag", ["tree-uniform", "tree-halfnormal", "chain-uniform"])
def test_records_give_the_table_that_the_model_draws(dag: str, tmp_path: Path) -> None:
    table = SCM(load_dag(dag, load_recipes())).sample(20, seed=3, split="test")
    columns = DrawColumns()
    for draw in table.draws():
        columns.add(through_json(draw))
    made = columns.to_arrow()
    assert made.equals(table.to_arrow(noise=True, interventions=True))
    write_draws(made, "test", Layout(tmp_path))
    assert pq.read_table(tmp_path / "test" / "draws.parquet").equals(made)


def test_a_split_without_a_dag_has_an_index_all_the_same() -> None:
    columns = DrawColumns()
    for index in (4, 5):
        columns.add({"index": index, "nodes": {}, "log_density": None, "interventions": {}})
    assert columns.to_arrow().to_pydict() == {"index": [4, 5], "interventions": ["{}", "{}"]}


def test_scenes_file_has_clevrs_form(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    records = [{"scene": {"image_index": i, "objects": []}} for i in range(3)]
    write_scenes(map(scene_entry, records), "test", "CC-BY-4.0", layout)
    read = json.loads(layout.scenes("test").read_text())
    assert set(read) == {"info", "scenes"}
    assert set(read["info"]) == {"date", "version", "split", "license"}
    assert [scene["image_index"] for scene in read["scenes"]] == [0, 1, 2]


def test_index_round_trip_removal_and_alteration(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert read_index(layout) == {}
    write_index({"test": {"b": "2", "a": "1"}}, layout)
    assert read_index(layout) == {"test": {"a": "1", "b": "2"}}
    layout.index_json.write_bytes(layout.index_json.read_bytes().replace(b'"1"', b'"3"'))
    with pytest.raises(StoreError, match="own digest"):
        read_index(layout)
    write_index({}, layout)
    assert not layout.index_json.exists()

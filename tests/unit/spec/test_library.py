from __future__ import annotations

from pathlib import Path

import pytest

from robustclevr.errors import SpecError
from robustclevr.spec import dag_text, dataset_text, list_dags, list_datasets
from robustclevr.spec.library import find_dag, find_dataset, shipped_dags_dir


def test_names_come_with_one_line() -> None:
    assert list_dags()["tree-uniform"].startswith("The paper's eight corruptions")
    assert list_datasets()["demo"].endswith(".")


def test_the_text_is_that_of_the_file() -> None:
    assert dag_text("tree-uniform") == (shipped_dags_dir() / "tree-uniform.yaml").read_text()
    assert "family: clevr" in dataset_text("demo")
    with pytest.raises(SpecError, match="did you mean 'demo'"):
        dataset_text("deno")


def test_what_counts_as_a_path(tmp_path: Path) -> None:
    assert find_dag("a/b", relative_to=tmp_path) == tmp_path / "a/b"
    assert find_dag("b.yaml", relative_to=tmp_path) == tmp_path / "b.yaml"
    assert find_dag("/x.yml", relative_to=tmp_path) == Path("/x.yml")
    assert find_dataset(Path("demo")) == Path("demo")
    assert find_dataset("demo").name == "demo.yaml"

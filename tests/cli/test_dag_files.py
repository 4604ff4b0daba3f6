"""``dag plot``, ``dag import`` and ``schema``, as a shell sees them."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image

from robustclevr.spec import list_dags

OLD = """\
dag_generation_method: CustomDAG
edge_list: [[root, G], [G, D]]
node_list:
  - {name: G, corruption_func: gamma, parameter: gamma, type: ConstantNode,
     render_value: 1.5, severity_value: 0.5}
  - {name: D, corruption_func: defocus, parameter: z, type: WeightedSumNode,
     min_val: 1, max_val: 9, extreme: 9, standard: 1, beta_a: 2, beta_b: 2,
     corruption_type: increasing, bias: true, std: 0.5, activation_type: sigmoid}
"""


@pytest.fixture
def old(tmp_path):
    file = tmp_path / "old.yaml"
    file.write_text(OLD)
    return file


def test_import_writes_a_file_that_is_valid_and_samples(robustclevr, old, tmp_path):
    new = tmp_path / "new.yaml"
    finished = robustclevr("dag", "import", old, "-o", new, "--seed", 3)
    assert (finished.code, finished.out) == (0, "")
    assert "takes it for the number" in " ".join(new.read_text().split())
    assert "seed 3" in new.read_text()
    assert robustclevr("dag", "check", new).code == 0
    table = tmp_path / "draws.parquet"
    assert robustclevr("dag", "sample", new, "-n", 50, "-o", table).code == 0
    columns = pq.read_table(table)
    assert set(columns.column("g.gamma").to_pylist()) == {1.5}
    assert len(set(columns.column("d.z").to_pylist())) == 50
    assert 1 < min(columns.column("d.z").to_pylist()) < max(columns.column("d.z").to_pylist()) < 9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("corruption_func: gamma", "corruption_func: gama"), "old.yaml:4"),
        (("[G, D]", "[G, E]"), "there is no node 'E'"),
    ],
)
def test_import_says_what_is_wrong_and_writes_nothing(robustclevr, old, tmp_path, change, words):
    old.write_text(OLD.replace(*change))
    finished = robustclevr("dag", "import", old, "-o", tmp_path / "new.yaml")
    assert finished.code == 2
    assert words in finished.err
    assert not (tmp_path / "new.yaml").exists()


def test_import_takes_yaml_names_and_never_its_own_source(robustclevr, old, tmp_path):
    assert robustclevr("dag", "import", old, "-o", tmp_path / "new.txt").code == 2
    finished = robustclevr("dag", "import", old, "-o", old)
    assert finished.code == 2
    assert old.read_text() == OLD


@pytest.mark.parametrize("name", list_dags())
def test_plot_draws_every_shipped_dag(robustclevr, tmp_path, name):
    svg = tmp_path / "dag.svg"
    assert robustclevr("dag", "plot", name, "-o", svg).code == 0
    assert name in svg.read_text()


def test_plot_writes_png_and_graphml(robustclevr, tmp_path):
    assert robustclevr("dag", "plot", "weather", "-o", tmp_path / "a.png").code == 0
    with Image.open(tmp_path / "a.png") as image:
        assert image.format == "PNG"
    assert robustclevr("dag", "plot", "weather", "-o", tmp_path / "a.graphml").code == 0
    assert "<graphml" in (tmp_path / "a.graphml").read_text()


def test_plot_draws_interventions(robustclevr, tmp_path):
    plain, changed = tmp_path / "plain.svg", tmp_path / "changed.svg"
    assert robustclevr("dag", "plot", "chain-uniform", "-o", plain).code == 0
    finished = robustclevr(
        *("dag", "plot", "chain-uniform", "-o", changed),
        *("--do", "gamma.gamma=1.5", "--shift", "clouds.h=HalfNormal(0.6)"),
    )
    assert finished.code == 0, finished.err
    assert "do(gamma = 1.5)" in changed.read_text()
    assert "h ~ HalfNormal(0.6)" in changed.read_text()
    assert "do(" not in plain.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "x.pdf"], ".svg"),
        (["-o", "x.svg", "--do", "gamma"], "write node.parameter=value"),
        (["-o", "x.svg", "--do", "gama.gamma=1"], "did you mean 'gamma'"),
        (["-o", "x.svg", "--do", "gamma.gamma=1", "--do", "gamma.gamma=2"], "twice"),
        (["-o", "x.svg", "--shift", "clouds.h=HalfNorml(1)"], "HalfNormal"),
    ],
)
def test_plot_says_what_is_wrong(robustclevr, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    finished = robustclevr("dag", "plot", "chain-uniform", *arguments)
    assert finished.code == 2
    assert words in finished.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["dag", "dataset"])
def test_schema_prints_one_json_document(robustclevr, kind):
    finished = robustclevr("schema", kind)
    assert (finished.code, finished.err) == (0, "")
    stored = Path(__file__).resolve().parents[2] / "docs" / "schema" / f"{kind}.schema.json"
    assert json.loads(finished.out) == json.loads(stored.read_text())

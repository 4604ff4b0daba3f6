"""What each command prints, without rendering."""

import json

import pyarrow.parquet as pq
import pytest

from robustclevr.cli.main import cli
from robustclevr.recipe import load_recipes
from robustclevr.spec import list_dags, list_datasets


def test_list_names_everything(robustclevr):
    finished = robustclevr("list", "--json")
    assert finished.code == 0
    listing = json.loads(finished.out)
    assert set(listing["datasets"]) == set(dict(list_datasets()))
    assert set(listing["dags"]) == set(dict(list_dags()))
    assert set(listing["recipes"]) == set(load_recipes())
    for summaries in listing.values():
        assert all(summaries.values())


@pytest.mark.parametrize("kind", ["datasets", "dags", "recipes"])
def test_list_of_one_kind_is_one_line_each(robustclevr, kind):
    everything = json.loads(robustclevr("list", kind, "--json").out)[kind]
    assert len(robustclevr("list", kind).out.splitlines()) == len(everything)


def test_show_prints_what_check_and_generate_read(robustclevr, tmp_path):
    for name in dict(list_dags()):
        file = tmp_path / f"{name}.yaml"
        file.write_text(robustclevr("show", name).out)
        assert robustclevr("dag", "check", file).code == 0
    assert "family: clevr" in robustclevr("show", "demo").out
    assert "stage image" in robustclevr("show", "glare").out


def test_recipe_list_gives_units_ranges_and_sources(robustclevr):
    documents = json.loads(robustclevr("recipe", "list", "--json").out)
    assert {document["id"] for document in documents} == set(load_recipes())
    for document in documents:
        assert document["stage"] in ("scene", "image", "encoded")
        assert document["geometry"] in ("keeps", "warps")
        for parameter in document["parameters"]:
            assert parameter["unit"] and parameter["source"]
    text = robustclevr("recipe", "list").out
    for document in documents:
        assert f"{document['id']}: {document['summary']}" in text


def test_dag_sample_writes_the_same_draws_as_csv_and_parquet(robustclevr, tmp_path):
    csv, parquet = tmp_path / "draws.csv", tmp_path / "draws.parquet"
    for file in (csv, parquet):
        finished = robustclevr(
            *("dag", "sample", "chain-uniform", "-n", 20, "--start", 5, "--seed", 3, "--noise"),
            *("-o", file),
        )
        assert finished.code == 0
    table = pq.read_table(parquet)
    assert table.num_rows == 20
    assert table.column("index").to_pylist() == list(range(5, 25))
    lines = csv.read_text().splitlines()
    assert lines[0].split(",") == table.column_names
    assert "clouds.noise.u" in table.column_names
    column = table.column_names.index("gamma.gamma")
    values = [float(line.split(",")[column]) for line in lines[1:]]
    assert values == table.column("gamma.gamma").to_pylist()


def test_dag_sample_under_interventions(robustclevr, tmp_path):
    def draw(*changes):
        file = tmp_path / "draws.parquet"
        words = ("dag", "sample", "chain-uniform", "-n", 50, "--noise", "-o", file)
        assert robustclevr(*words, *changes).code == 0
        return pq.read_table(file).to_pydict()

    plain = draw()
    held = draw("--do", "gaussian_blur.size=9")
    assert held["gaussian_blur.size"] == [9] * 50
    assert held["clouds.factor"] == plain["clouds.factor"]
    assert held["gamma.gamma"] != plain["gamma.gamma"]
    shifted = draw("--shift", "clouds.h=HalfNormal(0.6)")
    doubled = [2 * value for value in plain["clouds.noise.h"]]
    assert shifted["clouds.noise.h"] == pytest.approx(doubled)
    assert min(draw("--given", "clouds.factor > 0.2")["clouds.factor"]) > 0.2


def test_doctor_looks_at_a_blender_that_is_not_there(robustclevr, tmp_path):
    finished = robustclevr("doctor", "--blender", tmp_path / "none", "--json")
    assert finished.code == 3
    document = json.loads(finished.out)
    findings = {finding["what"]: finding for finding in document["findings"]}
    assert not document["works"]
    assert not findings["blender"]["works"]
    assert findings["python"]["works"]


def test_every_command_and_option_has_help():
    def commands(group, name):
        for child in group.commands.values():
            yield f"{name} {child.name}", child
            if hasattr(child, "commands"):
                yield from commands(child, f"{name} {child.name}")

    for name, command in commands(cli, "robustclevr"):
        assert command.help, name

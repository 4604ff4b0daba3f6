import pytest

from robustclevr.cli import failures
from robustclevr.cli.failures import by_reason, tell_failures
from robustclevr.run.job import SampleFailure

DIED = [
    SampleFailure(
        "test", index, f"Blender died while rendering test/{index:06d}", "    last words", 2
    )
    for index in (3, 4, 9)
]
CROWDED = SampleFailure("val", 0, "no place for object 7; relax scene.margin")


def test_failures_are_grouped_by_what_they_share():
    groups = by_reason([*DIED, CROWDED])
    assert groups == {
        "Blender died while rendering it": DIED,
        "no place for object 7; relax scene.margin": [CROWDED],
    }


def test_the_report_names_samples_reasons_words_and_the_command(capsys, monkeypatch):
    monkeypatch.setattr(
        failures.sys, "argv", ["x", "generate", "my spec.yaml", "-o", "d", "--samples", "test:1-9"]
    )
    tell_failures([*DIED, CROWDED], chooses=True)
    assert capsys.readouterr().err.splitlines() == [
        "error: 4 samples could not be made:",
        "  test/000003, test/000004, test/000009: Blender died while rendering it",
        "    tried 2 times each",
        "    the last lines of its renderer at test/000003:",
        "        last words",
        "  val/000000: no place for object 7; relax scene.margin",
        "the same command tries again all that is missing; just these:",
        "  robustclevr generate 'my spec.yaml' -o d --samples test:3-4,test:9,val:0",
    ]


def test_of_many_samples_some_are_named(capsys):
    many = [SampleFailure("test", index, "no") for index in range(1000)]
    tell_failures(many, chooses=False)
    first, names, last = capsys.readouterr().err.splitlines()
    assert first == "error: 1000 samples could not be made:"
    assert names.endswith("test/000019 and 980 more: no")
    assert last == "the same command tries just these again"


@pytest.mark.parametrize("given", [["--samples=test:1"], ["--samples", "test:1"], []])
def test_a_choice_replaces_the_former(given):
    made = failures._command(["generate", "demo", *given, "-o", "d"], "test:2")
    assert made == "robustclevr generate demo -o d --samples test:2"

from robustclevr.errors import Problem, SpecError, suggest


def test_a_problem_says_where_what_and_what_to_do():
    problem = Problem("unknown key 'gama'", "a.yaml", 12, "nodes.gamma", "allowed: gamma")
    assert str(problem) == "a.yaml:12: nodes.gamma: unknown key 'gama'; allowed: gamma"
    assert str(Problem("no file")) == "no file"
    assert str(Problem("empty", file="a.yaml")) == "a.yaml: empty"


def test_a_spec_error_holds_every_problem():
    error = SpecError([Problem("one"), Problem("two")])
    assert str(error) == "one\ntwo"
    assert error.exit_code == 2


def test_suggestions():
    assert suggest("sample", ["samples", "seed"]).startswith("did you mean 'samples'?")
    assert suggest("zzz", ["samples", "seed"]) == "allowed: samples, seed"
    assert suggest("zzz", []) == "nothing is allowed here"

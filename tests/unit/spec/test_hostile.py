"""Files made to harm: each ends in an error or a result, in bounds, and runs nothing of its own.

They are read in a process of their own under limits of the kernel: 1 GB of address space, and for
each file five seconds of processor time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

SECONDS, BYTES = 5, 10**9
LONGEST_MESSAGE = 200_000
READER = f"""
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, ({BYTES}, {BYTES}))
from robustclevr.errors import RobustClevrError
from robustclevr.recipe import load_recipes
from robustclevr.scm import SCM
recipes = load_recipes()
_, most = resource.getrlimit(resource.RLIMIT_CPU)
for path in sys.argv[1:]:
    print(path, flush=True)
    begin = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(begin) + 1 + {SECONDS}, most))
    try:
        model = SCM.from_yaml(path, recipes)
        model.sample(10, seed=0)
        model.support()
        said = "sampled " + str(len(model.dag.nodes))
    except RobustClevrError as error:
        said = type(error).__name__ + " " + str(error)
    print(json.dumps([time.process_time() - begin, said]), flush=True)
"""


def read(texts: Iterable[str], folder: Path) -> list[str]:
    """Return what reading each file says; fail if one kills the process or writes anything."""
    paths = [folder / f"{number}.yaml" for number, _ in enumerate(texts)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    run = subprocess.run(
        [sys.executable, "-c", READER, *map(str, paths)],
        cwd=folder,
        env={"OPENBLAS_NUM_THREADS": "1", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, f"{run.returncode}: {run.stdout[-300:]} {run.stderr[-2000:]}"
    assert {item.name for item in folder.iterdir()} == {path.name for path in paths}
    results = [json.loads(line) for line in run.stdout.splitlines()[1::2]]
    assert len(results) == len(paths)
    for (seconds, said), path in zip(results, paths, strict=True):
        assert seconds <= SECONDS, path
        assert len(said) <= LONGEST_MESSAGE, path
    return [said for _, said in results]


def check(cases: dict[str, str], folder: Path) -> None:
    """Read files and compare how the outcome of each begins."""
    found = read(cases.keys(), folder)
    for (text, expected), said in zip(cases.items(), found, strict=True):
        assert said.startswith(expected), (text[:200], said[:500])


def dag(formula: str, noise: str = "HalfNormal(1)") -> str:
    return f"nodes:\n  gamma:\n    noise:\n      h: {noise}\n    set:\n      gamma: {formula}\n"


TOUCH = "__import__('os').system('touch owned')"
TAGS = (
    "!!python/object/apply:os.system ['touch owned']",
    "!!python/name:os.system",
    "!!python/module:os",
    "!!python/object:subprocess.Popen {args: [touch, owned]}",
    "!!python/object/new:os.system [touch owned]",
    "!include /etc/passwd",
)


def test_tags_build_nothing(tmp_path: Path) -> None:
    places = ("name: {}\nnodes: {{gamma: {{}}}}\n", "nodes:\n  gamma: {}\n", "{}\n")
    texts = [place.format(tag) for place in places for tag in TAGS]
    check(dict.fromkeys(texts, "SpecError"), tmp_path)


PYTHON = [
    f'"{TOUCH}"',
    '"__import__"',
    '"h.__class__.__mro__"',
    '"gamma.__dict__"',
    '"().__class__.__bases__[0].__subclasses__()"',
    "\"getattr(h, 'x')\"",
    '"lambda: h"',
    '"[x for x in h]"',
    '"h; h"',
    "\"open('owned', 'w')\"",
    "\"exec('h')\"",
    '"h := 1"',
    '"f(h)"',
    '"h[0]"',
    '"{h}"',
]


def test_formulas_are_not_python(tmp_path: Path) -> None:
    check({dag(formula): "SpecError" for formula in PYTHON}, tmp_path)


FORMULAS = {
    "9 ** 9 ** 9 ** 9": "SamplingError",
    "9 ** -9 ** 9 ** 9": "SamplingError",
    "0 * 9 ** 9 ** 9": "SamplingError",
    "1e400": "SpecError",
    "9" * 3999: "SpecError",
    "1e308 * 10 * h": "SamplingError",
    "exp(exp(exp(9)))": "SamplingError",
    "(" * 5000 + "h" + ")" * 5000: "SpecError",
    "(" * 1900 + "h" + ")" * 1900: "SpecError",
    "-" * 3000 + "h": "SpecError",
    "h + " * 5000 + "h": "SpecError",
    "h + " * 900 + "h": "SpecError",
    "not " * 900 + "h": "SpecError",
    "h ** " * 700 + "h": "SpecError",
    "abs(" * 900 + "h" + ")" * 900: "SpecError",
    "where(" * 600 + "h": "SpecError",
    "where(h > 1, " * 300 + "h" + ", h)" * 300: "SpecError",
    "h < " * 900 + "h": "SpecError",
    "x" * 4000: "SpecError",
    "max(" + "h, " * 900 + "h)": "SpecError",
    "+".join(["(" * 16 + "h" + "+h)" * 16] * 20): "sampled",
}


def test_formulas_that_are_too_much(tmp_path: Path) -> None:
    check({dag(f'"{formula}"'): says for formula, says in FORMULAS.items()}, tmp_path)


DISTRIBUTIONS = {
    "DiscreteUniform(999999999999)": "sampled",
    "DiscreteUniform(1e300)": "SpecError",
    "Categorical(999999999999)": "SpecError",
    "Binomial(1e12, 0.5)": "sampled",
    "Poisson(1e300)": "SamplingError",
    "NegativeBinomial(1e15, 0.999999)": "sampled",
    "VonMises(0, 1e300)": "sampled",
    "HalfNormal(1e308)": "sampled",
    TOUCH: "SpecError",
    f"Categorical(logits=[{'1, ' * 1200}1])": "sampled",
}


def test_distributions_that_are_too_much(tmp_path: Path) -> None:
    check({dag("h", f'"{noise}"'): says for noise, says in DISTRIBUTIONS.items()}, tmp_path)


def laughs(levels: int, width: int, open_: str = "[", close: str = "]") -> str:
    lines = [f"l0: &l0 {open_}ha{close}"]
    for level in range(1, levels):
        inside = ", ".join([f"*l{level - 1}"] * width)
        lines.append(f"l{level}: &l{level} [{inside}]")
    return "\n".join(lines)


FILES = [
    laughs(10, 10),
    laughs(40, 2),
    "nodes: &n\n  gamma: *n\n",
    "nodes:\n  gamma: &g\n    set: *g\n",
    "a: &a {}\nnodes: {gamma: *missing}\n",
    "nodes:\n  <<: &a {gamma: {}}\n  clouds: *a\n",
    "nodes: " + "[" * 5000 + "]" * 5000,
    "nodes: " + "{a: " * 5000 + "}" * 5000,
    "nodes:\n" + "".join(f"{' ' * i}- \n" for i in range(900)),
    "? " * 5000 + "x",
    "- " * 5000 + "x",
    "a" * 1_000_000,
    "#" * 600_000,
    "nodes: '" + "\\n" * 200_000 + "'",
    "\x00",
    "nodes: {gamma: {set: {gamma: 1}}}\n---\n" * 1000,
    "%YAML 9.9\n---\nnodes: {}\n",
    "&a" * 100_000,
    "nodes:\n" + "".join(f"  n{i}: {{recipe: gamma, parents: [m{i}]}}\n" for i in range(9000)),
    "nodes:\n" + "".join(f"  n{i}: {i}\n" for i in range(30_000)),
    "nodes:\n  gamma:\n    parents: [" + "gamma, " * 40_000 + "gamma]\n",
    "order: [" + "a, " * 40_000 + "a]\nnodes: {gamma: {}}\n",
    "".join(f"k{i}: 1\n" for i in range(40_000)),
]


def test_files_that_are_too_much(tmp_path: Path) -> None:
    check(dict.fromkeys(FILES, "SpecError"), tmp_path)


def many(node: str, count: int = 20_000) -> str:
    return "nodes:\n" + "".join(f" a{i}: {node.format(i - 1)}\n" for i in range(count))


def test_twenty_thousand_nodes(tmp_path: Path) -> None:
    chain = many("{{recipe: gamma, parents: [a{}]}}", 11_000)
    cases = {
        many("{{recipe: gamma}}"): "sampled 20000",
        many("{{recipe: gamma, parents: [a{}]}}"): "SpecError",  # too many characters
        chain.replace("a-1", ""): "sampled 11000",
        chain.replace("a-1", "a9"): "SpecError",
    }
    check(cases, tmp_path)

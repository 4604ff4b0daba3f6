"""Dockerfiles, the compose file and shell scripts: linted, pinned, at one with the project.

What really building the images shows is in ``tests/cluster/images.sh``.
"""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
import yaml

from robustclevr.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILES = sorted(ROOT.glob("docker/*.Dockerfile"))
SCRIPTS = sorted(
    [ROOT / ".ci/run", *ROOT.glob("docker/*.sbatch"), *ROOT.glob("tests/cluster/**/*.sh")]
)
COMPOSE = ROOT / "docker/compose.yaml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DOCS = "\n".join(path.read_text() for path in (ROOT / "README.md", *ROOT.glob("docs/*.md")))
each_dockerfile = pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)


def tool(name, *arguments, text=None):
    command = [Path(sys.executable).with_name(name), *arguments]
    return subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True)


def instructions(path):
    """(instruction, words) of a Dockerfile; continued lines joined, comments left out."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, rest = line.partition(" ")
            yield name, rest.strip()


def stages(path):
    """The instructions of each stage, without what stands before the first FROM."""
    found = []
    for name, rest in instructions(path):
        if name == "FROM":
            found.append([])
        if found:
            found[-1].append((name, rest))
    return found


def copied(path):
    """Names in the checkout that the Dockerfile copies."""
    for name, rest in instructions(path):
        words = rest.split()
        if name == "COPY" and not words[0].startswith("--from"):
            yield from words[:-1]


def pins():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pairs}


def test_there_is_an_image_for_cpus_and_one_for_gpus():
    assert {path.name for path in DOCKERFILES} == {"cpu.Dockerfile", "gpu.Dockerfile"}


@each_dockerfile
def test_hadolint_is_silent(path):
    run = tool("hadolint", path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_hadolint_would_speak(tmp_path):
    (tmp_path / "Dockerfile").write_text("FROM debian\nRUN sudo apt-get install curl\n")
    assert "DL3006" in tool("hadolint", tmp_path / "Dockerfile").stdout


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_is_silent(path):
    run = tool("shellcheck", path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def valid_compose(text, tmp_path):
    (tmp_path / "compose.yaml").write_text(text)
    run = tool(
        "check-jsonschema", "--builtin-schema", "vendor.compose-spec", tmp_path / "compose.yaml"
    )
    return run.returncode == 0, run.stdout + run.stderr


def test_the_compose_file_is_valid_by_the_compose_schema(tmp_path):
    good, said = valid_compose(COMPOSE.read_text(), tmp_path)
    assert good, said


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("capabilities: [gpu]", "capabilities: gpu"), ("depends_on:", "depend_on:")],
    ids=["type", "key"],
)
def test_the_schema_refuses_slips(right, wrong, tmp_path):
    assert right in COMPOSE.read_text()
    good, said = valid_compose(COMPOSE.read_text().replace(right, wrong), tmp_path)
    assert not good, said


@each_dockerfile
def test_bases_are_an_argument_pinned_by_tag_and_digest(path):
    (default,) = [rest for name, rest in instructions(path) if name == "ARG" and "BASE=" in rest]
    assert re.fullmatch(r"BASE=[a-z/]+:[\w.-]*\d[\w.-]*@sha256:[0-9a-f]{64}", default)
    froms = [stage[0][1].split() for stage in stages(path)]
    names = {words[2] for words in froms if len(words) == 3}
    assert {words[0] for words in froms} <= {"${BASE}"} | names


def test_the_gpu_image_starts_from_nvidias():
    assert "ARG BASE=nvidia/cuda:" in (ROOT / "docker/gpu.Dockerfile").read_text()


@each_dockerfile
def test_all_that_is_copied_exists_and_passes_the_ignore_file(path):
    patterns = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in patterns if line.startswith("!")}
    assert "*" in patterns
    assert set(copied(path)) == allowed
    assert [name for name in copied(path) if not (ROOT / name).exists()] == []


@each_dockerfile
def test_the_wheel_finds_its_sources(path):
    folders = PROJECT["tool"]["setuptools"]["package-dir"].values()
    project = PROJECT["project"]
    assert {*folders, project["readme"], *project["license-files"]} <= set(copied(path))


@each_dockerfile
def test_packages_come_by_the_constraints(path):
    runs = [rest for name, rest in instructions(path) if name == "RUN"]
    commands = [part for run in runs for part in run.split("&&") if "pip install" in part]
    assert len(commands) == 3
    for command in commands:
        assert "--constraint constraints.txt" in command or "--no-deps /dist/*.whl" in command
    (build,) = [run for run in runs if "uv build" in run]
    assert "--build-constraints constraints.txt" in build
    assert {"uv", "setuptools"} <= set(pins())


def test_what_the_images_install_is_pinned():
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = [*PROJECT["project"]["dependencies"], *extras["blender"], *extras["ray"]]
    names = {re.match(r"[\w.-]+", line).group().lower().replace("_", "-") for line in wanted}
    assert names <= set(pins())


def test_both_images_are_made_alike():
    """They differ in base, names, the kernels left out, and how the driver comes in."""
    cpu, gpu = (set(instructions(path)) for path in DOCKERFILES)
    assert sorted(name for name, _ in cpu - gpu) == ["ARG", "ENV", "LABEL", "RUN"]
    assert sorted(name for name, _ in gpu - cpu) == ["ARG", "ENV", "LABEL", "RUN", "RUN"]


@each_dockerfile
def test_the_last_stage_only_takes_over_and_is_nobodys_root(path):
    last = stages(path)[-1]
    assert not any(
        re.search(r"\b(apt-get|pip|uv|gcc)\b", rest) for name, rest in last if name == "RUN"
    )
    runtime = stages(path)[0]
    assert not any(re.search(r"\b(pip|-dev|build-essential|venv)\b", rest) for _, rest in runtime)
    said = dict(last)
    assert said["ENTRYPOINT"] == '["robustclevr"]'
    assert int(said["USER"].split(":")[0]) > 0
    assert said["VOLUME"] == "/cache"


def test_the_gpu_image_asks_the_driver_for_optix_and_keeps_kernels():
    env = dict(word.split("=", 1) for word in shlex.split(dict(stages(DOCKERFILES[1])[-1])["ENV"]))
    assert env["NVIDIA_DRIVER_CAPABILITIES"].split(",") == ["compute", "utility", "graphics"]
    assert env["NVIDIA_VISIBLE_DEVICES"] == "all"
    for name in ("CUDA_CACHE_PATH", "OPTIX_CACHE_PATH", "XDG_CACHE_HOME"):
        assert Path(env[name]).is_relative_to("/cache")


def test_the_compose_file_builds_and_mounts_what_the_image_has():
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    assert set(services) == {"head", "worker", "generate"}
    extras = set(PROJECT["project"]["optional-dependencies"])
    for service in services.values():
        dockerfile = COMPOSE.parent / service["build"]["context"] / service["build"]["dockerfile"]
        assert dockerfile.resolve() in DOCKERFILES
        assert "ray" in service["build"]["args"]["EXTRAS"].split()
        assert set(service["build"]["args"]["EXTRAS"].split()) <= extras
        assert {volume.rsplit(":", 1)[1] for volume in service["volumes"]} == {"/data", "/cache"}
    (device,) = services["worker"]["deploy"]["resources"]["reservations"]["devices"]
    assert device["driver"] == "nvidia"
    assert device["capabilities"] == ["gpu"]
    assert services["generate"]["environment"]["RAY_ADDRESS"] == "head:6379"


def robustclevr_words():
    """What the docs and the compose file have an image run, without `robustclevr` itself."""
    for block in re.findall(r"^```bash\n(.*?)^```", DOCS, flags=re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            image = [i for i, word in enumerate(words) if re.match(r"robustclevr:[cg]pu", word)]
            if words[:2] == ["docker", "run"] and "--entrypoint" not in words:
                yield words[image[0] + 1 :]
            elif words[:2] == ["docker", "compose"] and "run" in words:
                yield ["generate", *words[words.index("generate") + 1 :]]
            elif "sbatch" in words:
                yield ["generate", *words[words.index("docker/generate.sbatch") + 1 :]]
    generate = yaml.safe_load(COMPOSE.read_text())["services"]["generate"]
    yield ["generate", *generate["command"], "--backend", "ray"]


RUNS = list(robustclevr_words())


def test_the_docs_show_containers():
    assert len(RUNS) >= 8


@pytest.mark.parametrize("words", RUNS, ids=[f"{i}-{words[0]}" for i, words in enumerate(RUNS)])
def test_commands_of_the_docs_are_commands(words):
    """Parsed by the command line itself, and not run."""
    context = click.Context(cli)
    name, command, rest = cli.resolve_command(context, list(words))
    assert command is not None, words
    command.make_context(name, rest, parent=context)

"""Plans of small scenes, and the worker process as the parent sees it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import robustclevr
from robustclevr.recipe import shipped_recipes_dir
from robustclevr.records import (
    PLAN_VERSION,
    Camera,
    ImagePlan,
    Plan,
    RenderPass,
    RenderSettings,
    Scene,
    SceneObject,
    SceneOptions,
    to_json,
)
from robustclevr.scenes import sample_scene
from robustclevr.scenes.camera import clevr_camera
from robustclevr.scenes.lights import JITTERED_LIGHTS, clevr_lights

BOOTSTRAP = Path(robustclevr.__file__).parent / "blender" / "bootstrap.py"
OPTIONS = SceneOptions((3, 10), "clevr", "none", 200, 0.25, 0.4, 2000)
CLEAN = (ImagePlan("clean", 0, ()),)


class WorkerProcess:
    """A worker behind two pipes, with the fewest lines that can talk to it."""

    def __init__(self, log: Path, command: tuple[str, ...], bootstrap: Path) -> None:
        child_in, ours_out = os.pipe()
        ours_in, child_out = os.pipe()
        with log.open("wb") as sink:
            self.process = subprocess.Popen(
                [*command, str(bootstrap), "--in-fd", str(child_in), "--out-fd", str(child_out)],
                pass_fds=(child_in, child_out),
                stdout=sink,
                stderr=sink,
            )
        os.close(child_in)
        os.close(child_out)
        self._out = os.fdopen(ours_out, "w", encoding="utf-8")
        self._in = os.fdopen(ours_in, encoding="utf-8")

    def ask(self, **request: Any) -> dict[str, Any]:
        self._out.write(json.dumps(request) + "\n")
        self._out.flush()
        return json.loads(self._in.readline())

    def set_up(self, *extra: Path, threads: int = 1) -> dict[str, Any]:
        shipped = [[str(path), True] for path in sorted(shipped_recipes_dir().glob("[!_]*.py"))]
        recipes = [*shipped, *([str(path), False] for path in extra)]
        return self.ask(type="setup", recipes=recipes, threads=threads, device="cpu")

    def render(self, plan: Plan, scratch: Path) -> dict[str, Any]:
        return self.ask(type="render", plan=to_json(plan), scratch=str(scratch))

    def end(self) -> int:
        """Close the input, which ends the process, and return its exit code."""
        self._out.close()
        code = self.process.wait(30)
        self._in.close()
        return code


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[Callable[..., WorkerProcess]]:
    started: list[WorkerProcess] = []

    def start(*command: str, bootstrap: Path = BOOTSTRAP) -> WorkerProcess:
        log = tmp_path / f"worker{len(started)}.log"
        started.append(WorkerProcess(log, command or (sys.executable,), bootstrap))
        return started[-1]

    yield start
    for worker in started:
        if worker.process.poll() is None:
            worker.process.kill()
        worker.end()


@pytest.fixture
def clevr_scene() -> Callable[..., Scene]:
    def make(index: int = 0, *, height: int = 48, width: int = 64) -> Scene:
        return sample_scene(
            OPTIONS, height=height, width=width, root_seed=0, split="test", index=index
        )

    return make


@pytest.fixture
def rest_scene() -> Callable[..., Scene]:
    """CLEVR's camera and lights without any jitter, and the given objects."""

    def make(*objects: SceneObject, height: int = 48, width: int = 64) -> Scene:
        rest = (0.0, 0.0, 0.0)
        camera: Camera = clevr_camera(rest, height=height, width=width)
        lights = clevr_lights(dict.fromkeys(JITTERED_LIGHTS, rest))
        return Scene(objects, camera, lights, {}, {}, {}, "none", 1, 1)

    return make


@pytest.fixture
def thing() -> Callable[..., SceneObject]:
    def make(
        shape: str = "sphere",
        material: str = "rubber",
        *,
        at: tuple[float, float] = (0.0, 0.0),
        radius: float = 0.7,
        degrees: float = 0.0,
        rgba: tuple[float, float, float, float] = (0.5, 0.2, 0.1, 1.0),
    ) -> SceneObject:
        return SceneObject(
            shape,
            "large",
            "red",
            material,
            radius,
            rgba,
            (*at, radius),
            degrees,
            math.radians(degrees),
            (0.0, 0.0, 0.0),
        )

    return make


@pytest.fixture
def make_plan() -> Callable[..., Plan]:
    def make(
        scene: Scene,
        *,
        size: tuple[int, int] = (48, 64),
        samples: int = 2,
        seed: int = 3,
        denoise: bool = False,
        outputs: tuple[str, ...] = ("image", "mask"),
        renders: tuple[RenderPass, ...] = (RenderPass(()),),
        images: tuple[ImagePlan, ...] = CLEAN,
    ) -> Plan:
        settings = RenderSettings(*size, samples, denoise, seed)
        return Plan(PLAN_VERSION, "test", 0, 0, None, scene, settings, outputs, renders, images)

    return make

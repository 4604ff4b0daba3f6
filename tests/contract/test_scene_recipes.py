"""What every scene-stage recipe promises, checked in the real Blender on one CLEVR scene."""

import dataclasses

import numpy as np
import pytest

from robustclevr.blender.sample import SampleRenderer
from robustclevr.imaging.color import linear_to_srgb8
from robustclevr.recipe import load_recipes
from robustclevr.records import (
    PLAN_VERSION,
    ImagePlan,
    Plan,
    RenderPass,
    RenderSettings,
    SceneOptions,
    Step,
)
from robustclevr.scenes.sample import sample_scene

HEIGHT, WIDTH = 48, 64
RECIPES = {
    name: loaded for name, loaded in load_recipes().items() if loaded.recipe.stage == "scene"
}
SEEDED = {"cloud_shadows", "object_motion_blur"}
SEVERITIES = (0.0, 0.25, 0.5, 1.0)

pytestmark = pytest.mark.blender
every_recipe = pytest.mark.parametrize("name", RECIPES)


def step_at(name, severity, *, seed=5, **others):
    parameters = {
        entry.name: entry.clean + severity * (entry.worst - entry.clean)
        if entry.role == "severity"
        else entry.clean
        for entry in RECIPES[name].recipe.parameters
    }
    return Step(name, name, {**parameters, **others}, severity, seed)


def plan_of(steps):
    """Plan the clean image and one image a step, each with a render of its own."""
    scene = sample_scene(
        SceneOptions((3, 3), "clevr", "none", 200, 0.25, 0.4, 10_000),
        height=HEIGHT,
        width=WIDTH,
        root_seed=0,
        split="test",
        index=0,
    )
    return Plan(
        version=PLAN_VERSION,
        split="test",
        index=0,
        root_seed=0,
        draw=None,
        scene=scene,
        settings=RenderSettings(HEIGHT, WIDTH, samples=8, denoise=False, seed=1),
        outputs=("image", "mask"),
        renders=(RenderPass(()), *(RenderPass((step,)) for step in steps)),
        images=tuple(ImagePlan(f"image{k}", k, ()) for k in range(len(steps) + 1)),
    )


@pytest.fixture
def render(tmp_path):
    """Render the clean image and one a step, in a session of its own; linear pixels."""

    def run(*steps):
        scratch = tmp_path / f"scratch-{len(list(tmp_path.iterdir()))}"
        scratch.mkdir()
        renderer = SampleRenderer(RECIPES, threads=2, device="cpu")
        reply = renderer.render(plan_of(steps), scratch)
        assert reply["renders"] == 1 + len(steps)
        return [np.load(scratch / image["pixels"]) for image in reply["images"]]

    return run


@every_recipe
def test_nothing_at_severity_zero_and_more_with_more(name, render):
    clean, *images = render(*(step_at(name, severity) for severity in SEVERITIES))
    np.testing.assert_array_equal(images[0], clean)
    levels = [linear_to_srgb8(image).astype(float) for image in images]
    differences = [float(np.abs(level - levels[0]).mean()) for level in levels]
    assert differences == sorted(set(differences))
    assert differences[-1] > 1.0
    assert all(np.isfinite(image).all() for image in images)


@every_recipe
def test_a_trace_of_it_leaves_the_noise_of_the_render_as_it_is(name, render):
    clean, trace = (linear_to_srgb8(image).astype(float) for image in render(step_at(name, 1e-5)))
    # At 8 paths a pixel, other random numbers change the image by several levels.
    assert np.abs(trace - clean).mean() < 0.1


@every_recipe
def test_the_same_plan_gives_the_same_bits_and_the_seed_matters_where_it_says(name, render):
    steps = [step_at(name, 0.6), step_at(name, 0.6, seed=6)]
    first, again = render(*steps), render(*steps)
    for image, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(image, other)
    assert np.array_equal(first[1], first[2]) == (name not in SEEDED)


@every_recipe
@pytest.mark.parametrize("edge", ["low", "high"])
def test_the_ends_of_the_safe_range_are_safe(name, edge, render):
    ends = {
        entry.name: entry.clamp(getattr(entry, edge))
        for entry in RECIPES[name].recipe.parameters
        if entry.kind in ("number", "integer")
    }
    severity = {
        entry.name: entry.worst if edge == "low" else ends[entry.name]
        for entry in RECIPES[name].recipe.parameters
        if entry.role == "severity"
    }
    step = dataclasses.replace(step_at(name, 1.0), parameters={**ends, **severity})
    assert all(np.isfinite(image).all() for image in render(step))

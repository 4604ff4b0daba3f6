"""What every image-stage recipe promises, checked in the real Blender on one CLEVR scene."""

import atexit
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

from robustclevr.blender import compat, session
from robustclevr.blender.compositor import Compositor, append_step, read_exr
from robustclevr.blender.images import gray_image, held
from robustclevr.blender.scene import build_scene
from robustclevr.cli.recipe_new import TEMPLATE
from robustclevr.imaging.color import linear_to_srgb8
from robustclevr.recipe import load_recipe, load_recipes
from robustclevr.records import RenderSettings, SceneOptions, Step
from robustclevr.scenes.sample import sample_scene

HEIGHT, WIDTH = 72, 96
OPTIONS = SceneOptions((5, 8), "clevr", "none", 200, 0.25, 0.4, 10_000)
SCENE = 11
"""A scene with bright reflections in metal: glare needs highlights."""

NEW = Path(tempfile.mkdtemp()) / "brand_new.py"
"""What ``recipe new`` writes keeps the same promises."""
NEW.write_text(TEMPLATE.format(name=NEW.stem, title="Brand New"))
atexit.register(shutil.rmtree, NEW.parent)

RECIPES = {
    name: loaded for name, loaded in load_recipes().items() if loaded.recipe.stage == "image"
}
RECIPES[NEW.stem] = load_recipe(NEW, shipped=False)
SEEDED = {"clouds", "underexposure", "white_noise"}

FAR_ANGLE_RAD = 1e300

DEPTH = np.linspace(14.0, 7.0, HEIGHT * WIDTH, dtype=np.float32).reshape(HEIGHT, WIDTH)
"""Stands for the depth pass: further away at the top, as over CLEVR's ground. [m]"""

pytestmark = pytest.mark.blender
every_recipe = pytest.mark.parametrize("name", RECIPES)


def step_at(name, severity, *, seed=5, **others):
    """Every severity parameter at the same fraction of the way from clean to worst."""
    parameters = {
        entry.name: entry.clean + severity * (entry.worst - entry.clean)
        if entry.role == "severity"
        else entry.clean
        for entry in RECIPES[name].recipe.parameters
    }
    return Step(name, name, {**parameters, **others}, severity, seed)


def mean_difference(image, other):
    levels = [linear_to_srgb8(pixels[..., :3]).astype(float) for pixels in (image, other)]
    return float(np.abs(levels[0] - levels[1]).mean())


def build():
    """Build the scene anew in an empty session."""
    record = sample_scene(
        OPTIONS, height=HEIGHT, width=WIDTH, root_seed=0, split="test", index=SCENE
    )
    scene = session.reset()
    settings = RenderSettings(HEIGHT, WIDTH, samples=16, denoise=False, seed=1)
    session.configure(scene, settings, threads=2, device="cpu")
    build_scene(scene, record)
    return scene


@pytest.fixture(scope="module")
def scene_exr(tmp_path_factory):
    return session.render_to(build(), tmp_path_factory.mktemp("scene") / "clean.exr")


@pytest.fixture
def clean(scene_exr):
    return read_exr(scene_exr)


@pytest.fixture
def corrupt(scene_exr, tmp_path):
    """Apply steps to the scene with a compositor of its own."""

    def run(*steps):
        scratch = tmp_path / f"scratch-{len(list(tmp_path.iterdir()))}"
        scratch.mkdir()
        compositor = Compositor(RECIPES, scratch)
        passes = {"depth": DEPTH}
        exr = compositor.apply(scene_exr, steps, HEIGHT, WIDTH, passes=passes)
        return compositor.read_pixels(exr).copy()

    return run


def test_the_scene_has_highlights_and_shades(clean):
    assert clean[..., :3].max() > 2
    assert 0.05 < np.median(clean[..., :3]) < 0.8


@every_recipe
def test_severity_zero_is_the_clean_image_bit_for_bit(name, corrupt, clean):
    np.testing.assert_array_equal(corrupt(step_at(name, 0.0)), clean)


@every_recipe
def test_severity_of_one_percent_is_hardly_seen(name, corrupt, clean):
    assert mean_difference(corrupt(step_at(name, 0.01)), clean) <= 1.0


@every_recipe
def test_more_severity_is_more_difference(name, corrupt, clean):
    differences = [
        mean_difference(corrupt(step_at(name, severity)), clean) for severity in (0.25, 0.5, 1.0)
    ]
    assert differences == sorted(set(differences))
    assert differences[-1] > 1.0


@every_recipe
def test_output_is_finite_and_keeps_shape_and_alpha(name, corrupt, clean):
    image = corrupt(step_at(name, 1.0))
    assert image.dtype == np.float32
    assert image.shape == clean.shape
    assert np.isfinite(image).all()
    np.testing.assert_array_equal(image[..., 3], clean[..., 3])


@every_recipe
@pytest.mark.parametrize("edge", ["low", "high"])
def test_the_ends_of_the_safe_range_are_safe(name, edge, corrupt):
    numbers = [
        entry for entry in RECIPES[name].recipe.parameters if entry.kind in ("number", "integer")
    ]
    ends = {entry.name: entry.clamp(getattr(entry, edge)) for entry in numbers}
    unbounded = {entry.name for entry in numbers if np.isinf(ends[entry.name])}
    # Only of an angle is every value safe.
    assert unbounded <= {entry.name for entry in numbers if entry.unit == "rad"}
    ends |= {name: np.copysign(FAR_ANGLE_RAD, ends[name]) for name in unbounded}
    assert np.isfinite(corrupt(step_at(name, 1.0, **ends))).all()


@every_recipe
def test_the_same_step_gives_the_same_bits(name, corrupt):
    step = step_at(name, 0.6)
    np.testing.assert_array_equal(corrupt(step), corrupt(step))


@every_recipe
def test_the_seed_matters_where_there_is_noise_and_only_there(name, corrupt):
    image, other = (corrupt(step_at(name, 0.6, seed=seed)) for seed in (5, 6))
    assert np.array_equal(image, other) == (name not in SEEDED)


def render_with(steps, path):
    """Render the scene with the steps' nodes behind Render Layers."""
    scene = build()
    tree, output = compat.new_compositor(scene)
    image = compat.new_node(tree, "CompositorNodeRLayers").outputs["Image"]
    with held([gray_image(DEPTH)]) as (depth,):
        node = compat.new_node(tree, "CompositorNodeImage")
        node.image = depth
        passes = {"depth": node.outputs["Image"]}
        for step in steps:
            image = append_step(tree, image, step, RECIPES[step.recipe], (HEIGHT, WIDTH), passes)
        tree.links.new(image, output)
        scene.render.use_compositing = True
        return read_exr(session.render_to(scene, path))


@every_recipe
def test_the_saved_image_gives_what_the_render_itself_gives(name, corrupt, tmp_path):
    step = step_at(name, 0.6)
    whole = render_with([step], tmp_path / "whole.exr")
    np.testing.assert_array_equal(corrupt(step), whole)


def test_a_chain_of_files_gives_what_one_tree_gives(corrupt, tmp_path):
    # Fog's depth follows the pixels from file to file, and not within one tree.
    steps = [step_at(name, 0.5) for name in RECIPES if not RECIPES[name].recipe.needs]
    whole = render_with(steps, tmp_path / "whole.exr")
    np.testing.assert_array_equal(corrupt(*steps), whole)

"""The compositor against closed forms: values, positions, errors, and what it leaves behind."""

import bpy
import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from robustclevr.blender.compositor import Compositor, read_exr
from robustclevr.errors import RecipeError, RenderError
from robustclevr.recipe import load_recipe, load_recipes
from robustclevr.records import Step

HEIGHT, WIDTH = 72, 96
RECIPES = load_recipes()

pytestmark = pytest.mark.blender


def step(recipe, *, seed=0, severity=0.5, **parameters):
    clean = RECIPES[recipe].recipe.clean_parameters() if recipe in RECIPES else {}
    return Step(recipe, recipe, {**clean, **parameters}, severity, seed)


def write_exr(path, pixels):
    """Write float32 (H, W, 4), row 0 on top, through a compositor of its own."""
    height, width = pixels.shape[:2]
    image = bpy.data.images.new("test", width, height, alpha=True, float_buffer=True, is_data=True)
    image.pixels.foreach_set(np.ascontiguousarray(pixels[::-1], np.float32).ravel())
    image.file_format = "OPEN_EXR"
    image.save(filepath=str(path))
    bpy.data.images.remove(image)
    return path


def constant(value, alpha=1.0):
    return np.full((HEIGHT, WIDTH, 4), (value, value, value, alpha), np.float32)


def noise():
    rng = np.random.default_rng(0)
    pixels = rng.random((HEIGHT, WIDTH, 4), np.float32) * 3
    pixels[..., 3] = 1.0
    return pixels


@pytest.fixture
def compositor(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Compositor(RECIPES, scratch)


@pytest.fixture
def run(compositor, tmp_path):
    """Apply steps to an array."""

    def apply(pixels, *steps):
        exr = write_exr(tmp_path / f"in-{len(list(tmp_path.iterdir()))}.exr", pixels)
        return compositor.read_pixels(compositor.apply(exr, steps, *pixels.shape[:2]))

    return apply


# -- values ---------------------------------------------------------------------------------


def test_files_keep_every_bit_and_the_row_order(tmp_path):
    pixels = noise()
    pixels[0, 0, :3] = 1234.5
    pixels[..., 3] = np.linspace(0.1, 1.0, WIDTH, dtype=np.float32)
    np.testing.assert_array_equal(read_exr(write_exr(tmp_path / "a.exr", pixels)), pixels)


def test_gamma_is_a_power(run):
    pixels = noise()
    expected = pixels[..., :3] ** 1.7
    np.testing.assert_allclose(run(pixels, step("gamma", gamma=1.7))[..., :3], expected, rtol=2e-5)


@pytest.mark.parametrize(
    "blur",
    [
        step("gaussian_blur", size=11.0),
        step("defocus", z=10.0),
        step("motion_blur", distance=0.1, angle=0.7),
        step("motion_blur", distance=0.3, spin=0.2, zoom=0.3, angle=4.0),
    ],
    ids=lambda blur: blur.recipe,
)
def test_a_blur_leaves_a_constant_image_alone_up_to_the_border(run, blur):
    np.testing.assert_allclose(run(constant(0.4), blur), constant(0.4), rtol=1e-5)


def from_middle():
    """Return rows and columns of the pixels' middles, counted from the image's middle."""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    return rows - HEIGHT / 2, columns - WIDTH / 2


def test_vignette_is_the_fourth_power_of_the_cosine(run):
    made = run(constant(0.5), step("vignette", loss=0.8))[..., 0]
    rows, columns = from_middle()
    distance = np.hypot(rows, columns) / np.hypot(HEIGHT / 2, WIDTH / 2)
    # The corner keeps a fifth: cos(angle)**4 = 0.2 there.
    tangent_at_corner = np.tan(np.arccos(0.2**0.25))
    expected = 0.5 * np.cos(np.arctan(distance * tangent_at_corner)) ** 4
    np.testing.assert_allclose(made, expected, rtol=1e-5)


def test_chromatic_aberration_scales_red_up_and_blue_down(run):
    pixels = noise()
    shift_px = 20.0
    made = run(pixels, step("chromatic_aberration", shift=shift_px))
    part = shift_px * HEIGHT / 240 / np.hypot(HEIGHT / 2, WIDTH / 2)
    rows, columns = from_middle()
    inside = np.s_[6:-6, 6:-6]
    for channel, scale in ((0, 1 + part), (1, 1.0), (2, 1 - part)):
        places = rows / scale + HEIGHT / 2 - 0.5, columns / scale + WIDTH / 2 - 0.5
        expected = map_coordinates(pixels[..., channel], places, order=1, mode="nearest")
        np.testing.assert_allclose(made[inside][..., channel], expected[inside], atol=1e-4)
    np.testing.assert_array_equal(made[..., 1], pixels[..., 1])


def test_chromatic_aberration_leaves_a_constant_image_alone_up_to_the_border(run):
    made = run(constant(0.4), step("chromatic_aberration", shift=9.0))
    np.testing.assert_allclose(made, constant(0.4), rtol=1e-5)


def fogged(image, depth, density, light):
    arrives = np.exp(-density * depth)[..., None]
    return image[..., :3] * arrives + light * (1.0 - arrives)


def test_fog_follows_koschmieder(compositor, tmp_path):
    pixels = noise()
    depth = np.linspace(0.0, 40.0, HEIGHT * WIDTH, dtype=np.float32).reshape(HEIGHT, WIDTH)
    depth[0, 0] = np.inf
    exr = write_exr(tmp_path / "in.exr", pixels)
    fog = step("fog", density=0.3, light=0.7)
    made = compositor.apply(exr, [fog], HEIGHT, WIDTH, passes={"depth": depth})
    expected = fogged(pixels, depth, 0.3, 0.7)
    np.testing.assert_allclose(compositor.read_pixels(made)[..., :3], expected, atol=1e-5)


def test_the_depth_of_fog_moves_with_the_pixels(compositor, tmp_path):
    pixels = noise()
    depth = np.random.default_rng(1).random((HEIGHT, WIDTH)).astype(np.float32) * 20
    exr = write_exr(tmp_path / "in.exr", pixels)
    steps = [step("displace", scale=10.0), step("fog", density=0.2, light=0.7)]  # 3 pixels
    made = compositor.read_pixels(
        compositor.apply(exr, steps, HEIGHT, WIDTH, passes={"depth": depth})
    )
    moved = fogged(pixels, depth, 0.2, 0.7)[3:, :-3]
    np.testing.assert_allclose(made[:-3, 3:, :3], moved, atol=1e-5)
    np.testing.assert_allclose(made[-3:, :, :3], 0.7, atol=1e-5)


def test_gaussian_blur_has_a_third_of_its_size_as_deviation(run):
    point = constant(0.0)
    point[36, 48, :3] = 1.0
    blurred = run(point, step("gaussian_blur", size=40.0))[..., 0]
    columns = np.arange(WIDTH) - 48
    deviation = np.sqrt((blurred.sum(axis=0) * columns**2).sum() / blurred.sum())
    applied_px = 40.0 * HEIGHT / 240
    assert deviation == pytest.approx(applied_px / 3, rel=0.1)


def test_defocus_spreads_a_point_over_a_disk_of_radius_z(run):
    point = constant(0.0)
    point[36, 48, :3] = 1.0
    blurred = run(point, step("defocus", z=16.0))[..., 0]
    radius_px = 16.0 * HEIGHT / 240
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    far = np.hypot(rows - 36, columns - 48) > radius_px + 1.5
    assert blurred.sum() == pytest.approx(1.0, rel=1e-3)
    assert blurred[far].max() == 0.0
    assert np.count_nonzero(blurred > 0) >= 0.9 * np.pi * radius_px**2


def test_motion_blur_turns_an_edge_into_a_ramp_of_its_length(run):
    edge = constant(0.0)
    edge[:, WIDTH // 2 :, :3] = 1.0
    distance = 0.2
    length_px = distance * np.hypot(HEIGHT, WIDTH)
    blurred = run(edge, step("motion_blur", distance=distance, angle=0.0))[HEIGHT // 2, :, 0]
    # Pixel x sees the mean of [x, x + length]; the edge lies between columns 47 and 48.
    expected = np.clip((np.arange(WIDTH) + length_px - 47.5) / length_px, 0.0, 1.0)
    np.testing.assert_allclose(blurred, expected, atol=0.02)


def test_few_iterations_of_motion_blur_are_few_copies(run):
    point = constant(0.0)
    point[36, 48, :3] = 1.0
    blurred = run(point, step("motion_blur", distance=0.3, iterations=2))[36, :, 0]
    # 2**2 steps along 36 px: five copies, 9 px apart.
    np.testing.assert_allclose(blurred[[48, 39, 30, 21, 12]], 0.2, atol=1e-3)


def test_white_noise_has_the_distribution_of_blenders_noise_texture(run):
    grain = run(constant(0.0), step("white_noise", factor=1.0, seed=11))
    values = grain[..., 0] * 27
    np.testing.assert_allclose(values, np.round(values), atol=1e-4)
    np.testing.assert_array_equal(grain[..., 0], grain[..., 2])
    digits = np.arange(4)
    products = np.multiply.outer(np.multiply.outer(digits, digits), digits).ravel()
    count = values.size
    for product in np.unique(products):
        expected = np.mean(products == product)
        spread = np.sqrt(expected * (1 - expected) / count)
        assert abs(np.mean(np.round(values) == product) - expected) < 4.5 * spread
    centered = values - values.mean()
    for neighbor in (centered[1:] * centered[:-1], centered[:, 1:] * centered[:, :-1]):
        assert abs(neighbor.mean() / centered.var()) < 4.5 / np.sqrt(count)


def test_clouds_have_the_mean_and_deviation_of_blenders_texture(run):
    clouds = np.array(
        [run(constant(0.0), step("clouds", factor=1.0, seed=seed))[..., 0] for seed in range(12)]
    )
    assert clouds.min() >= 0.0
    assert clouds.max() <= 1.0
    assert clouds.mean() == pytest.approx(0.497, abs=0.01)
    assert clouds.std() == pytest.approx(0.103, abs=0.01)


def test_clouds_of_far_apart_seeds_are_unrelated(run):
    seeds = (0, 1, 65535, 65536, 2**24 - 65536, 2**24 - 1)
    clouds = np.array(
        [run(constant(0.0), step("clouds", factor=1.0, seed=seed))[..., 0] for seed in seeds]
    )
    correlation = np.corrcoef(clouds.reshape(len(seeds), -1)) - np.eye(len(seeds))
    # About 50 independent patches an image: 0.14 is one deviation.
    assert np.abs(correlation).max() < 0.5


def lamp():
    pixels = constant(0.25)
    pixels[30:33, 40:43, :3] = 5.0
    return pixels


def test_glare_has_the_meaning_of_blenders_mix(run):
    image = lamp()
    alone = run(image, step("glare", mix=1.0))[..., :3]
    both = run(image, step("glare", mix=0.0))[..., :3]
    half = run(image, step("glare", mix=-0.5))[..., :3]
    dimmed = run(image, step("glare", mix=0.5))[..., :3]
    clean = image[..., :3]
    assert alone.min() >= 0.0
    np.testing.assert_allclose(both, clean + alone, atol=1e-5)
    np.testing.assert_allclose(half, clean + 0.5 * alone, atol=1e-5)
    np.testing.assert_allclose(dimmed, 0.5 * clean + alone, atol=1e-5)


def test_the_simple_star_shines_along_the_diagonals_whatever_the_angle(run):
    star = run(lamp(), step("glare", mix=1.0))[..., 0]
    assert star[31 + 10, 41 + 10] > 10 * star[31, 41 + 14]
    turned = run(lamp(), step("glare", mix=1.0, angle_offset=0.6))[..., 0]
    np.testing.assert_array_equal(turned, star)


def test_streaks_turn_with_the_angle(run):
    streaks = [
        run(lamp(), step("glare", mix=1.0, kind="streaks", angle_offset=angle))[..., 0]
        for angle in (0.0, 0.6)
    ]
    assert np.abs(streaks[0] - streaks[1]).max() > 0.05


def test_steps_in_pixels_scale_with_the_height(run):
    step_px = step("gaussian_blur", size=20.0)
    small = constant(0.0)
    small[:, WIDTH // 2 :, :3] = 1.0
    large = np.kron(small, np.ones((2, 2, 1), np.float32))
    profile = run(small, step_px)[HEIGHT // 2, :, 0]
    double = run(large, step_px)[HEIGHT, :, 0]
    np.testing.assert_allclose(double.reshape(-1, 2).mean(axis=1), profile, atol=0.02)


# -- positions ------------------------------------------------------------------------------


def lens_source(distort, *, fit):
    """Closed form of Blender's lens: source position in px, and whether it is in the frame."""
    size = np.array([WIDTH, HEIGHT], float)
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    scale = 1 / (1 + 2 * distort) if fit else 1 / (1 + distort)
    u = scale * (np.stack([columns, rows], -1) - size / 2) / (size / 2)
    inside = 1 - 4 * distort * (u**2).sum(-1)
    shrink = 1 / (1 + np.sqrt(np.maximum(inside, 0)))
    place = (u * shrink[..., None] + 0.5) * size
    return place, (inside >= 0) & (place >= 0).all(-1) & (place < size).all(-1)


@pytest.mark.parametrize("fit", [True, False])
@pytest.mark.parametrize("distort", [0.003, 0.07, 0.5])
def test_source_map_is_the_lens_in_closed_form(compositor, distort, fit):
    lens = step("lens_distortion", distort=distort, fit=fit)
    found = compositor.source_map([lens], HEIGHT, WIDTH)
    place, inside = lens_source(distort, fit=fit)
    row, column = np.floor(place[..., 1]), np.floor(place[..., 0])
    # Positions this near to the edge of a pixel may go to either side of it; on the frame's rim
    # a pixel counts as seen from half of its light on.
    sure = (np.abs(place - np.round(place)) > 2e-3).all(-1)
    rim = ((place < 1) | (place > [WIDTH - 1, HEIGHT - 1])).any(-1) | ~inside
    assert found.dtype == np.int32
    assert (sure & ~rim).mean() > 0.4
    assert np.array_equal(found[sure & ~rim], (row * WIDTH + column)[sure & ~rim])
    if fit:
        assert inside.all()
        assert (found >= 0).all()
    elif distort > 0.01:
        assert (found[~inside] == -1).mean() > 0.9


def test_dispersion_is_followed_in_green(compositor, run):
    lens = step("lens_distortion", distort=0.03, dispersion=0.4)
    ramp = constant(0.0)
    ramp[..., 1] = np.arange(WIDTH) + 0.5
    green = run(ramp, lens)[..., 1]
    found = compositor.source_map([lens], HEIGHT, WIDTH)
    middle = (slice(4, -4), slice(4, -4))
    assert np.abs(found % WIDTH + 0.5 - green)[middle].max() <= 0.51


def test_a_chain_of_warps_is_followed_through_all(compositor):
    lenses = [step("lens_distortion", distort=value, fit=True) for value in (0.05, 0.1)]
    both = compositor.source_map([lenses[0], step("gamma", gamma=2.0), lenses[1]], HEIGHT, WIDTH)
    first, second = (compositor.source_map([lens], HEIGHT, WIDTH) for lens in lenses)
    composed = first.ravel()[second]
    rows, columns = np.abs(np.subtract(np.divmod(both, WIDTH), np.divmod(composed, WIDTH)))
    assert max(rows.max(), columns.max()) <= 1
    assert (both == composed).mean() > 0.5


def test_nothing_is_followed_where_nothing_moves(compositor):
    still = [step("gamma", gamma=2.0), step("motion_blur", distance=0.1)]
    idle = step("lens_distortion", distort=0.1, severity=0.0)
    assert compositor.source_map([*still, idle], HEIGHT, WIDTH) is None


# -- work and traces ------------------------------------------------------------------------


def test_no_active_step_is_the_image_itself(compositor, tmp_path):
    exr = write_exr(tmp_path / "in.exr", noise())
    assert compositor.apply(exr, [], HEIGHT, WIDTH) == exr
    assert compositor.apply(exr, [step("gamma", gamma=2, severity=0.0)], HEIGHT, WIDTH) == exr


def test_a_common_beginning_is_made_once_and_cleared(compositor, tmp_path):
    exr = write_exr(tmp_path / "in.exr", noise())
    chain = [step("gamma", gamma=1.5), step("clouds", factor=0.1), step("gamma", gamma=1.2)]
    made = [compositor.apply(exr, chain[: n + 1], HEIGHT, WIDTH) for n in range(3)]
    assert compositor.apply(exr, chain, HEIGHT, WIDTH) == made[-1]
    assert sorted((tmp_path / "scratch").iterdir()) == sorted(made)
    compositor.clear()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_results_may_not_be_changed(run):
    with pytest.raises(ValueError, match="read-only"):
        run(noise(), step("gamma", gamma=1.5))[0, 0, 0] = 7.0


def test_nothing_stays_in_blender(compositor, tmp_path):
    exr = write_exr(tmp_path / "in.exr", noise())
    steps = [step("gamma", gamma=1.5), step("lens_distortion", distort=0.05)]

    def everything():
        return {kind: len(getattr(bpy.data, kind)) for kind in ("images", "scenes", "node_groups")}

    compositor.apply(exr, steps, HEIGHT, WIDTH)
    compositor.clear()
    before = everything()
    for _ in range(5):
        compositor.apply(exr, steps, HEIGHT, WIDTH)
        compositor.source_map(steps, HEIGHT, WIDTH)
        compositor.clear()
    assert everything() == before


def test_a_new_file_in_blender_between_samples_does_no_harm(compositor, tmp_path):
    exr = write_exr(tmp_path / "in.exr", noise())
    first = compositor.read_pixels(compositor.apply(exr, [step("gamma", gamma=2)], HEIGHT, WIDTH))
    compositor.clear()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    again = compositor.read_pixels(compositor.apply(exr, [step("gamma", gamma=2)], HEIGHT, WIDTH))
    np.testing.assert_array_equal(again, first)


# -- errors and the context -----------------------------------------------------------------

USER = """\
from robustclevr.recipe import Parameter, Recipe
RECIPE = Recipe(
    "mine", "", "image", "keeps",
    (Parameter("p", clean=0.0, worst=1.0, unit="px", source="test"),), needs={needs!r},
)
def build(context):
    {body}
"""


@pytest.fixture
def user_recipe(tmp_path):
    """Run the body of a user's ``build`` on a constant image."""

    def run_body(body, *, needs=(), passes=None):
        path = tmp_path / "mine.py"
        path.write_text(USER.format(body=body, needs=needs))
        exr = write_exr(tmp_path / "in.exr", constant(0.5))
        scratch = tmp_path / "user"
        scratch.mkdir()
        compositor = Compositor({"mine": load_recipe(path, shipped=False)}, scratch)
        result = compositor.apply(
            exr, [step("mine", p=10.0, seed=9)], HEIGHT, WIDTH, passes=passes or {}
        )
        return compositor.read_pixels(result)

    return run_body


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x = 1\n    return x / 0", r"mine\.py:8: ZeroDivisionError"),
        ("return None", r"mine\.py:6: build\(context\) returned None"),
        ("return context.node('CompositorNodeBlur').inputs[0]", "must return the output socket"),
        ("return context.node('CompositorNodeBlurr').outputs[0]", r"mine\.py:7: RuntimeError"),
        ("return context.node('CompositorNodeBlur', {'Sise': 1})", r"mine\.py:7: .*'Size'"),
        (
            "return context.mix('MULTIPLY', 1.0, context.image, (float('nan'),) * 4)",
            r"mine\.py:6: recipe 'mine' gives NaN or infinite values in 6912 of 6912 pixels",
        ),
    ],
)
def test_a_recipe_that_fails_is_named(user_recipe, body, message):
    with pytest.raises(RecipeError, match=message):
        user_recipe(body)


def test_a_missing_pass_is_named(user_recipe):
    with pytest.raises(RecipeError, match="needs the pass 'depth'"):
        user_recipe("return context.image", needs=("depth",))


def test_a_missing_image_is_named(compositor, tmp_path):
    with pytest.raises(RenderError, match=r"missing\.exr"):
        compositor.apply(tmp_path / "missing.exr", [step("gamma", gamma=2)], HEIGHT, WIDTH)


def test_passes_reach_the_recipe(user_recipe):
    depth = np.full((HEIGHT, WIDTH), 7.0, np.float32)
    image = user_recipe("return context.passes['depth']", needs=("depth",), passes={"depth": depth})
    np.testing.assert_array_equal(image, constant(7.0))


def test_the_context_gives_numbers_seed_and_size(user_recipe):
    body = (
        "return context.combine(context.number('p'), float(context.seed), "
        "context.height * 1000.0 + context.width)"
    )
    np.testing.assert_allclose(user_recipe(body)[0, 0], (3.0, 9.0, 72096.0, 1.0))


def test_pixel_coordinates_are_columns_and_rows_from_the_bottom(user_recipe):
    body = (
        "split = context.node('ShaderNodeSeparateXYZ', {'Vector': context.pixel_coordinates()})\n"
        "    return context.combine(split.outputs[0], split.outputs[1], 0.0)"
    )
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    image = user_recipe(body)
    offset = image[-1, 0, 0]  # 0 or one half: Blender's own pixel centers
    assert offset in (0.0, 0.5)
    np.testing.assert_array_equal(image[..., 0], columns + offset)
    np.testing.assert_array_equal(image[..., 1], rows[::-1] + offset)


def test_the_image_keeps_its_alpha_whatever_a_recipe_does(user_recipe):
    image = user_recipe("return context.with_alpha(context.image, 0.25)")
    np.testing.assert_array_equal(image, constant(0.5))

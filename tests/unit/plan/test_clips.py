"""Plans of clips: one clip whatever else is planned; fingerprints that follow the sources."""

import pytest
from PIL import Image

from robustclevr.errors import SpecError
from robustclevr.plan import SplitDraws, fingerprint, make_clip_plan, source_digests
from robustclevr.recipe import load_recipes
from robustclevr.records import from_json, to_json
from robustclevr.scm import SCM
from robustclevr.spec import load_dataset


@pytest.fixture
def load(tmp_path):
    def load(text, *overrides):
        file = tmp_path / "clips.yaml"
        file.write_text(f"{text}\nsplits: {{test: {{samples: 5}}}}\n")
        return load_dataset(file, load_recipes(), overrides=overrides).split("test")

    return load


def fingerprint_of(split):
    return fingerprint(split, {}, root_seed=0)


def test_a_plan_depends_on_the_spec_the_seed_and_the_index_alone(load):
    split, longer = load("family: vmds"), load("family: vmds", "splits.test.samples=900")
    plans = [make_clip_plan(split, {}, root_seed=0, index=i) for i in range(5)]
    assert make_clip_plan(longer, {}, root_seed=0, index=3) == plans[3]
    assert make_clip_plan(split, {}, root_seed=1, index=3).clip != plans[3].clip
    assert all(from_json(type(plan), to_json(plan)) == plan for plan in plans)


def test_the_fingerprint_covers_every_option(load):
    plain = fingerprint_of(load("family: vmds"))
    assert fingerprint_of(load("family: vmds", "splits.test.samples=900")) == plain
    changes = [
        "video.frames=11",
        "video.edges=hard",
        "video.sigma_px=50",
        "video.mask_threshold=0.4",
        "video.sprites=[1, 3]",
        "scenario=small",
        "outputs=[image, flow]",
    ]
    others = {fingerprint_of(load("family: vmds", change)) for change in changes}
    assert len({plain, *others}) == 1 + len(changes)


def test_defaults_that_are_written_out_change_nothing(load):
    written = load("family: vmds\nvideo: {frames: 10, height: 64, sprites: [1, 4]}")
    assert fingerprint_of(written) == fingerprint_of(load("family: vmds"))


def test_a_still_image_has_no_sources(load):
    assert source_digests(load("family: clevr")) == {}
    with pytest.raises(ValueError, match="holds no clips"):
        make_clip_plan(load("family: clevr"), {}, root_seed=0, index=0)


def picture(folder, name, side=40):
    folder.mkdir(exist_ok=True)
    Image.new("RGB", (side, side), (9, 9, 9)).save(folder / name)


@pytest.mark.parametrize("change", ["added", "renamed", "resized"])
def test_pictures_count_by_name_and_size(load, tmp_path, change):
    names = []
    for folder in ("one", "two"):
        for name in ("a.png", "b.png"):
            picture(tmp_path / folder, name)
    if change == "added":
        picture(tmp_path / "two", "c.png")
    elif change == "renamed":
        (tmp_path / "two" / "a.png").rename(tmp_path / "two" / "z.png")
    else:
        picture(tmp_path / "two", "a.png", side=300)
    for folder in ("one", "two"):
        split = load(f"family: texvmds\nvideo: {{textures: {folder}}}")
        names.append(source_digests(split)["textures"])
    assert names[0].startswith("2 pictures, names and sizes ")
    assert names[0] != names[1]


def test_the_plan_holds_the_path_as_it_was_written(load, tmp_path):
    picture(tmp_path / "pictures", "a.png")
    split = load("family: texvmds\nvideo: {textures: pictures}")
    assert split.video.textures == str(tmp_path / "pictures")
    assert make_clip_plan(split, {}, root_seed=0, index=0).options.textures == "pictures"


def test_a_file_of_sprites_counts_by_its_content(load, tmp_path):
    (tmp_path / "sprites.npz").write_bytes(b"one")
    split = load("family: vmds\nvideo: {dsprites: sprites.npz}")
    first = source_digests(split)["dsprites"]
    (tmp_path / "sprites.npz").write_bytes(b"two")
    assert source_digests(split)["dsprites"] != first
    (tmp_path / "sprites.npz").unlink()
    with pytest.raises(SpecError, match="cannot be read"):
        source_digests(split)


def test_a_folder_without_pictures(load, tmp_path):
    (tmp_path / "pictures").mkdir()
    split = load("family: texvmds\nvideo: {textures: pictures}")
    with pytest.raises(SpecError, match="no picture"):
        source_digests(split)


MODEL = """\
family: vmds
video: {frames: 3}
per: frame
dag: {nodes: {gamma: {noise: {h: HalfNormal(1)}, set: {gamma: 1 + h}},
  white_noise: {parents: [gamma], set: {factor: gamma.gamma / 9}}}}
"""


def test_frame_t_of_clip_i_stands_at_i_times_frames_plus_t(load):
    split, recipes = load(MODEL), load_recipes()
    stream = SCM(split.dag).sample(15, seed=4, split="test").columns(noise=True)
    seeds = set()
    for index in range(5):
        plan = make_clip_plan(split, recipes, root_seed=4, index=index)
        found = [draw.nodes["gamma"].parameters["gamma"] for draw in plan.frame_draws]
        assert found == stream["gamma.gamma"][3 * index : 3 * index + 3].tolist()
        assert plan.draw == plan.frame_draws[0]
        assert {draw.index for draw in plan.frame_draws} == {index}
        noise = next(v for v in plan.variants if v.variant == "white_noise")
        assert noise.steps == ()
        assert [steps[0].parameters["gamma"] for steps in noise.frames] == found
        seeds |= {steps[1].seed for steps in noise.frames}
        assert from_json(type(plan), to_json(plan)) == plan
    assert len(seeds) == 15


@pytest.mark.parametrize(
    "change",
    [
        "do: {white_noise.factor: 0.3}",
        "grid: {white_noise.factor: [0.1, 0.2, 0.3]}",
        "ood: {white_noise.factor: [-0.2, -0.1]}",
        "given: gamma.gamma > 2",
        "tail: {of: joint, below: 0.05}",
        "twin_of: test, do: {white_noise.factor: 0.3}",
    ],
)
def test_frames_under_interventions(tmp_path, change):
    file = tmp_path / "clips.yaml"
    file.write_text(f"{MODEL}splits: {{test: {{samples: 5}}, other: {{samples: 5, {change}}}}}\n")
    split = load_dataset(file, load_recipes()).split("other")
    draws = SplitDraws(split, root_seed=4)
    first = draws.table(0, 7).columns(noise=True)
    each = [[draws.draw(index, t) for t in range(3)] for index in range(7)]
    assert first["index"].tolist() == list(range(7))
    for node, name in (("gamma", "gamma"), ("white_noise", "factor")):
        drawn = [frames[0].nodes[node].parameters[name] for frames in each]
        assert drawn == first[f"{node}.{name}"].tolist()
    own = "white_noise" if "ood" in change else "gamma"
    held = [[frame.nodes[own].parameters for frame in frames] for frames in each]
    distinct = {str(parameters) for frames in held for parameters in frames}
    # Seven samples of a grid of three are the points of two clips and a bit.
    assert len(distinct) == (9 if "grid" in change else 21)
    if "grid" in change:
        assert held[0] == held[1] == held[2] != held[3]


def test_one_draw_for_all_frames_is_the_default_and_counts(load):
    plain, once = load(MODEL, "per=clip"), load(MODEL.replace("per: frame\n", ""))
    assert fingerprint(plain, load_recipes(), root_seed=0) == fingerprint(
        once, load_recipes(), root_seed=0
    )
    assert "per" not in plain.document
    assert fingerprint(load(MODEL), load_recipes(), root_seed=0) != fingerprint(
        plain, load_recipes(), root_seed=0
    )
    assert load("family: vmds\nper: frame").per == "clip"  # without a DAG nothing is drawn

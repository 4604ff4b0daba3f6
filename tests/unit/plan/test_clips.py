"""Plans of clips: one clip whatever else is planned; fingerprints that follow the sources."""

import pytest
from PIL import Image

from robustclevr.errors import SpecError
from robustclevr.plan import fingerprint, make_clip_plan, source_digests
from robustclevr.recipe import load_recipes
from robustclevr.records import from_json, to_json
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

"""Defaults, and the errors of wrong options: each with its way out."""

import pytest

from robustclevr.errors import SpecError
from robustclevr.records import VideoOptions, from_json, to_json
from robustclevr.video import resolve


def refused(family="vmds", video=None, scenario=None):
    with pytest.raises(SpecError) as error:
        resolve(family, video, scenario)
    return str(error.value)


def test_defaults_are_those_of_vmds():
    options = resolve("vmds")
    assert (options.frames, options.height, options.width) == (10, 64, 64)
    assert options.sprites == (1, 4)
    assert (options.tau_frames, options.sigma_px, options.margin_px) == (10.0, 55.0, 10.0)
    assert (options.counts, options.edges, options.mask_threshold) == ("balanced", "coverage", 0.5)


def test_options_go_through_json():
    options = resolve("vmds", {"frames": 20}, {"rotation": {}, "color": {"step_deg": [1, 2]}})
    assert from_json(VideoOptions, to_json(options)) == options


def test_none_counts_as_absent():
    assert resolve("vmds", {"frames": None, "dsprites": None}) == resolve("vmds")


@pytest.mark.parametrize(
    ("video", "words"),
    [
        ({"frames": 0}, ("video.frames", "got 0", "from 1 to 1000")),
        ({"frames": 2.5}, ("video.frames", "got 2.5")),
        ({"sprites": [200, 200]}, ("video.sprites", "[200, 200]", "<= 32", "hide one another")),
        ({"sprites": [3, 1]}, ("video.sprites", "least <= most")),
        ({"sprites": 3}, ("video.sprites", "two whole numbers")),
        ({"sigma_px": "wide"}, ("video.sigma_px", "'wide'")),
        ({"tau_frames": float("nan")}, ("video.tau_frames", "nan")),
        ({"margin_px": -1}, ("video.margin_px", "at least 0")),
        ({"sprites": [3]}, ("video.sprites", "two whole numbers")),
        ({"margin_px": 32}, ("video.margin_px", "leaves no place", "below 32")),
        ({"sigma_px": 0}, ("video.sigma_px", "above 0")),
        ({"mask_threshold": 1.0}, ("video.mask_threshold", "below 1")),
        ({"edges": "covrage"}, ("video.edges", "did you mean 'coverage'?")),
        ({"frame": 3}, ("unknown key 'frame'", "did you mean 'frames'?")),
        ({"textures": "x"}, ("video.textures", "family: texvmds")),
        ({"stream": "torch-seed-0"}, ("video.stream", "family: spmot")),
        ({"dsprites": "f.npz", "height": 128, "width": 128}, ("video.dsprites", "64x64")),
    ],
)
def test_wrong_options_name_the_value_and_the_way_out(video, words):
    message = refused(video=video)
    for word in words:
        assert word in message


def test_all_mistakes_are_said_at_once():
    message = refused(video={"frames": 0, "edges": "x"}, scenario={"rotaton": {}})
    assert len(message.splitlines()) == 3
    assert "did you mean 'rotation'?" in message


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ({"rotation": {"step": [1, 2]}}, ("unknown option 'step'", "did you mean 'step_deg'?")),
        ({"rotation": {"step_deg": [40, 5]}}, ("[40, 5]", "[least, most], from 0 to 180")),
        ({"rotation": {"step_deg": 5}}, ("got 5", "[least, most]")),
        ({"color": {"saturation": [0, 2]}}, ("scenario.color.saturation", "from 0 to 1")),
        ({"mixed": {"step_deg": [1, 2]}}, ("takes no options", "size, rotation, color")),
        ({"mixed": {}, "size": {}}, ("'size' stands twice",)),
    ],
)
def test_wrong_scenarios(scenario, words):
    message = refused(scenario=scenario)
    for word in words:
        assert word in message


def test_scenarios_that_need_more_than_there_is():
    assert "occlusion need 2 sprites" in refused(
        video={"sprites": [1, 1]}, scenario={"occlusion": {}}
    )
    assert "'size' needs 6 frames, got 5" in refused(video={"frames": 5}, scenario={"size": {}})
    assert "is about colors" in refused("texvmds", scenario={"color": {}})


def test_scenarios_raise_the_least_number_of_sprites():
    assert resolve("vmds", {}, {"occlusion": {}}).sprites == (2, 4)
    assert resolve("vmds", {}, {"occlusion": {}, "swap": {}}).sprites == (4, 4)
    assert resolve("vmds", {}, {"crowd": {}}).sprites == (5, 10)

"""The real Cycles lists GPUs, takes one, and loses it, on a stand-in for a driver (fake_cuda.c)."""

import pytest

from robustclevr.errors import DeviceLostError, SetupError
from robustclevr.plan import make_plan
from robustclevr.recipe import load_recipes
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.run.doctor import examine
from robustclevr.run.generate import GenerateOptions, generate
from robustclevr.spec import load_dataset
from robustclevr.store.layout import Layout
from robustclevr.store.receipts import read_receipt

pytestmark = pytest.mark.blender

SMALL = (
    "splits.test.samples=2",
    "shard_size=2",
    "render.samples=1",
    "render.height=24",
    "render.width=32",
    "scene.min_pixels=20",
)


@pytest.fixture
def two_gpus(driver, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.fixture(scope="module")
def recipes():
    return load_recipes()


@pytest.fixture(scope="module")
def spec(recipes):
    return load_dataset("clevr", recipes, overrides=SMALL)


@pytest.mark.usefixtures("two_gpus")
def test_cycles_own_list_of_gpus_and_the_one_that_is_asked_for(spec, recipes):
    with BlenderProcess(RendererSetup((), device="auto")) as process:
        assert process.device == "cuda (Fake)"
        assert process.why.startswith("OptiX: libnvoptix.so.1 cannot be loaded")
        assert [gpu.address for gpu in process.survey.of("cuda")] == ["0000:01:00", "0000:02:00"]
        second = process.survey.of("cuda")[1]
    with BlenderProcess(RendererSetup(()).on(second)) as process:
        assert process.gpu == second
        split = next(split for split in spec.splits if split.name == "test")
        with pytest.raises(DeviceLostError, match=r"lost while rendering test/000000: .* in cu"):
            process.render(make_plan(split, recipes, root_seed=0, index=0))
        assert not process.alive


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("FAKE_CUDA_INIT", "100", r"the NVIDIA driver says CUDA_ERROR_NO_DEVICE"),
        ("FAKE_CUDA_COUNT", "0", r"the NVIDIA driver shows no GPU"),
    ],
)
def test_a_driver_without_a_gpu(monkeypatch, variable, value, reason):
    monkeypatch.setenv(variable, value)
    with pytest.raises(SetupError, match=rf"device 'cuda' is not here: CUDA: {reason}"):
        BlenderProcess(RendererSetup((), device="cuda"))


@pytest.mark.usefixtures("two_gpus")
def test_a_lost_gpu_is_left_for_the_cpu_and_the_bytes_are_those_of_the_cpu(spec, recipes, tmp_path):
    def make(name, **device):
        options = GenerateOptions(splits=("test",), workers=1, **device)
        summary = generate(spec, recipes, tmp_path / name, options, lambda _event: None)
        assert summary.exit_code == 0, summary.failures
        receipt = read_receipt("test", 0, Layout(tmp_path / name))
        assert receipt is not None
        return receipt

    lost = make("lost", device="cuda", on_device_loss="cpu")
    assert lost.device == "cpu"
    assert [retry.attempt for retry in lost.retries] == [1, 2]
    assert all(retry.reason.startswith("the GPU was lost while ") for retry in lost.retries)
    assert lost.retries[-1].reason.endswith("; next on the CPU")
    assert lost.sha256 == make("cpu", device="cpu").sha256


@pytest.mark.usefixtures("two_gpus")
def test_the_doctor_finds_a_gpu_that_is_listed_but_does_not_render(recipes, tmp_path):
    *_, device, _, _, _, render = examine(RendererSetup(()), recipes, tmp_path)
    assert device.state.startswith("cuda (Fake); OptiX: libnvoptix.so.1")
    assert (render.what, render.works, render.needed) == ("render", False, True)
    assert "the GPU was lost" in render.advice

"""The model against its definition written down in numpy, and what must hold of any model."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from robustclevr.baselines.slot_attention.attention import SlotAttention, shares_of
from robustclevr.baselines.slot_attention.config import CONFIGS, config_for, config_named
from robustclevr.baselines.slot_attention.grids import Slots, border_distances, cell_centers
from robustclevr.baselines.slot_attention.model import loss_of, make_model, to_input
from robustclevr.baselines.slot_attention.places import relative_coordinates
from robustclevr.errors import SpecError

SMALL = CONFIGS["sprites-32"]
PLAIN = replace(SMALL, places=False, even_contrast=False)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    x = np.exp(x - x.max(axis, keepdims=True))
    return x / x.sum(axis, keepdims=True)


def normalized(x, layer):
    scale, offset = (p.detach().numpy().astype(float) for p in (layer.weight, layer.bias))
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * scale + offset


def algorithm_1(module, features, noise):
    """Transcribe algorithm 1 of Locatello et al. 2020 in float64."""
    weights = {name: p.detach().numpy().astype(float) for name, p in module.named_parameters()}
    features = normalized(features, module.norm_features)
    keys, values = (features @ weights[f"{name}.weight"].T for name in ("key", "value"))
    slots = weights["mean"] + np.exp(weights["log_sigma"]) * noise
    size = slots.shape[-1]
    for _ in range(module.iterations):
        queries = normalized(slots, module.norm_slots) @ weights["query.weight"].T
        shares = softmax(keys @ queries.transpose(0, 2, 1) / np.sqrt(size), axis=2) + 1e-8
        found = (shares / shares.sum(1, keepdims=True)).transpose(0, 2, 1) @ values
        entering = found @ weights["gru.weight_ih"].T + weights["gru.bias_ih"]
        kept = slots @ weights["gru.weight_hh"].T + weights["gru.bias_hh"]
        reset, update = (
            sigmoid(entering[..., i * size : (i + 1) * size] + kept[..., i * size : (i + 1) * size])
            for i in range(2)
        )
        new = np.tanh(entering[..., 2 * size :] + reset * kept[..., 2 * size :])
        slots = (1 - update) * new + update * slots
        hidden = normalized(slots, module.norm_grown) @ weights["mlp.0.weight"].T
        hidden = np.maximum(hidden + weights["mlp.0.bias"], 0)
        slots = slots + hidden @ weights["mlp.2.weight"].T + weights["mlp.2.bias"]
    return slots


def test_slot_attention_is_algorithm_1():
    module = SlotAttention(PLAIN)
    generator = torch.Generator().manual_seed(1)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.3, generator=generator)
    features = torch.randn(2, 20, PLAIN.encoder_channels, generator=generator)
    noise = torch.randn(2, 4, PLAIN.slot_size, generator=generator)
    with torch.no_grad():
        states = module(features, noise).states.numpy()
    expected = algorithm_1(module, features.numpy().astype(float), noise.numpy().astype(float))
    np.testing.assert_allclose(states, expected, rtol=1e-4, atol=1e-5)


def test_slots_compete_and_each_takes_a_mean():
    scores = torch.tensor([[[0.0, 9.0, 0.0], [0.0, 0.0, 9.0]]])
    shares = shares_of(scores)
    torch.testing.assert_close(shares.sum(dim=2), torch.ones(1, 2))
    # The first cell is asked for alike by both; each has one of its own.
    assert shares[0, 0, 1] == pytest.approx(1 / 1.5, abs=1e-3)
    assert shares[0, 0, 2] < 1e-3


@pytest.mark.parametrize("config", [SMALL, PLAIN], ids=["places", "plain"])
def test_slots_have_no_order(config):
    model = make_model(config, seed=0)
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(2, 3, 32, 32, generator=generator)
    noise = torch.randn(2, 5, config.noise_size, generator=generator)
    order = torch.tensor([3, 0, 4, 1, 2])
    with torch.no_grad():
        plain, permuted = model(images, noise), model(images, noise[:, order])
    torch.testing.assert_close(permuted.masks, plain.masks[:, order], rtol=1e-3, atol=1e-5)
    torch.testing.assert_close(permuted.image, plain.image, rtol=1e-3, atol=1e-5)
    torch.testing.assert_close(plain.masks.sum(dim=1), torch.ones(2, 32, 32))


def test_a_model_makes_as_many_slots_as_it_is_given():
    model = make_model(SMALL, seed=0)
    for slots in (1, 3, 9):
        decoded = model(torch.zeros(1, 3, 32, 32), torch.zeros(1, slots, SMALL.noise_size))
        assert decoded.masks.shape == (1, slots, 32, 32)


def test_places_are_the_means_of_what_slots_attend_to():
    model = make_model(SMALL, seed=0)
    features = torch.zeros(1, 64, SMALL.encoder_channels)  # nothing to see: position alone decides
    noise = torch.zeros(1, 2, SMALL.noise_size)
    noise[0, :, -1] = torch.tensor([-1.0, 1.0])  # one starts left, one right
    with torch.no_grad():
        slots = model.attention(features, noise)
    (left, right) = slots.places[0]
    assert left[1] < -0.4 and right[1] > 0.4
    torch.testing.assert_close(left[1], -right[1])
    torch.testing.assert_close(slots.places[0, :, 0], torch.zeros(2), rtol=0, atol=1e-6)
    # Down the image both see all of it: eight rows, evenly.
    even = cell_centers(8, 8)[:, 0].square().mean().sqrt()
    torch.testing.assert_close(slots.extents[0, :, 0], even.expand(2), rtol=1e-3, atol=1e-3)


def test_coordinates_by_hand():
    centers = cell_centers(2, 4)
    assert centers.tolist()[:5] == [
        [-0.5, -0.75],
        [-0.5, -0.25],
        [-0.5, 0.25],
        [-0.5, 0.75],
        [0.5, -0.75],
    ]
    borders = border_distances(3, 2)
    assert borders[0].tolist() == [0, 0, 1, 1] and borders[3].tolist() == [0.5, 1, 0.5, 0]
    slots = Slots(
        torch.zeros(1, 1, 8), torch.tensor([[[-0.5, 0.25]]]), torch.tensor([[[1.0, 0.5]]])
    )
    relative = relative_coordinates((2, 4), slots)
    assert relative[0, 0, 2].tolist() == [0, 0, -1, -1]
    assert relative[0, 0, 7].tolist() == [1, 1, 0, 0]
    assert relative_coordinates((2, 4), Slots(torch.zeros(1, 1, 8))) is None


def test_inputs_by_hand():
    images = torch.zeros(1, 2, 2, 3, dtype=torch.uint8)
    images[0, 0, 0] = 255
    plain = to_input(images, PLAIN)
    assert plain.shape == (1, 3, 2, 2) and plain[0, :, 0, 0].tolist() == [1, 1, 1]
    assert plain[0, :, 1, 1].tolist() == [-1, -1, -1]
    even = to_input(images, SMALL)
    assert even.mean() == pytest.approx(0, abs=1e-6) and even.square().mean() == pytest.approx(
        1, rel=3e-3
    )
    # A quarter is white: mean 1/4, deviation sqrt(3)/4 of the difference.
    assert even[0, 0, 0, 0] == pytest.approx(3**0.5, rel=3e-3)
    flat = to_input(torch.full((1, 2, 2, 3), 77, dtype=torch.uint8), SMALL)
    assert flat.abs().max() < 1e-3


def test_the_loss_is_the_mean_squared_error():
    model = make_model(PLAIN, seed=0)
    images = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(3))
    decoded = model(images, torch.zeros(2, 3, PLAIN.noise_size))
    expected = np.mean((decoded.image.detach().numpy() - images.numpy()) ** 2)
    assert loss_of(decoded, images).item() == pytest.approx(expected, rel=1e-5)


def test_weights_follow_from_the_seed_and_leave_torch_alone():
    torch.manual_seed(5)
    first = make_model(SMALL, seed=0)
    drawn = torch.rand(1)
    torch.manual_seed(6)
    second, third = make_model(SMALL, seed=0), make_model(SMALL, seed=1)
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(a, b)
    assert any(
        not torch.equal(a, b) for a, b in zip(first.parameters(), third.parameters(), strict=True)
    )
    torch.manual_seed(5)
    assert torch.equal(torch.rand(1), drawn)


def test_the_published_shapes():
    model = make_model(CONFIGS["clevr-128"], seed=0)
    shapes = {name: tuple(p.shape) for name, p in model.named_parameters()}
    assert shapes["attention.key.weight"] == (128, 64)
    assert shapes["attention.mlp.0.weight"] == (256, 128)
    assert [shapes[f"encoder.convolutions.{2 * i}.weight"][1:] for i in range(4)] == [
        (3, 5, 5),
        *[(64, 5, 5)] * 3,
    ]
    assert CONFIGS["clevr-128"].cells == (128, 128) and model.decoder.size == (8, 8)
    assert sum(isinstance(layer, torch.nn.ConvTranspose2d) for layer in model.decoder.layers) == 5


def test_learning_rates_by_hand():
    published = CONFIGS["clevr-128"]
    assert published.rate(4_999) == pytest.approx(2e-4 * 0.5 ** (4_999 / 100_000))
    assert published.rate(100_000) == pytest.approx(2e-4)
    assert published.rate(200_000) == pytest.approx(1e-4)


def test_names_of_configurations():
    assert config_for(64).name == "sprites-32" and config_for(240).name == "clevr-128"
    with pytest.raises(SpecError, match="did you mean 'clevr-128'"):
        config_named("clevr128")
    with pytest.raises(SpecError, match="0 slots"):
        SMALL.with_options(slots=0)
    assert SMALL.with_options(batch=3, steps=7).batch == 3

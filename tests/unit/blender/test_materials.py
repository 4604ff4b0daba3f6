from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.blender


@pytest.fixture
def materials():
    from robustclevr.blender import materials, session

    session.reset()
    return materials


@pytest.fixture
def look(make_plan, tmp_path):
    """Render a scene and return its pixels and labels."""

    def render(record, *, size=(96, 128), samples=16):
        from robustclevr.blender.sample import SampleRenderer

        renderer = SampleRenderer({}, threads=2, device="cpu")
        renderer.render(make_plan(record, size=size, samples=samples), tmp_path)
        return np.load(tmp_path / "0.npy"), np.load(tmp_path / "labels.npy")

    return render


def nodes_of(material, kind):
    return [node for node in material.node_tree.nodes if node.bl_idname == kind]


def test_rubber_has_clevrs_numbers(materials):
    rubber = materials.rubber()
    (velvet,) = nodes_of(rubber, "ShaderNodeBsdfSheen")
    (coat,) = nodes_of(rubber, "ShaderNodeBsdfAnisotropic")
    indices = sorted(
        node.inputs["IOR"].default_value for node in nodes_of(rubber, "ShaderNodeFresnel")
    )
    assert velvet.distribution == "ASHIKHMIN"
    assert velvet.inputs["Roughness"].default_value == pytest.approx(0.6)
    assert coat.distribution == "BECKMANN"
    # Squared by Blender since 2.80: 0.35 in the file's sense.
    assert coat.inputs["Roughness"].default_value ** 2 == pytest.approx(0.35)
    assert indices == pytest.approx([1.2, 1.4])


def test_metal_has_clevrs_numbers(materials):
    metal = materials.metal()
    lobes = nodes_of(metal, "ShaderNodeBsdfAnisotropic")
    (mix,) = nodes_of(metal, "ShaderNodeMixShader")
    assert [lobe.distribution for lobe in lobes] == ["GGX", "GGX"]
    assert [lobe.inputs["Anisotropy"].default_value for lobe in lobes] == pytest.approx([0.25] * 2)
    roughness = [lobe.inputs["Roughness"].default_value ** 2 for lobe in lobes]
    assert roughness == pytest.approx([0.2, 0.01])
    assert mix.inputs["Fac"].default_value == pytest.approx(0.6)
    assert mix.inputs[2].links[0].from_node == lobes[1]


def test_color_comes_from_the_object(look, rest_scene, thing):
    """Two rubber balls share a material and a mesh and still have their own colors."""
    record = rest_scene(
        thing("sphere", at=(-1.2, -1.2), rgba=(0.6, 0.05, 0.05, 1.0)),
        thing("sphere", at=(1.2, 1.2), rgba=(0.05, 0.05, 0.6, 1.0)),
        height=96,
        width=128,
    )
    pixels, labels = look(record)
    red, blue = (pixels[labels == number].mean(axis=0) for number in (1, 2))
    assert red[0] > 3 * red[2]
    assert blue[2] > 3 * blue[0]


def test_metal_mirrors_and_rubber_does_not(look, rest_scene, thing):
    """A mirror shows bright lamps beside a black room; a matte ball changes slowly."""
    grey = (0.4, 0.4, 0.4, 1.0)
    contrast = {}
    for material in ("metal", "rubber"):
        record = rest_scene(thing("sphere", material, rgba=grey), height=96, width=128)
        pixels, labels = look(record)
        ball = pixels[labels == 1].mean(axis=1)
        contrast[material] = np.percentile(ball, 99.5) / np.median(ball)
    assert contrast["metal"] > 4
    assert contrast["rubber"] < 3

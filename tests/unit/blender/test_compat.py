"""The differences between Blender versions, as far as bpy 4.5 alone can show them."""

import bpy
import pytest

from robustclevr.blender import compat
from robustclevr.errors import RenderError

pytestmark = pytest.mark.blender


@pytest.fixture
def tree():
    scene = bpy.data.scenes.new("test")
    tree, _ = compat.new_compositor(scene)
    yield tree
    compat.remove_compositor(tree)
    bpy.data.scenes.remove(scene)


def test_a_new_compositor_is_empty_but_for_its_output():
    scene = bpy.data.scenes.new("test")
    tree, output = compat.new_compositor(scene)
    assert len(tree.nodes) == 1
    assert output.node == tree.nodes[0]
    assert not output.is_output
    compat.remove_compositor(tree)
    bpy.data.scenes.remove(scene)


@pytest.mark.parametrize(("idname", "option"), compat._MENUS_5)
def test_menu_labels_are_those_that_blender_shows(tree, idname, option):
    # Blender 5's menu sockets take the label that 4.5 shows for the word.
    _, labels = compat._MENUS_5[idname, option]
    items = compat.new_node(tree, idname).bl_rna.properties[option].enum_items
    assert set(labels) <= set(items.keys())
    for item in items:
        assert labels.get(item.identifier, compat.label_of(item.identifier)) == item.name


def test_options_are_set(tree):
    node = compat.new_node(tree, "CompositorNodeGlare")
    compat.set_option(node, "glare_type", "SIMPLE_STAR")
    assert node.glare_type == "SIMPLE_STAR"


def test_gamma_is_found_in_every_version(tree):
    node = compat.new_node(tree, "CompositorNodeGamma")
    assert [socket.name for socket in node.inputs][1] == "Gamma"


def test_sockets_are_found_by_identifier_though_disabled(tree):
    node = compat.new_node(tree, "CompositorNodeGlare")
    compat.set_option(node, "glare_type", "SIMPLE_STAR")
    assert compat.find_socket(node.inputs, "Streaks Angle").identifier == "Streaks Angle"


def test_a_missing_socket_names_the_nearest_one(tree):
    node = compat.new_node(tree, "CompositorNodeBlur")
    with pytest.raises(RenderError, match=r"no socket 'Sise' of CompositorNodeBlur.*'Size'"):
        compat.find_socket(node.inputs, "Sise")


def test_index_pass_is_found_where_it_is_rendered():
    scene = bpy.data.scenes.new("test")
    scene.render.engine = "CYCLES"
    scene.view_layers[0].use_pass_object_index = True
    tree, _ = compat.new_compositor(scene)
    layers = compat.new_node(tree, "CompositorNodeRLayers")
    layers.scene = scene
    assert compat.find_pass(layers.outputs, "IndexOB").enabled
    compat.remove_compositor(tree)
    bpy.data.scenes.remove(scene)


def test_materials_get_nodes():
    material = bpy.data.materials.new("test")
    assert len(compat.enable_nodes(material).nodes) > 0
    bpy.data.materials.remove(material)

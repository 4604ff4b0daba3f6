"""What differs between Blender 4.5 and 5.x, and nothing else.

Enters: datablocks of the running Blender. Leaves: the same datablocks, set up. Every other
module, and every recipe, is written once for all versions: it names nodes, sockets and options
as Blender 4.5 does, and this module translates (differences measured on bpy 4.5.15 and 5.3.0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from robustclevr.errors import RenderError, suggest

if TYPE_CHECKING:
    from collections.abc import Iterable

_FIRST_WITH_GROUP_COMPOSITOR = (5, 0)
"""Since 5.0 a compositor is a node group that the scene points to."""

_NODES_5 = {"CompositorNodeGamma": "ShaderNodeGamma"}

_MENUS_5: dict[tuple[str, str], tuple[str, dict[str, str]]] = {
    ("CompositorNodeBlur", "filter_type"): (
        "Type",
        {"GAUSS": "Gaussian", "FAST_GAUSS": "Fast Gaussian", "QUAD": "Quadratic"},
    ),
    ("CompositorNodeFilter", "filter_type"): (
        "Type",
        {"SHARPEN": "Box Sharpen", "SHARPEN_DIAMOND": "Diamond Sharpen"},
    ),
    ("CompositorNodeGlare", "glare_type"): ("Type", {}),
    ("CompositorNodeGlare", "quality"): ("Quality", {}),
    ("CompositorNodeLensdist", "distortion_type"): ("Type", {}),
    ("CompositorNodeMapUV", "filter_type"): ("Interpolation", {}),
    ("CompositorNodePremulKey", "mapping"): (
        "Type",
        {"STRAIGHT_TO_PREMUL": "To Premultiplied", "PREMUL_TO_STRAIGHT": "To Straight"},
    ),
    ("CompositorNodeRotate", "filter_type"): ("Interpolation", {}),
    ("CompositorNodeScale", "interpolation"): ("Interpolation", {}),
    ("CompositorNodeScale", "space"): ("Type", {}),
    ("CompositorNodeSetAlpha", "mode"): (
        "Type",
        {"APPLY": "Apply Mask", "REPLACE_ALPHA": "Replace Alpha"},
    ),
    ("CompositorNodeTransform", "filter_type"): ("Interpolation", {}),
}
"""4.5's enumerated properties that are menu sockets in 5.x: the socket, and labels that do not
follow from the 4.5 word by writing SIMPLE_STAR as "Simple Star"."""

_PASSES_5 = {"IndexOB": "Object Index", "IndexMA": "Material Index", "DiffDir": "Diffuse Direct"}


def is_five() -> bool:
    """Tell whether the running Blender is 5.0 or newer."""
    return bool(bpy.app.version >= _FIRST_WITH_GROUP_COMPOSITOR)


def new_compositor(scene: Any) -> tuple[Any, Any]:
    """Give a scene an empty compositor.

    Parameters
    ----------
    scene : bpy.types.Scene
        Any compositor that it had is no longer used.

    Returns
    -------
    tree : bpy.types.NodeTree
    output : bpy.types.NodeSocket
        Input socket to link the image to.
    """
    if not is_five():
        scene.use_nodes = True
        scene.node_tree.nodes.clear()
        output = scene.node_tree.nodes.new("CompositorNodeComposite")
        return scene.node_tree, output.inputs["Image"]
    tree: Any = bpy.data.node_groups.new(scene.name, "CompositorNodeTree")
    # No input socket on the group: it alone would make Blender render the scene (5.3).
    tree.interface.new_socket(name="Image", in_out="OUTPUT", socket_type="NodeSocketColor")
    if hasattr(scene, "compositor_effects"):  # newer than 5.0; the older name warns there
        scene.compositor_effects.new(scene.name).node_group = tree
    else:
        scene.compositing_node_group = tree
    return tree, tree.nodes.new("NodeGroupOutput").inputs["Image"]


def remove_compositor(tree: Any) -> None:
    """Remove what :func:`new_compositor` added to ``bpy.data``; call it before removing the scene.

    In 4.5 the tree is a part of its scene and goes with it.
    """
    if is_five():
        bpy.data.node_groups.remove(tree)


def new_node(tree: Any, idname: str) -> Any:
    """Add a node by the name that its type has in Blender 4.5.

    Raises
    ------
    RuntimeError
        From Blender, if this version has no such node.
    """
    return tree.nodes.new(_NODES_5.get(idname, idname) if is_five() else idname)


def set_option(node: Any, name: str, value: Any) -> None:
    """Set a node's property, or the menu socket that replaced it.

    Parameters
    ----------
    node : bpy.types.Node
    name : str
        Property in Blender 4.5, such as ``glare_type``.
    value : object
        Value in Blender 4.5, such as ``"SIMPLE_STAR"``.
    """
    idname = _idname_45(node)
    if is_five() and (idname, name) in _MENUS_5:
        socket_name, labels = _MENUS_5[idname, name]
        find_socket(node.inputs, socket_name).default_value = labels.get(value, label_of(value))
    else:
        setattr(node, name, value)


def label_of(word: str) -> str:
    """Return the label that Blender shows for most of its words: SIMPLE_STAR is "Simple Star"."""
    return word.replace("_", " ").title()


def find_socket(sockets: Iterable[Any], name: str) -> Any:
    """Return the socket with this identifier, or else this label, enabled or not.

    Blender's own look-up by name passes over disabled sockets, and the labels differ between
    versions where the identifiers do not.

    Raises
    ------
    RenderError
        If there is none; names the nearest one.
    """
    sockets = list(sockets)
    for attribute in ("identifier", "name"):
        for socket in sockets:
            if getattr(socket, attribute) == name:
                return socket
    where = f" of {sockets[0].node.bl_idname}" if sockets else ""
    hint = suggest(name, [socket.identifier for socket in sockets])
    raise RenderError(f"no socket '{name}'{where}; {hint}")


def find_pass(sockets: Iterable[Any], name: str) -> Any:
    """Return the Render Layers output of the pass that Blender 4.5 calls ``name``."""
    return find_socket(sockets, pass_name(name))


def pass_name(name: str) -> str:
    """Return this Blender's name of a pass, such as ``IndexOB``, given 4.5's."""
    return _PASSES_5.get(name, name) if is_five() else name


def enable_nodes(datablock: Any) -> Any:
    """Return the node tree of a world or material; before 5.0 it has to be switched on."""
    if not is_five():
        datablock.use_nodes = True
    return datablock.node_tree


def _idname_45(node: Any) -> str:
    for old, new in _NODES_5.items():
        if node.bl_idname == new:
            return old
    return str(node.bl_idname)

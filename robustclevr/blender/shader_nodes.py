"""Building the node tree of a material, with the names that Blender 4.5 and 5.x share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy

from robustclevr.blender.compat import enable_nodes


class ShaderNodes:
    """A node tree under construction."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        tree.nodes.clear()

    def add(self, kind: str, properties: Mapping[str, object] | None = None, **inputs: Any) -> Any:
        """Add a node; an input takes a socket or a value, and is named with _ for a space."""
        node = self.tree.nodes.new(kind)
        for name, value in (properties or {}).items():
            setattr(node, name, value)
        for name, value in inputs.items():
            socket = node.inputs[name.replace("_", " ")]
            if isinstance(value, bpy.types.NodeSocket):
                self.tree.links.new(value, socket)
            else:
                socket.default_value = value
        return node

    def calculate(self, operation: str, a: Any, b: Any = 0.0, *, clamp: bool = False) -> Any:
        """Return the output of a Math node: ``MULTIPLY``, ``POWER``, …; a and b as for ``add``."""
        node = self.add("ShaderNodeMath", {"operation": operation, "use_clamp": clamp})
        for socket, value in zip(node.inputs, (a, b), strict=False):
            if isinstance(value, bpy.types.NodeSocket):
                self.tree.links.new(value, socket)
            else:
                socket.default_value = value
        return node.outputs[0]

    def mix(self, factor: Any, first: Any, second: Any) -> Any:
        """Mix two shaders; factor is the share of the second."""
        node = self.add("ShaderNodeMixShader", Fac=factor)
        self.tree.links.new(first, node.inputs[1])
        self.tree.links.new(second, node.inputs[2])
        return node.outputs[0]


def new_material(name: str) -> tuple[bpy.types.Material, ShaderNodes]:
    """Return a material without any node, and its tree."""
    material = bpy.data.materials.new(name)
    return material, ShaderNodes(enable_nodes(material))

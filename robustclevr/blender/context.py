"""What a recipe's ``build`` works with: the image as a socket, its numbers, and node helpers.

Enters: the node tree in which the image travels, and one step of a Plan. Leaves: nodes. The
helpers name nodes, sockets and options as Blender 4.5 does and work in 5.x too; a recipe that
uses them alone runs in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bpy

from robustclevr.blender import compat
from robustclevr.records import Value

Node = Any
"""A ``bpy.types.Node``."""

Socket = Any
"""A ``bpy.types.NodeSocket``; as an argument, also a constant to put there."""


@dataclass(frozen=True)
class CompositorContext:
    """One application of a recipe, on its way into a compositor.

    Attributes
    ----------
    image : Socket
        Output socket with the scene-linear Rec.709 RGBA image, unclipped.
    parameters : mapping of str to Value
        All parameters of the recipe, clamped to their safe range; those in pixels are scaled
        from 240 rows to :attr:`height`.
    seed : int
        Seed of pixel noise, in [0, 2**24): exact as a float32.
    height, width : int
        Size of the image. [px]
    passes : mapping of str to Socket
        Output sockets of the passes that the recipe ``needs``.
    tree : bpy.types.NodeTree
        Where the nodes go; the helpers below are enough for most recipes.

    Examples
    --------
    A recipe that darkens::

        def build(context):
            return context.mix("MULTIPLY", context.number("factor"), context.image, (0, 0, 0, 1))
    """

    image: Socket
    parameters: Mapping[str, Value]
    seed: int
    height: int
    width: int
    passes: Mapping[str, Socket]
    tree: Any

    def number(self, name: str) -> float:
        """Return a parameter as a float."""
        return float(self.parameters[name])

    def node(self, idname: str, inputs: Mapping[str, Socket] | None = None, **options: Any) -> Node:
        """Add a node.

        Parameters
        ----------
        idname : str
            Type of the node in Blender 4.5, such as ``CompositorNodeBlur``.
        inputs : mapping of str to Socket
            By identifier (4.5's) of the input socket: the output socket to link, or a constant.
        **options : object
            Properties in 4.5, set before the inputs; menus go by 4.5's word in 5.x as well.

        Returns
        -------
        Node

        Raises
        ------
        RenderError
            If the node has no such input; names the nearest one.
        """
        node = compat.new_node(self.tree, idname)
        for name, value in options.items():
            compat.set_option(node, name, value)
        for name, value in (inputs or {}).items():
            self.feed(compat.find_socket(node.inputs, name), value)
        return node

    def feed(self, target: Socket, value: Socket) -> None:
        """Link an output socket to the input socket ``target``, or put a constant there."""
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, target)
        else:
            target.default_value = value

    def mix(self, blend: str, factor: Socket, a: Socket, b: Socket) -> Socket:
        """Blend two RGBA images without clamping; the result has the alpha of ``a``.

        Parameters
        ----------
        blend : str
            ``MIX``, ``ADD``, ``MULTIPLY``, …: ``blend_type`` of Blender's Mix node.
        factor : Socket
            0 gives ``a``.
        a, b : Socket
            Images, or RGBA 4-tuples.
        """
        node = self.node(
            "ShaderNodeMix",
            data_type="RGBA",
            blend_type=blend,
            clamp_factor=False,
            clamp_result=False,
        )
        for name, value in (("Factor_Float", factor), ("A_Color", a), ("B_Color", b)):
            self.feed(compat.find_socket(node.inputs, name), value)
        return compat.find_socket(node.outputs, "Result_Color")

    def math(self, operation: str, a: Socket, b: Socket = 0.0, *, clamp: bool = False) -> Socket:
        """Calculate with single numbers.

        Parameters
        ----------
        operation : str
            ``MULTIPLY``, ``FLOOR``, …: one of Blender's Math node.
        a, b : Socket
        clamp : bool
            Limit the result to [0, 1].
        """
        node = self.node("ShaderNodeMath", operation=operation, use_clamp=clamp)
        self.feed(node.inputs[0], a)
        self.feed(node.inputs[1], b)
        return node.outputs[0]

    def gamma(self, image: Socket, exponent: Socket) -> Socket:
        """Raise every positive channel but alpha to a power; others stay as they are."""
        node = self.node("CompositorNodeGamma")
        self.feed(node.inputs[0], image)
        self.feed(node.inputs[1], exponent)
        return node.outputs[0]

    def channels(self, image: Socket) -> tuple[Socket, Socket, Socket, Socket]:
        """Split an image into red, green, blue and alpha."""
        red, green, blue, alpha = self.node("CompositorNodeSeparateColor", {"Image": image}).outputs
        return red, green, blue, alpha

    def combine(self, red: Socket, green: Socket, blue: Socket, alpha: Socket = 1.0) -> Socket:
        """Join single channels to an image."""
        node = self.node("CompositorNodeCombineColor")
        for socket, value in zip(node.inputs, (red, green, blue, alpha), strict=True):
            self.feed(socket, value)
        return node.outputs[0]

    def with_alpha(self, image: Socket, alpha: Socket) -> Socket:
        """Return the image with another alpha; colors stay as they are."""
        node = self.node(
            "CompositorNodeSetAlpha", {"Image": image, "Alpha": alpha}, mode="REPLACE_ALPHA"
        )
        return node.outputs[0]

    def pixel_coordinates(self) -> Socket:
        """Return the vector (column, row, 0) of each pixel, rows counted from the bottom."""
        node = self.node("CompositorNodeImageCoordinates", {"Image": self.image})
        return node.outputs["Pixel"]

    def white_noise(self, layer: int = 0) -> tuple[Socket, Socket, Socket]:
        """Return three independent numbers a pixel, uniform in [0, 1), that follow the seed.

        Parameters
        ----------
        layer : int
            Another one gives other numbers, for recipes that need more than three.
        """
        place = self.pixel_coordinates()
        if layer:
            shifted = self.node("ShaderNodeVectorMath", operation="ADD")
            self.feed(shifted.inputs[0], place)
            shifted.inputs[1].default_value = (0.0, 0.0, float(layer))
            place = shifted.outputs[0]
        node = self.node(
            "ShaderNodeTexWhiteNoise",
            {"Vector": place, "W": float(self.seed)},
            noise_dimensions="4D",
        )
        return self.channels(node.outputs["Color"])[:3]

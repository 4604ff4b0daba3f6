"""CLEVR's two materials as shader nodes: rubber and metal, and the plain ground.

The node trees are those of ``Rubber.blend`` and ``MyMetal.blend`` of clevr-dataset-gen, in the
nodes that Blender has had since 4.0: Velvet became Sheen (Ashikhmin), Glossy and Anisotropic
became one node. Each material is made once a scene; its color comes from the object that wears
it, so that objects of one shape and material share one mesh.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import bpy

from robustclevr.blender.shader_nodes import new_material

RUBBER_IOR = 1.2  # the group's default in Rubber.blend
RUBBER_ROUGHNESS = 0.35**0.5
RUBBER_SHEEN_ROUGHNESS = 0.6  # Velvet's sigma
RUBBER_GLOSS = 0.8  # grey of the glossy coat

METAL_ROUGHNESS = (0.2**0.5, 0.01**0.5)
METAL_SHARP_SHARE = 0.6  # share of the second lobe
METAL_ANISOTROPY = 0.25

GROUND_GREY = 0.8  # what Cycles gives a mesh without a material: CLEVR's ground has none


def rubber() -> bpy.types.Material:
    """Return rubber: diffuse with a velvety rim, under a rough dielectric coat."""
    material, nodes = new_material("rubber")
    color = nodes.add("ShaderNodeObjectInfo").outputs["Color"]
    diffuse = nodes.add("ShaderNodeBsdfDiffuse", Color=color, Roughness=0.0)
    velvet = nodes.add(
        "ShaderNodeBsdfSheen",
        {"distribution": "ASHIKHMIN"},
        Color=color,
        Roughness=RUBBER_SHEEN_ROUGHNESS,
    )
    coat = nodes.add(
        "ShaderNodeBsdfAnisotropic",
        {"distribution": "BECKMANN"},
        Color=(RUBBER_GLOSS, RUBBER_GLOSS, RUBBER_GLOSS, 1.0),
        Roughness=RUBBER_ROUGHNESS,
        Anisotropy=0.0,
    )
    rim = nodes.add("ShaderNodeFresnel", IOR=RUBBER_IOR + 0.2)
    base = nodes.mix(rim.outputs[0], diffuse.outputs[0], velvet.outputs[0])
    edge = nodes.add("ShaderNodeFresnel", IOR=RUBBER_IOR)
    nodes.add("ShaderNodeOutputMaterial", Surface=nodes.mix(edge.outputs[0], base, coat.outputs[0]))
    return material


def metal() -> bpy.types.Material:
    """Return metal: a sharp and a rough reflection, both tinted."""
    material, nodes = new_material("metal")
    color = nodes.add("ShaderNodeObjectInfo").outputs["Color"]
    rough, sharp = (
        nodes.add(
            "ShaderNodeBsdfAnisotropic",
            {"distribution": "GGX"},
            Color=color,
            Roughness=roughness,
            Anisotropy=METAL_ANISOTROPY,
            Rotation=0.0,
        )
        for roughness in METAL_ROUGHNESS
    )
    surface = nodes.mix(METAL_SHARP_SHARE, rough.outputs[0], sharp.outputs[0])
    nodes.add("ShaderNodeOutputMaterial", Surface=surface)
    return material


def plain_ground() -> bpy.types.Material:
    """Return the ground's plain matte grey."""
    material, nodes = new_material("ground")
    grey = (GROUND_GREY, GROUND_GREY, GROUND_GREY, 1.0)
    diffuse = nodes.add("ShaderNodeBsdfDiffuse", Color=grey, Roughness=0.0)
    nodes.add("ShaderNodeOutputMaterial", Surface=diffuse.outputs[0])
    return material


MATERIALS: Mapping[str, Callable[[], bpy.types.Material]] = MappingProxyType(
    {"rubber": rubber, "metal": metal}
)
"""Material name of a scene object to what makes it."""

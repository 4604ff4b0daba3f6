"""All that one sample needs, as JSON: a renderer needs the Plan, the recipes and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robustclevr.records.draw import Draw, Value
from robustclevr.records.scene import Scene

PLAN_VERSION = 1


@dataclass(frozen=True)
class Step:
    """One application of a recipe.

    Attributes
    ----------
    node, recipe : str
        Node of the DAG and id of the recipe it applies.
    parameters : mapping of str to Value
        Clamped to the recipe's safe range; pixel-valued ones for an image 240 pixels high.
    severity : float
        The node's severity, in [0, 1]; at 0 the step leaves the image as it is.
    seed : int
        Seed of pixel noise, in [0, 2**24).
    mask_instant : str
        Where the image shows a span of time: the instant of it that the labels show, such as
        ``shutter center``. Empty elsewhere.
    """

    node: str
    recipe: str
    parameters: Mapping[str, Value]
    severity: float
    seed: int
    mask_instant: str = ""


@dataclass(frozen=True)
class RenderPass:
    """One Cycles render: the scene with all scene-stage steps of the images that share it."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class ImagePlan:
    """One image to make.

    Attributes
    ----------
    variant : str
        ``clean``, ``joint`` or a node id; names the files.
    render : int
        Index into :attr:`Plan.renders`.
    steps : tuple of Step
        Image-stage steps in the order in which they are applied.
    encoded : tuple of Step
        Steps on the 8-bit image, after all others.
    """

    variant: str
    render: int
    steps: tuple[Step, ...]
    encoded: tuple[Step, ...] = ()


@dataclass(frozen=True)
class RenderSettings:
    """How Cycles renders.

    Attributes
    ----------
    height, width : int
        [px]
    samples : int
        Paths a pixel.
    denoise : bool
        OpenImageDenoise; its output is not promised to be the same bit for bit.
    seed : int
        Cycles' seed, the same for all renders of a sample. In [0, 2**31).
    """

    height: int
    width: int
    samples: int
    denoise: bool
    seed: int


@dataclass(frozen=True)
class Choice:
    """How the worst of several candidates was found.

    Attributes
    ----------
    metric : str
        Similarity to the clean image: ``ssim`` or ``psnr``.
    over : tuple of str
        Parameters (``node.parameter``) in which the candidates differ.
    candidates : tuple of mapping of str to Value
        What each holds the parameters at; the first is the draw itself.
    scores : tuple of float
        Similarity of each candidate's joint image.
    chosen : int
        Index of the lowest score.
    """

    metric: str
    over: tuple[str, ...]
    candidates: tuple[Mapping[str, Value], ...]
    scores: tuple[float, ...]
    chosen: int


@dataclass(frozen=True)
class Plan:
    """One sample of an image family.

    Attributes
    ----------
    version : int
        :data:`PLAN_VERSION` when it was made.
    split, index, root_seed : str, int, int
        The sample's name.
    draw : Draw or None
        None for a dataset without a DAG.
    scene : Scene
    settings : RenderSettings
    outputs : tuple of str
        Some of image, mask, amodal, depth, normal.
    renders : tuple of RenderPass
        Element 0 has no steps: the clean render.
    images : tuple of ImagePlan
        In the order of the DAG.
    choice : Choice or None
        For a sample that was chosen among candidates.
    """

    version: int
    split: str
    index: int
    root_seed: int
    draw: Draw | None
    scene: Scene
    settings: RenderSettings
    outputs: tuple[str, ...]
    renders: tuple[RenderPass, ...]
    images: tuple[ImagePlan, ...]
    choice: Choice | None = None

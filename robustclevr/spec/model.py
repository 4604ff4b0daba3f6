"""Valid specs as frozen records: what every later stage reads instead of YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from robustclevr.pictures import PictureOptions
from robustclevr.recipe import Recipe
from robustclevr.records import SceneOptions, VideoOptions
from robustclevr.spec.expression import Expression


@dataclass(frozen=True)
class Distribution:
    """A distribution with constant arguments.

    Attributes
    ----------
    name : str
        Pyro's name, or ``DiscreteUniform``, ``Categorical``.
    arguments : mapping of str to float or tuple of float
        By canonical argument name, all of them, defaults included.
    """

    name: str
    arguments: Mapping[str, float | tuple[float, ...]]


@dataclass(frozen=True)
class NoiseSpec:
    """One exogenous variable."""

    name: str
    distribution: Distribution
    text: str
    line: int


@dataclass(frozen=True)
class Assignment:
    """How one parameter of a node is set: by a formula, or by a literal.

    Exactly one of ``formula`` and ``literal`` is not None.
    """

    parameter: str
    formula: Expression | None
    literal: bool | str | None
    text: str
    line: int


@dataclass(frozen=True)
class NodeSpec:
    """One node of a DAG.

    Attributes
    ----------
    id : str
    recipe : Recipe or None
        None for a latent node.
    parents : tuple of str
    when : Expression or None
        The node is inactive where this is false.
    when_text : str
        Source text of ``when``, or empty.
    noise : tuple of NoiseSpec
    assignments : tuple of Assignment
        In file order; a formula may read the parameters assigned above it.
    severity : Assignment or None
        Set instead of parameters; goes through the recipe's curve.
    line : int
    """

    id: str
    recipe: Recipe | None
    parents: tuple[str, ...]
    when: Expression | None
    when_text: str
    noise: tuple[NoiseSpec, ...]
    assignments: tuple[Assignment, ...]
    severity: Assignment | None
    line: int

    @property
    def latent(self) -> bool:
        """True for a node that touches no pixels."""
        return self.recipe is None


@dataclass(frozen=True)
class DagSpec:
    """A valid DAG.

    Attributes
    ----------
    name, summary, source : str
    nodes : tuple of NodeSpec
        In the order in which they are drawn and applied: topological, ties by ``order:`` or file.
    file : str
        Where it was read, for messages.
    document : mapping
        The parsed YAML, JSON-safe: what is stored in ``dataset.json`` and hashed.
    """

    name: str
    summary: str
    source: str
    nodes: tuple[NodeSpec, ...]
    file: str
    document: Mapping[str, object]

    def node(self, node_id: str) -> NodeSpec:
        """Return a node by id; KeyError if there is none."""
        return self._by_id[node_id]

    @cached_property
    def _by_id(self) -> dict[str, NodeSpec]:
        return {node.id: node for node in self.nodes}

    def ancestors(self, node_id: str) -> frozenset[str]:
        """Return the ids of all nodes from which a path leads to ``node_id``, without itself."""
        found: set[str] = set()
        waiting = list(self.node(node_id).parents)
        while waiting:
            parent = waiting.pop()
            if parent not in found:
                found.add(parent)
                waiting.extend(self.node(parent).parents)
        return frozenset(found)

    def leaves(self) -> tuple[str, ...]:
        """Return the ids of the nodes with a recipe below which no other recipe stands."""
        above: set[str] = set()
        for node in reversed(self.nodes):
            if not node.latent or node.id in above:
                above.update(node.parents)
        return tuple(node.id for node in self.nodes if not node.latent and node.id not in above)


@dataclass(frozen=True)
class RenderOptions:
    """``render:`` of an image family."""

    height: int
    width: int
    samples: int
    denoise: bool


@dataclass(frozen=True)
class SplitSpec:
    """One split with everything resolved.

    Attributes
    ----------
    name, samples, family : str, int, str
    dag : DagSpec or None
    emit : str or tuple of str
        ``every-node``, or some of clean, leaves, joint and node ids.
    scene : SceneOptions
    render : RenderOptions
    outputs : tuple of str
    shard_size : int
    document : mapping
        This split as resolved JSON-safe data, ``samples`` and the DAG's document included:
        what is stored in ``dataset.json``.
    interventions : mapping of str to object
        ``do``, ``shift``, ``given``, ``twin_of``, ``tail``, ``ood``, ``grid``, ``worst_case`` as
        far as the split has them, JSON-safe, with flat keys ``node.parameter``.
    file, line : str, int or None
        Where the split was written, for messages.
    video : VideoOptions or None
        Of a video family, with absolute paths; None for the others.
    pictures : PictureOptions or None
        Of the family ``pictures``; None for the others.
    per : str
        ``clip``, or ``frame`` where each frame of a clip has a draw of its own.
    """

    name: str
    samples: int
    family: str
    dag: DagSpec | None
    emit: str | tuple[str, ...]
    scene: SceneOptions
    render: RenderOptions
    outputs: tuple[str, ...]
    shard_size: int
    document: Mapping[str, object]
    interventions: Mapping[str, object] = field(default_factory=dict)
    file: str = ""
    line: int | None = None
    video: VideoOptions | None = None
    pictures: PictureOptions | None = None
    per: str = "clip"

    @property
    def draws_per_sample(self) -> int:
        """Number of draws behind one sample: 1, or the number of a clip's frames."""
        return self.video.frames if self.per == "frame" and self.video is not None else 1


@dataclass(frozen=True)
class DatasetSpec:
    """A valid dataset.

    Attributes
    ----------
    name : str
        File stem or catalogue name.
    summary, source, licence : str
    seed : int
    splits : tuple of SplitSpec
        In file order.
    file : str
    """

    name: str
    summary: str
    source: str
    licence: str
    seed: int
    splits: tuple[SplitSpec, ...]
    file: str

    def split(self, name: str) -> SplitSpec:
        """Return a split by name; KeyError if there is none."""
        for split in self.splits:
            if split.name == name:
                return split
        raise KeyError(name)

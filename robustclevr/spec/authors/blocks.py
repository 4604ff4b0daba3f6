"""Which nodes the file of this project has: the authors' nodes that set one recipe become one.

Their code gives every node a compositor node of its own, so two nodes that set two parameters of
one corruption apply it twice. Here they are one node of the new file, a *block*. Where merging
would close a cycle (A sets one parameter, B another, and between them stands a third node), or
where two nodes end in one parameter, what each of them draws gets a latent node of its own, and
the block reads these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from robustclevr.spec.authors.model import Driver
from robustclevr.spec.graph import find_cycles
from robustclevr.spec.node import NODE_WORDS

Note = Callable[[str], None]


@dataclass(frozen=True)
class Block:
    """One node with a recipe.

    Attributes
    ----------
    id : str
    drivers : tuple of Driver
        Of one recipe; each sets another parameter of the authors' function.
    latents : mapping of str to str
        Driver to the latent node that holds its value; empty if the block computes them itself.
    parents : list of str
        Ids of nodes of the new file.
    """

    id: str
    drivers: tuple[Driver, ...]
    latents: Mapping[str, str]
    parents: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Layout:
    """The new file's nodes.

    Attributes
    ----------
    blocks : tuple of Block
    holders : mapping of str to str
        Driver to the id of the node whose field holds its value.
    latent_parents : mapping of str to tuple of str
        Driver to the parents of its latent node.
    """

    blocks: tuple[Block, ...]
    holders: Mapping[str, str]
    latent_parents: Mapping[str, tuple[str, ...]]

    def block_of(self, driver: str) -> Block:
        """Return the block that a driver belongs to."""
        return next(b for b in self.blocks if any(d.name == driver for d in b.drivers))


def lay_out(drivers: Sequence[Driver], note: Note) -> Layout:
    """Merge nodes, name them, and decide on their edges.

    Parameters
    ----------
    drivers : sequence of Driver
        Without cycles, in file order.
    note : callable
        Receives one sentence for everything that is mended.
    """
    groups = _groups(drivers)
    names = _Names()
    plain = {driver.name: names.take(driver.name) for group in groups for driver in group}
    blocks = []
    for group in groups:
        split = len(group) > 1 and (_in_cycle(group, groups) or _one_parameter(group))
        latents = {driver.name: plain[driver.name] for driver in group} if split else {}
        joined = "_".join(driver.name for driver in group)
        block_id = names.take(joined) if len(group) > 1 else plain[group[0].name]
        blocks.append(Block(block_id, group, latents))
        _note_merge(group, split=split, note=note)
    holders = {
        driver.name: block.latents.get(driver.name, block.id)
        for block in blocks
        for driver in block.drivers
    }
    latent_parents = {
        driver.name: _distinct(holders[parent] for parent in driver.parents)
        for block in blocks
        if block.latents
        for driver in block.drivers
    }
    layout = Layout(tuple(blocks), holders, latent_parents)
    _connect(layout, note)
    return layout


def _groups(drivers: Iterable[Driver]) -> list[tuple[Driver, ...]]:
    """Put drivers of one function together that set different parameters."""
    groups: list[list[Driver]] = []
    for driver in drivers:
        for group in groups:
            taken = {other.parameter for other in group}
            if group[0].function == driver.function and driver.parameter not in taken:
                group.append(driver)
                break
        else:
            groups.append([driver])
    return [tuple(group) for group in groups]


def _one_parameter(group: Sequence[Driver]) -> bool:
    return len({driver.sets for driver in group}) < len(group)


def _in_cycle(group: tuple[Driver, ...], groups: Sequence[tuple[Driver, ...]]) -> bool:
    """Tell whether a path leads from a group through others, or directly, back to itself."""
    members = {driver.name: one for one in groups for driver in one}
    waiting, seen = list(group), set[str]()
    while waiting:
        for parent in waiting.pop().parents:
            if members[parent] is group:
                return True
            if parent not in seen:
                seen |= {driver.name for driver in members[parent]}
                waiting.extend(members[parent])
    return False


def _connect(layout: Layout, note: Note) -> None:
    """Give every block its parents: those whose values it reads, then those it is applied after."""
    for block in layout.blocks:
        wanted = list(block.latents.values())
        if not block.latents:
            wanted = [layout.holders[p] for driver in block.drivers for p in driver.parents]
        block.parents.extend(_distinct(wanted))
    for block in layout.blocks:
        above = _distinct(layout.block_of(p).id for d in block.drivers for p in d.parents)
        for parent in above:
            if parent == block.id or parent in block.parents:
                continue
            block.parents.append(parent)
            if find_cycles(parents_of_all(layout)):
                block.parents.pop()
                note(
                    f"{parent} is not in the picture of {block.id}: {parent} itself depends on "
                    f"{block.id}."
                )


def parents_of_all(layout: Layout) -> dict[str, tuple[str, ...]]:
    """Return the parents of every node of the new file, latent ones included."""
    found: dict[str, tuple[str, ...]] = {}
    for block in layout.blocks:
        for driver, latent in block.latents.items():
            found[latent] = layout.latent_parents[driver]
        found[block.id] = tuple(block.parents)
    return found


def _note_merge(group: Sequence[Driver], *, split: bool, note: Note) -> None:
    names = [driver.name for driver in group]
    if len(group) > 1:
        held = "; what each draws is a latent node" if split else ""
        note(
            f"{', '.join(names)}: one node here, as they set one corruption "
            f"({group[0].function}); their code applies it {len(names)} times{held}."
        )
    for driver in group:
        if len(driver.parents) > 1:
            note(
                f"{driver.name}: all of its parents are in its picture; in their compositor the "
                "last edge takes the place of the others."
            )


class _Names:
    """Ids of this project for the authors' names, each used once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, name: str) -> str:
        word = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")
        if not word or not word[0].isalpha():
            word = f"node_{word}".rstrip("_")
        if word in NODE_WORDS:
            word = f"{word}_node"
        free, count = word, 2
        while free in self._taken:
            free, count = f"{word}_{count}", count + 1
        self._taken.add(free)
        return free


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))

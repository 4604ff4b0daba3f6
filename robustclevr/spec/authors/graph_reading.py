"""The edges of a file of the authors; every error is noted in the document."""

from __future__ import annotations

from robustclevr.errors import suggest
from robustclevr.spec.authors.schema import ROOT, AuthorsFile
from robustclevr.spec.document import Document, join
from robustclevr.spec.graph import find_cycles

Parents = dict[str, tuple[str, ...]]


def read_parents(document: Document, file: AuthorsFile) -> Parents:
    """Return the parents of every node, without the root, in the order of the edges."""
    names = [node.name for node in file.node_list if node.name]
    parents: dict[str, list[str]] = {name: [] for name in names}
    reached: set[str] = set()
    for index, edge in enumerate(file.edge_list):
        path = join("edge_list", index)
        if len(edge) != 2:
            document.problem(path, f"an edge is [parent, child], got {edge}")
            continue
        parent, child = edge
        _check_ends(document, path, parent, child, names)
        if child in parents and (parent in parents or parent == ROOT):
            reached.add(child)
            if parent != ROOT and parent not in parents[child]:
                parents[child].append(parent)
    lost = {"edge_list", "node_list"} & document.broken
    for index, node in enumerate(file.node_list):
        if node.name and node.name not in reached and not lost:
            what = f"no edge leads to the node '{node.name}'"
            hint = f"write [{ROOT}, {node.name}] if nothing causes it"
            document.problem(join("node_list", index), what, hint)
    found = {name: tuple(above) for name, above in parents.items()}
    for cycle in find_cycles(found):
        arrows = " -> ".join((*cycle, cycle[0]))
        document.problem("edge_list", f"cycle: {arrows}", "remove one of these edges")
    return found


def _check_ends(document: Document, path: str, parent: str, child: str, names: list[str]) -> None:
    if child == ROOT:
        document.problem(path, f"an edge leads to '{ROOT}', the image itself", "turn it around")
    for end in (parent, child):
        if end != ROOT and end not in names and "node_list" not in document.broken:
            document.problem(path, f"there is no node '{end}'", suggest(end, [*names, ROOT]))

"""What the doctor says of one thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report.

    Attributes
    ----------
    what, state : str
    works : bool
    needed : bool
        False for what only slows a run down or limits it.
    advice : str
        What to do, if it does not work.
    facts : mapping of str to object
        The state for programs; JSON-safe.
    """

    what: str
    state: str
    works: bool = True
    needed: bool = False
    advice: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)

"""What a verification found: one result a check, every problem with the file or sample it is in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check on one split, or on the folder.

    Attributes
    ----------
    check : str
        What was checked: ``files``, ``shards``, ``records``, ``labels``, ``draws``, ``rerender``.
    split : str
        Empty for the folder.
    checked : int
        How many things were looked at: files, shards or samples.
    problems : tuple of str
        Each names the file or sample, what was found and what was expected.
    note : str
        What a reader should know, such as the tolerance of a comparison.
    """

    check: str
    split: str
    checked: int
    problems: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True)
class Report:
    """All results, in the order in which the checks ran."""

    results: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        """True if no check found a problem."""
        return not any(result.problems for result in self.results)

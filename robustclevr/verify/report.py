"""What a verification found: one result a check, every problem with its file and sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

REMAKE = "remove this shard and its receipt, then run the same 'generate' command again"
"""What to do about a shard whose checksum is right and whose content is not: ``generate``
believes a shard whose checksum, receipt and fingerprint agree."""


@dataclass(frozen=True)
class Problem:
    """One thing that is not as it should be.

    Attributes
    ----------
    what : str
        What was looked at, such as ``box of object 1 in 'clean'``; or the whole sentence.
    found, expected : str
        Values; empty where ``what`` says it all.
    file : str
        Path of the file it is in.
    sample : str
        Such as ``test/000017``; empty for what concerns no single sample.
    remedy : str
        What to do.
    """

    what: str
    found: str = ""
    expected: str = ""
    file: str = ""
    sample: str = ""
    remedy: str = ""

    def at(self, *, file: str = "", sample: str = "", remedy: str = "") -> Problem:
        """Return the problem with its place filled in, as far as it did not know it itself."""
        return replace(
            self,
            file=self.file or file,
            sample=self.sample or sample,
            remedy=self.remedy or remedy,
        )

    def __str__(self) -> str:
        text = self.what
        if self.found:
            text += f" is {self.found}"
        if self.expected:
            text += f", expected {self.expected}"
        place = "".join(f"{part}: " for part in (self.file, self.sample) if part)
        return f"{place}{text}" + (f"; {self.remedy}" if self.remedy else "")


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check on one split, or on the folder.

    Attributes
    ----------
    check : str
        What was checked; docs/verify.md says what each name stands for.
    split : str
        Empty for the folder.
    checked : int
        How many things were looked at: files, shards, samples or columns.
    problems : tuple of Problem
    note : str
        What a reader should know, such as the tolerance of a comparison.
    seconds : float
        Time that it took, summed over all workers. [s]
    """

    check: str
    split: str
    checked: int
    problems: tuple[Problem, ...]
    note: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Report:
    """All results, in the order in which the checks ran."""

    results: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        """True if no check found a problem."""
        return not any(result.problems for result in self.results)


def placed(
    problems: Iterable[Problem], *, file: str = "", sample: str = "", remedy: str = ""
) -> tuple[Problem, ...]:
    """Return problems with their place filled in; see :meth:`Problem.at`."""
    return tuple(problem.at(file=file, sample=sample, remedy=remedy) for problem in problems)

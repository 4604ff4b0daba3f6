"""A YAML file as plain data with the line of every entry, and all that is wrong with it as YAML.

Enters a path or a text; leaves a :class:`Document` of dicts, lists and scalars by YAML 1.2's core
schema. What was wrong with a single entry is in ``problems``, its path in ``broken``, and the
entry left out, so that later checks run over the rest and do not report it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robustclevr.errors import Problem, SpecError

MAX_PROBLEMS = 200
"""Problems of one file that are gathered; chosen: a list that nobody reads to its end."""


@dataclass(frozen=True)
class Place:
    """Where an entry was written: a file and line, or a command line option."""

    file: str
    line: int | None = None


@dataclass
class Document:
    """One YAML document.

    Attributes
    ----------
    file : str
        File name for messages.
    data : dict
        Plain data; all keys are strings, all numbers finite.
    places : dict of str to Place
        By dotted path.
    problems : list of Problem
        What is wrong so far.
    broken : set of str
        Dotted paths of the entries that were left out because of a problem.
    """

    file: str
    data: dict[str, Any]
    places: dict[str, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)

    def place(self, path: str) -> Place:
        """Return where ``path`` was written, or the nearest entry above it."""
        while path and path not in self.places:
            path = path.rpartition(".")[0]
        return self.places.get(path, Place(self.file))

    def line(self, path: str) -> int:
        """Return the line of ``path`` or of the nearest entry above it; 1 if there is none."""
        return self.place(path).line or 1

    def problem(
        self, path: str, message: str, hint: str = "", *, place: Place | None = None
    ) -> None:
        """Note that the entry at ``path`` is wrong; ``place`` where it stands, if not there.

        Raises
        ------
        SpecError
            With all problems, at the :data:`MAX_PROBLEMS`-th.
        """
        place = place or self.place(path)
        self.problems.append(Problem(message, place.file, place.line, path, hint))
        if len(self.problems) >= MAX_PROBLEMS:
            rest = Problem(f"{MAX_PROBLEMS} problems; what follows was not read", self.file)
            raise SpecError([*self._by_line(), rest])

    def below(self, path: str) -> Document:
        """Return the mapping at ``path`` as a document of its own, with the same places."""
        data: Any = self.data
        for part in path.split("."):
            data = data[part]
        start = f"{path}."
        inside = {
            name[len(start) :]: p for name, p in self.places.items() if name.startswith(start)
        }
        return Document(self.file, data, inside, [], set(self.broken_below(path)))

    def broken_below(self, path: str) -> frozenset[str]:
        """Return the last parts of the broken paths directly under ``path``."""
        start = f"{path}."
        return frozenset(name[len(start) :] for name in self.broken if name.startswith(start))

    def raise_problems(self) -> None:
        """Raise SpecError with everything that was noted, in the order of the lines."""
        if self.problems:
            raise SpecError(self._by_line())

    def _by_line(self) -> list[Problem]:
        return sorted(dict.fromkeys(self.problems), key=lambda problem: problem.line or 0)


def join(*parts: object) -> str:
    """Return the dotted path of the non-empty parts."""
    return ".".join(str(part) for part in parts if str(part))


def as_document(data: Mapping[str, Any], file: str) -> Document:
    """Wrap plain data that was not read from YAML, such as a part of ``dataset.json``."""
    return Document(file, dict(data))


def read_text(path: Path) -> str:
    """Return the text of a YAML file.

    Raises
    ------
    SpecError
        If the file is missing, unreadable or not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SpecError.single("no such file", file=str(path)) from None
    except UnicodeDecodeError as error:
        what = f"is not UTF-8: byte {error.start} is 0x{error.object[error.start]:02x}"
        raise SpecError.single(what, file=str(path), hint="save it as UTF-8 text") from None
    except OSError as error:
        raise SpecError.single(f"cannot be read: {error.strerror}", file=str(path)) from None

"""Every error this project raises, and the one way in which it is put into words.

::

    RobustClevrError            exit code 1
    ├── SpecError               2   the user's YAML, option or formula is wrong
    ├── SetupError              3   bpy, a device, an optional package is missing
    ├── SamplingError           1   bounded retries ran out, a formula gave no number
    ├── RecipeError             1   a recipe raised or broke its contract
    │   └── RecipeFileError     2   a recipe file cannot be loaded
    ├── RenderError             1   Blender reported an error, or gave what cannot be right
    │   └── RendererLostError   1   Blender died, hung, or was ended
    │       └── DeviceLostError 1   its GPU failed, or is gone
    └── StoreError              1   disk full, unreadable or foreign files

Library code raises; only ``cli`` prints and sets the exit code.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

_LISTED, _COMPARED = 60, 1000  # names; chosen: all of this project's, of a huge file's only some


class RobustClevrError(Exception):
    """Base of all errors that are reported without a traceback."""

    exit_code = 1


class SetupError(RobustClevrError):
    """Something outside the project is missing; the message says what to install."""

    exit_code = 3


class SamplingError(RobustClevrError):
    """A draw or a scene could not be made within its bounded number of tries."""


class RecipeError(RobustClevrError):
    """A recipe file raised, or returned something it must not."""


class RecipeFileError(RecipeError):
    """A recipe file cannot be loaded, or declares what no recipe may."""

    exit_code = 2


class RenderError(RobustClevrError):
    """The renderer failed on a sample."""


class RendererLostError(RenderError):
    """The renderer's process is gone: it died, hung, or had to be ended.

    Parameters
    ----------
    reason : str
        One line.
    tail : str
        The last lines that it printed, indented; empty where they are not known.
    """

    def __init__(self, reason: str, tail: str = "") -> None:
        self.reason, self.tail = reason, tail
        super().__init__(f"{reason}; its last lines:\n{tail}" if tail else reason)

    def __reduce__(self) -> tuple[type[RendererLostError], tuple[str, str]]:
        """Pickle by reason and tail: an error by its message alone would lose them."""
        return type(self), (self.reason, self.tail)


class DeviceLostError(RendererLostError):
    """The GPU failed under the renderer, or is not there any more."""


class StoreError(RobustClevrError):
    """A file could not be written, or is not what its receipt says."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a user's input.

    Parameters
    ----------
    message : str
        What is wrong, the received value included.
    file : str, optional
        File the input came from, or the name of a command line option.
    line : int, optional
        Line in ``file``, counted from 1.
    path : str
        Dotted path inside the document, such as ``nodes.gamma.set.gamma``.
    hint : str
        What is allowed, or what to do.
    """

    message: str
    file: str | None = None
    line: int | None = None
    path: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        where = ": ".join(part for part in (place, self.path) if part)
        text = f"{where}: {self.message}" if where else self.message
        return f"{text}; {self.hint}" if self.hint else text


class SpecError(RobustClevrError):
    """All problems of one input at once.

    Parameters
    ----------
    problems : iterable of Problem
        At least one.
    """

    exit_code = 2

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @classmethod
    def single(cls, message: str, **where: object) -> SpecError:
        """Build the error for one problem; keywords are those of :class:`Problem`."""
        return cls([Problem(message, **where)])  # type: ignore[arg-type]


def suggest(word: str, allowed: Iterable[str]) -> str:
    """Say what is allowed in place of ``word``, the nearest spelling first.

    Parameters
    ----------
    word : str
        What the user wrote.
    allowed : iterable of str
        What may stand there.

    Returns
    -------
    str
        ``"did you mean 'glare'? allowed: clouds, glare"``.

    Examples
    --------
    >>> suggest("glar", ["clouds", "glare"])
    "did you mean 'glare'? allowed: clouds, glare"
    """
    names = sorted(allowed)
    alike = [name for name in names if len(names) <= _COMPARED or name[:2] == word[:2]]
    near = difflib.get_close_matches(word, alike[:_COMPARED], n=1, cutoff=0.5)
    listing = f"allowed: {', '.join(names[:_LISTED])}" if names else "nothing is allowed here"
    if len(names) > _LISTED:
        listing += f" and {len(names) - _LISTED} more"
    return f"did you mean '{near[0]}'? {listing}" if near else listing

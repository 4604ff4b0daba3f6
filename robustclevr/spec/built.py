"""What a spec may say already, but no stage can make yet."""

from __future__ import annotations

from robustclevr.errors import Problem, SpecError
from robustclevr.spec.dataset import PICTURES
from robustclevr.spec.model import SplitSpec
from robustclevr.spec.split import SPRITE_FAMILIES

BUILT_FAMILIES = ("clevr", *SPRITE_FAMILIES)
"""That a dataset file may name."""


def require_built(split: SplitSpec) -> None:
    """Raise SpecError if this version cannot generate the split.

    Loading such a split is fine: its file was checked in full.

    Raises
    ------
    SpecError
        One problem that names the family, or the keys of the split.
    """
    if split.family not in (*BUILT_FAMILIES, PICTURES):
        what = f"family '{split.family}' is not built yet"
        hint = f"this version makes {', '.join(BUILT_FAMILIES)}"
        raise _not_built(split, "", what, hint)
    if split.family in SPRITE_FAMILIES and "worst_case" in split.interventions:
        what = "'worst_case' on clips is not built yet"
        hint = "choose the other splits with --splits"
        raise _not_built(split, ".worst_case", what, hint)


def _not_built(split: SplitSpec, below: str, what: str, hint: str) -> SpecError:
    path = f"splits.{split.name}{below}"
    return SpecError([Problem(what, split.file or None, split.line, path, hint)])

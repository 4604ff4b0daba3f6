"""Reading JSON that a user wrote: whatever is wrong with the file, the error names it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from robustclevr.errors import StoreError


def read_json(file: Path) -> Any:
    """Return what a JSON file holds.

    Raises
    ------
    StoreError
        If it cannot be read, is not JSON, or is nested deeper than Python follows.
    """
    try:
        return json.loads(file.read_bytes())
    except OSError as error:
        raise StoreError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise StoreError(f"{file}: cannot be read as JSON: {error}; write it anew") from error
    except RecursionError as error:
        raise StoreError(
            f"{file}: cannot be read as JSON: lists or objects are nested too deeply; "
            "write it in the form that docs/evaluation.md describes"
        ) from error

"""Whether torch is there; the only module of the package that says so in words."""

from __future__ import annotations

import importlib

from robustclevr.errors import SetupError


def require_torch() -> None:
    """Raise SetupError, with the line that installs it, if torch cannot be imported."""
    try:
        importlib.import_module("torch")
    except ImportError as error:
        raise SetupError(
            f"slot-attention needs torch, which cannot be imported ({error}); "
            "install it with: pip install 'robustclevr[torch]'"
        ) from error

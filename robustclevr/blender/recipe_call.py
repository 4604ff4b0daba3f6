"""How a recipe's ``build`` is called, whatever its stage."""

from __future__ import annotations

from robustclevr.recipe import call_build, parameters_at

__all__ = ["call_build", "parameters_at"]

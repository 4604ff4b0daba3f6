"""Spec to Draw: structural causal models, sampled from recorded noise."""

from robustclevr.scm.model import SCM
from robustclevr.scm.table import DrawTable, NodeColumns

__all__ = ["SCM", "DrawTable", "NodeColumns"]

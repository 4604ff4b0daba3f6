"""Reads a dataset and shows it."""

from robustclevr.report.clip_sheet import clip_animation, clip_sheet
from robustclevr.report.contact_sheet import contact_sheet

__all__ = ["clip_animation", "clip_sheet", "contact_sheet"]

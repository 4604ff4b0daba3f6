"""Reads a dataset and shows it."""

from robustclevr.report.contact_sheet import contact_sheet

__all__ = ["contact_sheet"]

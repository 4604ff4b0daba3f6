"""Corruptions, one file each; found and loaded by path through ``robustclevr.recipe``."""

"""Looks at this machine: what works, what is missing, what to do about it."""

from robustclevr.run.doctor.examine import examine
from robustclevr.run.doctor.finding import Finding

__all__ = ["Finding", "examine"]

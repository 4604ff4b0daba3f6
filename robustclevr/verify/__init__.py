"""Reads a dataset and checks what it promises."""

from robustclevr.verify.dataset import verify_dataset
from robustclevr.verify.report import CheckResult, Report

__all__ = ["CheckResult", "Report", "verify_dataset"]

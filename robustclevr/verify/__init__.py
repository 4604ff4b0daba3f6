"""Reads a dataset and checks what it promises."""

from robustclevr.verify.dataset import VerifyOptions, verify_dataset
from robustclevr.verify.report import CheckResult, Problem, Report

__all__ = ["CheckResult", "Problem", "Report", "VerifyOptions", "verify_dataset"]

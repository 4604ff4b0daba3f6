"""Scores of predictions on a dataset: per sample, over a set with intervals, against severity."""

from robustclevr.evaluation.options import METRICS, EvaluationOptions
from robustclevr.evaluation.run import evaluate
from robustclevr.evaluation.summary import Comparison, Summary

__all__ = ["METRICS", "Comparison", "EvaluationOptions", "Summary", "evaluate"]

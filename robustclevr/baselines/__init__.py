"""Predictions of simple methods, to compare a model with."""

from robustclevr.baselines.kmeans import CLUSTERS, kmeans_labels
from robustclevr.baselines.predict import METHODS, Baseline, default_segments
from robustclevr.baselines.run import run_baseline

__all__ = [
    "CLUSTERS",
    "METHODS",
    "Baseline",
    "default_segments",
    "kmeans_labels",
    "run_baseline",
]

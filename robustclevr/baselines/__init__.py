"""Predictions of simple methods, to compare a model with."""

from robustclevr.baselines.kmeans import CLUSTERS, kmeans_labels

__all__ = ["CLUSTERS", "kmeans_labels"]

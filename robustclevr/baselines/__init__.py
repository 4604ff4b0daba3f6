"""Predictions of simple methods, to compare a model with."""

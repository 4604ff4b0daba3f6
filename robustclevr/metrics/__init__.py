"""Scores: arrays in, fractions out; each names its equation and where it comes from."""

"""Reads a dataset and shows it."""

"""Structural causal models of corruptions, one YAML file each."""

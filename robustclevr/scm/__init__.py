"""Spec to Draw: sampling of structural causal models from recorded noise."""

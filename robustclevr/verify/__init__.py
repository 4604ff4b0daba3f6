"""Reads a dataset and checks what it promises."""

"""Synthetic datasets for measuring how robust object-centric vision models are.

The package reads left to right: ``spec`` turns YAML into valid records, ``scm`` draws
corruption parameters, ``scenes`` and ``video`` draw what is looked at, ``plan`` writes both
into one self-contained Plan, ``blender`` and ``recipes`` turn it into pixels, ``store`` writes
shards, ``verify`` checks them. Importing this module imports nothing else.
"""

__version__ = "0.1.0"

DATASET_VERSION = 1
"""Raised whenever the same spec and seed would give other pixels or other draws."""

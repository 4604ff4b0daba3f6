"""Records to tar shards, tables and receipts, and back."""

from robustclevr.store.dataset import Dataset, Sample

__all__ = ["Dataset", "Sample"]

"""Records to tar shards, tables and receipts, and back."""

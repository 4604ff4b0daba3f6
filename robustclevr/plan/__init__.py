"""Draw and Scene to Plan, and the fingerprint of a split."""

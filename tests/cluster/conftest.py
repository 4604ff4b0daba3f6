"""What stands here are programs that start a cluster, not tests: ``make test-slurm`` runs them."""

collect_ignore_glob = ["*.py"]

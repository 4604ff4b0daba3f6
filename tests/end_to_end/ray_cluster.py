"""A Ray cluster of two nodes on this machine, as a program of its own.

Starts a head without cores and two nodes with two cores each, and writes lines: the address, then
the process id of each node's raylet. ``kill <process id>`` on stdin kills a raylet; the end of
stdin ends the cluster.
"""

import os
import sys

_STORE_BYTES = 100 << 20


def tell(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main():
    # Ray reads these when it is imported.
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_enable_metrics_collection": "0"}
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": _STORE_BYTES}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        nodes = [
            cluster.add_node(num_cpus=2, object_store_memory=_STORE_BYTES, wait=True)
            for _ in range(2)
        ]
        tell(cluster.address)
        by_pid = {}
        for node in nodes:
            (raylet,) = node.all_processes["raylet"]
            by_pid[raylet.process.pid] = node
            tell(raylet.process.pid)
        for line in sys.stdin:
            cluster.remove_node(by_pid[int(line.removeprefix("kill "))], allow_graceful=False)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()

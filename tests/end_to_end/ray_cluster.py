"""A Ray cluster of two nodes on this machine, as a program of its own.

Starts a head without cores and two nodes with two cores each, writes the address and then one line
a node, ``<process id of its raylet> <node id>``. ``kill <pid>`` on stdin kills a raylet; the end
of stdin ends the cluster.
"""

import os
import sys

os.environ |= {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_enable_metrics_collection": "0",
    # A node that says nothing for five seconds is lost; on a loaded machine too, a live one does.
    "RAY_health_check_period_ms": "1000",
}

from ray.cluster_utils import Cluster

_STORE_BYTES = 100 << 20


def main():
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": _STORE_BYTES}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        nodes = [
            cluster.add_node(num_cpus=2, object_store_memory=_STORE_BYTES, wait=True)
            for _ in range(2)
        ]
        print(cluster.address, flush=True)
        by_pid = {}
        for node in nodes:
            (raylet,) = node.all_processes["raylet"]
            by_pid[raylet.process.pid] = node
            print(raylet.process.pid, node.unique_id, flush=True)
        for line in sys.stdin:
            cluster.remove_node(by_pid[int(line.removeprefix("kill "))], allow_graceful=False)
            print("killed", flush=True)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()

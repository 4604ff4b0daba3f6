"""Cores and memory under control groups, from file trees as the kernel shows them."""

import os

import psutil
import pytest

from robustclevr.run import limits
from robustclevr.run.limits import cpu_limit, usable_cores, usable_memory

GIB = 2**30


@pytest.fixture
def kernel(tmp_path):
    """Write the files of a fake ``/proc`` and ``/sys``; return their root."""

    def write(**files):
        for name, text in files["files"].items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


V2 = {"proc/self/cgroup": "0::/job/step\n"}
V1 = {
    "proc/self/cgroup": "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n1:cpuset:/docker/abc\n",
    # As inside a container: the host's path is not there, the mount is the container's own.
    "sys/fs/cgroup/cpu,cpuacct/unrelated": "",
}


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        pytest.param({}, None, id="nothing"),
        pytest.param({**V2, "sys/fs/cgroup/job/cpu.max": "max 100000\n"}, None, id="max"),
        pytest.param({**V2, "sys/fs/cgroup/job/step/cpu.max": "250000 100000\n"}, 2.5, id="own"),
        pytest.param(
            {
                **V2,
                "sys/fs/cgroup/job/step/cpu.max": "800000 100000\n",
                "sys/fs/cgroup/job/cpu.max": "150000 100000\n",
            },
            1.5,
            id="parent-is-stricter",
        ),
        pytest.param({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000"}, 0.5),
        pytest.param(
            {
                **V1,
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            3.0,
            id="version-1",
        ),
        pytest.param(
            {
                **V1,
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
            id="version-1-none",
        ),
        pytest.param({**V2, "sys/fs/cgroup/job/cpu.max": "1 0\n"}, None, id="no-period"),
        pytest.param({**V2, "sys/fs/cgroup/job/cpu.max": "garbage"}, None, id="garbage"),
    ],
)
def test_cpu_limit(kernel, files, cores):
    assert cpu_limit(kernel(files=files)) == cores


@pytest.mark.parametrize(("share", "cores"), [(None, 8), (2.9, 2), (0.3, 1), (64.0, 8)])
def test_cores_are_the_smaller_of_affinity_and_group_and_never_none(monkeypatch, share, cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(8)))
    monkeypatch.setattr(limits, "cpu_limit", lambda _root: share)
    assert usable_cores() == cores


def test_memory_of_the_machine_without_groups(kernel):
    memory = usable_memory(kernel(files={}))
    assert memory.limit_bytes == psutil.virtual_memory().total
    assert not memory.grouped
    assert 0 < memory.free_bytes <= memory.limit_bytes


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {
                **V2,
                "sys/fs/cgroup/job/memory.max": f"{GIB}\n",
                "sys/fs/cgroup/job/memory.current": f"{GIB // 2}\n",
                "sys/fs/cgroup/job/memory.stat": f"anon 5\ninactive_file {GIB // 4}\n",
                "sys/fs/cgroup/memory.max": "max\n",
            },
            id="version-2",
        ),
        pytest.param(
            {
                **V1,
                "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{GIB}\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB // 2}\n",
                "sys/fs/cgroup/memory/memory.stat": f"total_inactive_file {GIB // 4}\n",
            },
            id="version-1",
        ),
    ],
)
def test_memory_of_a_group_counts_cached_files_as_free(kernel, files):
    memory = usable_memory(kernel(files=files))
    assert (memory.limit_bytes, memory.grouped) == (GIB, True)
    assert memory.free_bytes == min(GIB * 3 // 4, psutil.virtual_memory().available)


def test_a_limit_beyond_the_machine_is_none(kernel):
    unlimited = "9223372036854771712\n"  # what version 1 writes for no limit
    root = kernel(files={**V1, "sys/fs/cgroup/memory/memory.limit_in_bytes": unlimited})
    assert not usable_memory(root).grouped

"""A dataset by Slurm jobs on this machine; one task is cancelled and requeued in the middle.

Another task gets the signal that Slurm sends before the time limit. The dataset must come out as
the local back end makes it, byte for byte.

Run as root on Debian: ``make test-slurm``. Installs ``slurm-wlm`` and ``munge`` where they are
missing, starts munged, slurmctld and slurmd for one node out of a folder of its own (nothing of an
installed cluster is touched), and stops them at the end.
"""

import hashlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

from robustclevr.run.leases import read_lease
from robustclevr.store.layout import Layout

TASKS, SHARDS = 4, 6
MIDDLE = range(1, 8)  # of the samples of a shard: long before its task could be done
SPEC = """\
family: clevr
dag: tree-uniform
render: {height: 48, width: 64, samples: 4}
shard_size: 20
splits:
  test: {samples: 120}
"""
CONFIG = """\
ClusterName=robustclevr-test
SlurmctldHost={host}
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=10
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
PATIENCE_S = 900.0


def main():
    if os.geteuid() != 0:
        sys.exit("run it as root: it starts the daemons of Slurm")
    install()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slurm-test-")))
        folder.chmod(0o755)
        start_slurm(folder, stack)
        check(folder)
    say("byte-equal: an array of 4; one task cancelled and requeued, one requeued by signal")


def check(folder):
    """Make the dataset with both back ends and compare."""
    spec, out = folder / "spec.yaml", folder / "slurm"
    spec.write_text(SPEC)
    subprocess.run(command("generate", spec, "-o", folder / "local"), check=True)
    options = ("--backend", "slurm", "--workers", TASKS, "--slurm", "cpus-per-task=1")
    process = subprocess.Popen(command("generate", spec, "-o", out, *options, "--slurm", "time=30"))
    with process:
        element = element_in_the_middle(out, process)
        say(f"cancelling and requeueing task {element}")
        subprocess.run(["scancel", element], check=True)
        requeue(element)
        timed_out = element_in_the_middle(out, process, but=element)
        say(f"signalling task {timed_out} as before its time limit")
        subprocess.run(["scancel", "--signal=USR2", timed_out], check=True)
    require(process.returncode == 0, f"generate ended with {process.returncode}")
    require(digests(out) == digests(folder / "local"), "the datasets differ")
    require(not (out / ".work").exists(), ".work is still there")
    for name in (element, timed_out):
        require(restarts(name) >= 1, f"{name} was not started anew")
    subprocess.run(command("verify", out), check=True)


def element_in_the_middle(out, process, but=None):
    """Wait until a task has parked some but not all samples of a shard; return its name.

    Not the one called ``but``.
    """
    layout = Layout(out)

    def look():
        require(process.poll() is None, "generate ended before any task was in the middle")
        for shard in range(SHARDS):
            lease = read_lease(layout.lease("test", shard))
            parked = list(layout.parked_dir("test", shard).glob("*.sample"))
            if lease is not None and lease.owner is not None and len(parked) in MIDDLE:
                element = element_of(lease.owner.pid)
                if element not in (None, but):
                    return element
        return None

    return wait_for(look, "a task in the middle of a shard")


def element_of(process_id):
    """Return the name of the array task that a process belongs to, such as ``7_2``; or None."""
    try:
        entries = Path(f"/proc/{process_id}/environ").read_text().split("\0")
    except OSError:  # it has just ended
        return None
    variables = dict(entry.split("=", 1) for entry in entries if "=" in entry)
    return f"{variables['SLURM_ARRAY_JOB_ID']}_{variables['SLURM_ARRAY_TASK_ID']}"


def requeue(element):
    """Requeue a cancelled task, once Slurm has let go of it."""

    def attempt():
        return subprocess.run(["scontrol", "requeue", element], capture_output=True).returncode == 0

    wait_for(attempt, f"{element} to be requeued")


def restarts(element):
    """Return how often Slurm started a task anew."""
    text = subprocess.run(
        ["scontrol", "show", "job", element], check=True, capture_output=True, text=True
    ).stdout
    return int(next(word for word in text.split() if word.startswith("Restarts=")).split("=")[1])


def start_slurm(folder, stack):
    """Start the three daemons and wait for an idle node."""
    for name in ("state", "spool", "munge"):
        (folder / name).mkdir(mode=0o755)
    host = socket.gethostname().partition(".")[0]
    ports = {"controller": free_port(), "node": free_port()}
    config = folder / "slurm.conf"
    config.write_text(CONFIG.format(host=host, folder=folder, **ports))
    os.environ["SLURM_CONF"] = str(config)
    stack.enter_context(munge(folder / "munge"))
    wait_for((folder / "munge/socket").exists, "munged")
    stack.enter_context(daemon("slurmctld", "-D", "-f", config))
    stack.enter_context(daemon("slurmd", "-D", "-f", config, "-N", host))
    wait_for(node_is_idle, "an idle node")


@contextmanager
def munge(folder):
    """Run munged with a key and a socket of our own, as its user, which it insists on."""
    user = pwd.getpwnam("munge")
    key = folder / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    for path in (folder, key):
        os.chown(path, user.pw_uid, user.pw_gid)
    files = {"socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    options = [f"--{option}={folder / name}" for option, name in files.items()]
    with daemon("munged", "--foreground", f"--key-file={key}", *options, user="munge"):
        yield


@contextmanager
def daemon(name, *arguments, user=None):
    """Run a daemon until the block ends."""
    program = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    process = subprocess.Popen(
        [program, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=user,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def install():
    """Install Slurm and munge where they are missing."""
    if all(
        shutil.which(name, path="/usr/sbin:/usr/bin") for name in ("slurmctld", "slurmd", "munged")
    ):
        return
    say("installing slurm-wlm and munge")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # policy-rc.d is not asked: where systemd runs, the packages' own daemons lack a slurm.conf.
    apt = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    subprocess.run([*apt, "update"], check=True, env=environment)
    packages = ["slurm-wlm", "munge"]
    subprocess.run(
        [*apt, "install", "-y", "--no-install-recommends", *packages], check=True, env=environment
    )


def node_is_idle():
    answer = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True)
    return answer.stdout.strip() == "idle"


def free_port():
    with socket.socket() as server:
        server.bind(("", 0))
        return server.getsockname()[1]


def command(*arguments):
    return [sys.executable, "-m", "robustclevr", *map(str, arguments)]


def digests(root):
    """sha256 of every file but receipts, which hold timings."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.endswith(".receipt.json")
    }


def wait_for(condition, what):
    """Return what a condition returns once that is true; end with an error if it never is."""
    deadline = time.monotonic() + PATIENCE_S
    while not (result := condition()):
        require(time.monotonic() < deadline, f"waited for {what} in vain")
        time.sleep(0.1)
    return result


def require(condition, message):
    if not condition:
        sys.exit(f"failed: {message}")


def say(text):
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    main()

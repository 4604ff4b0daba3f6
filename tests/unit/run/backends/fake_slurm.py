"""Slurm's commands as far as the back end uses them: jobs are processes of this machine.

Linked under the commands' names into a folder on PATH. ``FAKE_SLURM`` names a folder: each element
of an array is a folder in it with the files ``pid``, ``code`` (once it ended) and ``cancelled``;
``calls`` holds every command line, ``sinfo`` what that shall print.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(os.environ.get("FAKE_SLURM", "."))


def sbatch(script):
    text = Path(script).read_text()
    if "--partition=closed" in text:
        sys.exit("sbatch: error: invalid partition specified: closed")
    job = str(1 + len(list(ROOT.glob("[0-9]*"))))
    array = re.search(r"--array=0-(\d+)", text)
    elements = range(int(array[1]) + 1) if array else [None]
    for element in elements:
        folder = ROOT / job / str(element or 0)
        folder.mkdir(parents=True)
        (ROOT / job / "script").write_text(text)
        environment = {**os.environ, "SLURM_JOB_ID": job, "FAKE_ELEMENT": str(folder)}
        if element is not None:
            environment |= {"SLURM_ARRAY_JOB_ID": job, "SLURM_ARRAY_TASK_ID": str(element)}
        keeper = [sys.executable, __file__, "keep", str(folder), script]
        subprocess.Popen(
            keeper,
            env=environment,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    say(f"Submitted batch job {job}")


def keep(folder, script):
    """Run one element and write down its end."""
    code = subprocess.run(["bash", script]).returncode
    (Path(folder) / "code").write_text(str(code))


def srun(*arguments):
    """Run the command with its output in the file that is asked for."""
    output = arguments[arguments.index("--output") + 1]
    job, element = (os.environ.get(f"SLURM_ARRAY_{name}_ID", "") for name in ("JOB", "TASK"))
    for mark, value in (
        ("%A", job),
        ("%a", element),
        ("%j", os.environ["SLURM_JOB_ID"]),
        ("%t", "0"),
    ):
        output = output.replace(mark, value)
    command = arguments[arguments.index("--output") + 2 :]
    with Path(output).open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        pid = Path(os.environ["FAKE_ELEMENT"]) / "pid"
        pid.with_suffix(".new").write_text(str(process.pid))
        pid.with_suffix(".new").rename(pid)
        sys.exit(process.wait())


def squeue(*arguments):
    job = arguments[arguments.index("--jobs") + 1]
    if not (ROOT / job).exists():
        sys.exit("slurm_load_jobs error: Invalid job id specified")
    for folder in sorted(path for path in (ROOT / job).iterdir() if path.is_dir()):
        say(f"{job}_{folder.name}|{state(folder)}|None")


def state(folder):
    if not (folder / "code").exists():
        return "RUNNING"
    if (folder / "cancelled").exists():
        return "CANCELLED"
    return "COMPLETED" if (folder / "code").read_text() == "0" else "FAILED"


def scancel(name):
    job, _, element = name.partition("_")
    for folder in (ROOT / job).glob(element or "[0-9]*"):
        (folder / "cancelled").touch()
        while not (folder / "code").exists() and not (folder / "pid").exists():
            time.sleep(0.01)
        if not (folder / "code").exists():
            os.kill(int((folder / "pid").read_text()), signal.SIGTERM)


def sinfo(*arguments):
    file = ROOT / "sinfo"
    if file.exists():
        say(file.read_text() if "%c|%G" in arguments else "infinite")


def say(line):
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    command = Path(sys.argv[0]).name
    with (ROOT / "calls").open("a") as calls:
        calls.write(" ".join([command, *sys.argv[1:]]) + "\n")
    if sys.argv[1:2] == ["keep"]:
        keep(*sys.argv[2:])
    else:
        globals()[command](*sys.argv[1:])

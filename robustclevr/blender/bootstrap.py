"""Start the worker inside any interpreter that has Blender.

Run as a script, by Python or by ``blender --background --factory-startup --python``. The
interpreter need not have this project installed: the package is made importable from its own
folder, and no other folder of its installation comes along, whose libraries may be built for
another Python.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import importlib.util
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Run the worker on the two pipes named on the command line, then leave at once."""
    own_arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    parser = argparse.ArgumentParser(prog="bootstrap.py")
    parser.add_argument("--in-fd", type=int, required=True)
    parser.add_argument("--out-fd", type=int, required=True)
    options = parser.parse_args(own_arguments)
    _die_with_parent()
    # Whoever waits in vain asks with it where we are; the answer names a recipe's file and line.
    faulthandler.register(signal.SIGUSR2, all_threads=False)
    _make_importable()

    from robustclevr.blender import worker

    worker.main(options.in_fd, options.out_fd)
    sys.stdout.flush()
    sys.stderr.flush()
    # Blender may hang or crash while it tears itself down; nothing is left to save.
    os._exit(0)


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _make_importable() -> None:
    here = Path(__file__).resolve().parent
    # Python puts a script's folder first on its path: there our modules would hide others.
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != here]
    package = here.parent
    spec = importlib.util.spec_from_file_location(
        "robustclevr", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{package} is not the robustclevr package")
    module = importlib.util.module_from_spec(spec)
    sys.modules["robustclevr"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    main()

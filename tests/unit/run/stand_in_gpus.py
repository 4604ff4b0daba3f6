"""A stand-in for a Blender process on a machine with GPUs, which may fail under it.

STAND_IN_GPUS holds JSON: ``count`` of GPUs, ``witness``, a file to which each process writes one
line about itself, and ``lost``, indices of the samples at which a GPU fails, and how: ``says`` it
and lives, ``dies`` with it, or is ``gone`` for processes that come later. ``broken``: its driver
takes the process with it that asks for devices.
"""

import json
import os
from pathlib import Path

WORDS = "Illegal address in CUDA queue copy_from_device (integrator_shade_surface)"
# pytest imports this file too when it looks for doctests.
ASKED = json.loads(os.environ.get("STAND_IN_GPUS", '{"witness": "none"}'))
GONE = Path(ASKED["witness"]).with_suffix(".gone")


def gpus(backend):
    end = "_OptiX" if backend == "optix" else ""
    return [
        {"backend": backend, "name": "Fake", "id": f"CUDA_Fake_0000:{k + 1:02x}:00{end}"}
        for k in range(ASKED["count"])
    ]


def set_up(request):
    absent = {"hip": "no device", "metal": "not in this Blender", "oneapi": "no device"}
    wanted, only = request["device"], request["gpu"]
    found = [] if wanted == "cpu" else [*gpus("optix"), *gpus("cuda")]
    if not found:
        absent |= dict.fromkeys(("optix", "cuda"), "no driver")
    if ASKED.get("broken") and wanted != "cpu":
        os.abort()
    offered = [gpu for gpu in found if wanted in ("auto", gpu["backend"])]
    if only is not None and GONE.exists():
        message = f"GPU '{only}' is not there any more"
        return {"type": "failed", "kind": "DeviceLostError", "message": message}
    chosen = next((gpu for gpu in offered if only in (None, gpu["id"])), None)
    if wanted not in ("auto", "cpu") and chosen is None:
        message = f"device '{wanted}' is not here: no driver"
        return {"type": "failed", "kind": "SetupError", "message": message}
    with Path(ASKED["witness"]).open("a") as file:
        seen = {
            "pid": os.getpid(),
            "parent": os.getppid(),
            "device": wanted,
            "gpu": only,
            "threads": request["threads"],
            "cores": sorted(os.sched_getaffinity(0)),
            "visible": os.environ.get("CUDA_VISIBLE_DEVICES"),
        }
        file.write(json.dumps(seen) + "\n")
    reply = plain_answer(request, {})
    label = "cpu" if chosen is None else f"{chosen['backend']} ({chosen['name']})"
    survey = {"gpus": found, "absent": absent, "kernels": ["sm_86", "compute_75"]}
    return {**reply, "device": label, "gpu": chosen, "why": "", "survey": survey}


class Answers:
    """Knows which device it was told to use."""

    def __init__(self):
        self.on_gpu = False

    def __call__(self, request, behavior):
        if request["type"] == "setup":
            reply = set_up(request)
            self.on_gpu = reply.get("gpu") is not None
            return reply
        if self.on_gpu and request["plan"]["index"] in ASKED.get("lost", ()):
            return self.lose()
        return plain_answer(request, behavior)

    def lose(self):
        if ASKED["how"] == "dies":
            os.write(2, f"{WORDS}\n".encode())
            os.abort()
        if ASKED["how"] == "gone":
            GONE.touch()
        message = f"Blender could not render: Error: {WORDS}"
        return {"type": "failed", "kind": "RenderError", "message": message}


def plain_answer(request, behavior):
    import stand_in_worker  # beside this script, which is where Python looks first

    return stand_in_worker.answer(request, behavior)


if __name__ == "__main__":
    import stand_in_worker

    stand_in_worker.main(Answers())

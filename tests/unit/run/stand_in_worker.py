"""A stand-in for the Blender process: speaks its protocol, renders hashes instead of scenes.

Pixels follow from the Plan alone. What it does wrong is asked for in STAND_IN, a comma-separated
list of ``what:index``: ``die`` (SIGKILL itself), ``exit`` (code 3), ``fail`` (a RecipeError),
``error`` (a RenderError), ``print`` (an error, and goes on), ``eat`` (memory, without end),
``recipe:all`` (dies of any image but the clean one), ``hang``; ``slow:seconds`` delays every
sample, ``no-bpy:0`` has no Blender, ``count:FILE`` adds a line for each sample that is begun. With
``once:FILE`` the file is made by the first misbehavior, and there is no second.
"""

import argparse
import faulthandler
import hashlib
import json
import os
import signal
import time
from pathlib import Path

import numpy as np


def main(respond=None) -> None:
    respond = respond or answer
    parser = argparse.ArgumentParser()
    parser.add_argument("--in-fd", type=int, required=True)
    parser.add_argument("--out-fd", type=int, required=True)
    options = parser.parse_args()
    faulthandler.register(signal.SIGUSR2)
    behavior = dict(
        item.split(":", 1) for item in os.environ.get("STAND_IN", "").split(",") if item
    )
    with os.fdopen(options.in_fd) as requests, os.fdopen(options.out_fd, "w") as replies:
        for line in requests:
            request = json.loads(line)
            if request["type"] == "quit":
                break
            replies.write(json.dumps(respond(request, behavior)) + "\n")
            replies.flush()
    os._exit(0)


def answer(request: dict, behavior: dict[str, str]) -> dict:
    if request["type"] == "setup":
        if "no-bpy" in behavior:
            raise ModuleNotFoundError("No module named 'bpy'")
        versions = {"blender": "0.0.0", "numpy": np.__version__, "python": "3"}
        return {
            "type": "ready",
            "versions": versions,
            "device": "cpu",
            "seconds": 0.0,
            "rss_bytes": 1,
        }
    plan, scratch = request["plan"], Path(request["scratch"])
    if "once" in behavior and Path(behavior["once"]).exists():
        behavior = {}
    elif "once" in behavior and str(plan["index"]) in behavior.values():
        Path(behavior["once"]).touch()
    if "count" in behavior:
        with Path(behavior["count"]).open("a") as file:
            file.write(f"{plan['index']}\n")
    misbehave(plan["index"], behavior)
    if "recipe" in behavior and len(plan["images"]) > 1:
        os._exit(4)
    if behavior.get("error") == str(plan["index"]):
        return {"type": "failed", "kind": "RenderError", "message": "no light", "traceback": ""}
    if behavior.get("fail") == str(plan["index"]):
        return {
            "type": "failed",
            "kind": "RecipeError",
            "message": "glare.py:7: no",
            "traceback": "",
        }
    return render(plan, scratch)


def misbehave(index: int, behavior: dict[str, str]) -> None:
    time.sleep(float(behavior.get("slow", "0")))
    os.write(1, f"rendering {index}\n".encode())
    if behavior.get("die") in (str(index), "all"):
        os.kill(os.getpid(), signal.SIGKILL)
    if behavior.get("exit") == str(index):
        os._exit(3)
    if behavior.get("print") == str(index):
        os.write(2, b"Error: no such texture\nWarning: it will be pink\n")
    if behavior.get("eat") == str(index):
        eaten = []
        while True:
            eaten.append(bytearray(os.urandom(1 << 20)) * 16)
            time.sleep(0.01)
    if behavior.get("hang") == str(index):
        time.sleep(3600)


def render(plan: dict, scratch: Path) -> dict:
    height, width = plan["settings"]["height"], plan["settings"]["width"]
    count = len(plan["scene"]["objects"])
    images = []
    for number, image in enumerate(plan["images"]):
        text = json.dumps([plan["root_seed"], plan["split"], plan["index"], image["variant"]])
        key = np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint64)
        rng = np.random.Generator(np.random.Philox(key=key[:2]))
        np.save(scratch / f"{number}.npy", rng.random((height, width, 3), np.float32))
        source = None
        if image["variant"] == "lens_distortion":
            source = f"{number}.source.npy"
            flat = np.arange(height * width, dtype=np.int32).reshape(height, width)
            np.save(scratch / source, flat[:, ::-1])
        images.append({"variant": image["variant"], "pixels": f"{number}.npy", "source": source})
    labels = np.zeros((height, width), np.uint8)
    for i in range(count):  # stripes, two columns an object
        labels[:, 2 * i : 2 * i + 2] = i + 1
    np.save(scratch / "labels.npy", labels)
    extra = {}
    for name in ("amodal", "depth", "normal"):
        extra[name] = f"{name}.npy" if name in plan["outputs"] else None
    if extra["amodal"]:
        masks = np.stack([labels == i + 1 for i in range(count)])
        masks[:, :, -1] = True
        np.save(scratch / "amodal.npy", masks)
    if extra["depth"]:
        np.save(scratch / "depth.npy", np.full((height, width), 2.5, np.float32))
    if extra["normal"]:
        np.save(scratch / "normal.npy", np.ones((height, width, 3), np.float32))
    seconds = {"cycles": 0.004, "labels": 0.003, "compositor": 0.002, "other": 0.001}
    return {
        "type": "rendered",
        "images": images,
        "labels": "labels.npy",
        **extra,
        "seconds": seconds,
        "renders": len(plan["renders"]),
        "rss_bytes": 1000 + plan["index"],
    }


if __name__ == "__main__":
    main()

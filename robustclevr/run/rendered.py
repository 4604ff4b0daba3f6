"""What a Blender process left in its scratch folder, checked and read into a Render."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import RenderError
from robustclevr.records import LinearImage, Plan, Render
from robustclevr.run.shards import sample_name


def read_render(
    reply: Mapping[str, Any],
    folder: Path,
    plan: Plan,
    *,
    versions: Mapping[str, str],
    device: str,
) -> Render:
    """Read the arrays a ``rendered`` reply names.

    Parameters
    ----------
    reply : mapping
        The reply; its file names are relative to ``folder``.
    folder : Path
    plan : Plan
        The sample's plan: fixes shapes and the order of images.
    versions, device : mapping of str to str, str
        Of the process.

    Raises
    ------
    RenderError
        If a file is missing or has another shape or type than the plan asks for.
    """
    name = sample_name(plan.split, plan.index)
    size = (plan.settings.height, plan.settings.width)
    objects = len(plan.scene.objects)

    def load(file: str | None, shape: tuple[int, ...], dtype: type) -> NDArray[Any] | None:
        return None if file is None else _load(folder / file, shape, np.dtype(dtype), name)

    planned = [image.variant for image in plan.images]
    returned = [image["variant"] for image in reply["images"]]
    if planned != returned:
        raise RenderError(f"{name}: the renderer returned images {returned}, not {planned}")
    return Render(
        images=tuple(
            LinearImage(
                variant=image["variant"],
                pixels=_load(folder / image["pixels"], (*size, 3), np.dtype(np.float32), name),
                source=load(image["source"], size, np.int32),
            )
            for image in reply["images"]
        ),
        labels=_load(folder / reply["labels"], size, np.dtype(np.uint8), name),
        amodal=load(reply["amodal"], (objects, *size), np.bool_),
        depth=load(reply["depth"], size, np.float32),
        normal=load(reply["normal"], (*size, 3), np.float32),
        seconds=dict(reply["seconds"]),
        renders=int(reply["renders"]),
        versions=dict(versions),
        device=device,
    )


def _load(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], name: str) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise RenderError(f"{name}: {path.name} of the renderer is unreadable: {error}") from error
    if array.shape != shape or array.dtype != dtype:
        raise RenderError(
            f"{name}: {path.name} of the renderer is {array.dtype}{array.shape}, "
            f"expected {dtype}{shape}"
        )
    return array

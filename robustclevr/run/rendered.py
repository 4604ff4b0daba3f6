"""What a Blender process left in its scratch folder, checked and read into a Render."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import RenderError
from robustclevr.records import ImagePlan, LinearImage, Plan, Render
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

    return Render(
        images=read_images(reply["images"], folder, plan.images, size, name),
        labels=_load(folder / reply["labels"], size, np.dtype(np.uint8), name),
        amodal=load(reply["amodal"], (objects, *size), np.bool_),
        depth=load(reply["depth"], size, np.float32),
        normal=load(reply["normal"], (*size, 3), np.float32),
        seconds=dict(reply["seconds"]),
        renders=int(reply["renders"]),
        versions=dict(versions),
        device=device,
    )


def read_images(
    made: Sequence[Mapping[str, Any]],
    folder: Path,
    planned: Sequence[ImagePlan],
    size: tuple[int, ...],
    name: str,
) -> tuple[LinearImage, ...]:
    """Read the images that a reply names.

    Parameters
    ----------
    made : sequence of mapping
        ``variant``, and the file names ``pixels``, ``source`` and, if known, ``labels``.
    folder : Path
    planned : sequence of ImagePlan
    size : (int, int)
        Height and width. [px]
    name : str
        The sample's, for messages.

    Raises
    ------
    RenderError
        If they are others than were planned, or a file is missing or of another shape or type.
    """
    wanted, returned = [image.variant for image in planned], [image["variant"] for image in made]
    if wanted != returned:
        raise RenderError(f"{name}: the renderer returned images {returned}, not {wanted}")
    return tuple(
        LinearImage(
            variant=image["variant"],
            pixels=_load(folder / image["pixels"], (*size, 3), np.dtype(np.float32), name),
            source=None
            if image["source"] is None
            else _load(folder / image["source"], size, np.dtype(np.int32), name),
            labels=None
            if image.get("labels") is None
            else _load(folder / image["labels"], size, np.dtype(np.uint8), name),
        )
        for image in made
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

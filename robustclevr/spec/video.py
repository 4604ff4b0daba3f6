"""``video:`` and ``scenario:`` of one split to VideoOptions; what is wrong gets its file and line.

The rules themselves, such as what a scenario is called and which numbers it takes, are those of
:mod:`robustclevr.video`, as a node's parameters are those of its recipe. It is imported only
where a file names one of its families.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from robustclevr.errors import SpecError
from robustclevr.records import VideoOptions, to_json
from robustclevr.spec.document import Document
from robustclevr.spec.overrides import OPTION

_SPMOT_KEYS = ("frames", "height", "width", "mask_threshold", "stream", "sampling")
"""What Sprites-MOT leaves open; the rest is its own law."""

_FILES = {"textures": Path.is_dir, "dsprites": Path.is_file}
_KINDS = {"textures": "folder", "dsprites": "file"}


def read_video(
    document: Document,
    family: str,
    video: Mapping[str, Any],
    scenario: Mapping[str, Mapping[str, Any]] | None,
    *,
    where: Callable[[str], str],
    folder: Path,
) -> VideoOptions | None:
    """Resolve the video options of one split.

    Parameters
    ----------
    document : Document
        Hears of every problem.
    family : str
        One that the video package makes.
    video, scenario : mapping, mapping or None
        What file and split say together.
    where : callable
        From ``video.frames`` to the path at which the split got that value.
    folder : Path
        Where relative paths in the file start.

    Returns
    -------
    VideoOptions or None
        With absolute paths; None if something is wrong.
    """
    from robustclevr.video import resolve

    try:
        options = resolve(family, video, scenario)
    except SpecError as error:
        for problem in error.problems:
            document.problem(where(problem.path), problem.message, problem.hint)
        return None
    files = {
        key: _found(document, where(f"video.{key}"), video.get(key), key, folder) for key in _FILES
    }
    return replace(options, dsprites=files["dsprites"], textures=files["textures"])


def video_document(options: VideoOptions, written: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``video`` and ``scenario`` of a split's document: resolved, paths as written.

    Parameters
    ----------
    options : VideoOptions
    written : mapping
        ``video:`` as file and split say it.
    """
    video: dict[str, Any] = to_json(options)
    video.pop("family")
    scenario = video.pop("scenarios")
    video |= {key: written.get(key) for key in _FILES}
    if options.family == "spmot":
        video = {key: video[key] for key in _SPMOT_KEYS}
    return {"video": video, "scenario": scenario}


def _found(
    document: Document, path: str, written: str | None, key: str, folder: Path
) -> str | None:
    """Return a path of the file as an absolute one; a path on the command line starts here."""
    if written is None:
        return None
    typed = document.place(path).file.startswith(OPTION)
    place = Path(written) if typed else folder / written
    if not _FILES[key](place):
        start = "the working folder" if typed else "this file's folder"
        what = f"there is no {_KINDS[key]} '{written}'"
        document.problem(path, what, f"relative paths start at {start}")
    return str(place.resolve())

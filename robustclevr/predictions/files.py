"""Where predictions stand, and whether they are those of a split.

``PRED/<split>/<key>.<variant>.png`` or ``.npz``; for clips ``PRED/<split>/<key>.npz`` and
``<key>.<node>.npz``; or ``PRED/<split>.json`` in the form of the video benchmark, in which case
``PRED`` may also be that file. Beside them may stand ``<variant>.coco.json``, detections. Hidden
files are passed over.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from robustclevr.errors import RobustClevrError, SpecError, StoreError, suggest
from robustclevr.predictions.benchmark_json import clip_prediction, read_benchmark_json
from robustclevr.predictions.labels import Prediction, decode_prediction
from robustclevr.predictions.targets import Target, targets
from robustclevr.store.dataset import Dataset
from robustclevr.store.layout import sample_key
from robustclevr.store.sample import CLEAN

SUFFIXES = (".png", ".npz")
DETECTIONS_SUFFIX = ".coco.json"
_SHOWN = 5  # names in an error


@dataclass(frozen=True)
class SplitFiles:
    """The predictions of one split.

    Attributes
    ----------
    split : str
    place : Path
        Their folder, or the video benchmark's file.
    """

    split: str
    place: Path

    @property
    def is_json(self) -> bool:
        """Whether one file holds them all."""
        return self.place.suffix == ".json"

    def read(self, target: Target) -> Prediction | None:
        """Return the prediction for a target, None if there is none.

        Raises
        ------
        StoreError
            If it cannot be read or is not of the target's shape; names the file.
        """
        if self.is_json:
            video = read_benchmark_json(self.place)[target.index]
            return clip_prediction(video, target.shape, f"{self.place}: video {target.index}")
        file = prediction_file(self.place, target.sample.key, target.variant)
        if file is None:
            return None
        try:
            return decode_prediction(file.read_bytes(), file.suffix, target.shape)
        except RobustClevrError as error:
            raise StoreError(f"{file}: {error}") from error
        except OSError as error:
            raise StoreError(f"{file}: cannot be read: {error.strerror}") from error

    def detections_file(self, variant: str) -> Path | None:
        """Return the file of detections in a variant, None if there is none."""
        file = self.place / f"{variant}{DETECTIONS_SUFFIX}"
        return None if self.is_json or not file.is_file() else file


def file_stem(key: str, variant: str, *, is_clip: bool) -> str:
    """Return the name, without its suffix, under which a prediction is written."""
    return key if is_clip and variant == CLEAN else f"{key}.{variant}"


def prediction_file(folder: Path, key: str, variant: str) -> Path | None:
    """Return the file that holds a prediction, None if there is none.

    Raises
    ------
    StoreError
        If there are two.
    """
    stems = [f"{key}.{variant}", *([key] if variant == CLEAN else [])]
    found = [folder / f"{stem}{suffix}" for stem in stems for suffix in SUFFIXES]
    found = [file for file in found if file.is_file()]
    if len(found) > 1:
        names = " and ".join(file.name for file in found)
        raise StoreError(f"{folder}: {names} are both there; keep one")
    return found[0] if found else None


def find_splits(predictions: Path, dataset: Dataset, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the splits that are predicted.

    Parameters
    ----------
    predictions : Path
        Folder, or a file of the video benchmark's form.
    dataset : Dataset
    wanted : sequence of str
        What the user asked for; empty for all that have predictions.

    Raises
    ------
    SpecError
        If there is nothing, or it is not said of which split it is.
    StoreError
        If a split is asked for or predicted that the dataset does not have.
    """
    for split in wanted:
        dataset.split(split)
    if not predictions.exists():
        raise SpecError.single("there is no such folder or file", file=str(predictions))
    if predictions.is_file():
        return _split_of_file(predictions, dataset, wanted)
    if wanted:
        return tuple(wanted)
    held = sorted(path for path in predictions.iterdir() if _holds_split(path))
    for path in held:
        if path.stem not in dataset.splits:
            hint = suggest(path.stem, dataset.splits)
            raise StoreError(f"{path}: the dataset has no split '{path.stem}'; {hint}")
    if not held:
        hint = f"write {predictions}/<split>/<key>.<variant>.png"
        raise SpecError.single("holds no predictions", file=str(predictions), hint=hint)
    return tuple(dict.fromkeys(path.stem for path in held))


def open_split(
    predictions: Path,
    dataset: Dataset,
    split: str,
    *,
    variants: Collection[str] = (),
    allow_missing: bool = False,
) -> SplitFiles:
    """Check that the predictions of a split are for its samples.

    Parameters
    ----------
    predictions : Path
    dataset : Dataset
    split : str
    variants : collection of str
        Which have to be there; empty for all that the samples have.
    allow_missing : bool
        Whether some may be missing.

    Returns
    -------
    SplitFiles

    Raises
    ------
    StoreError
        If a file is of no sample or variant of the split, or missing.
    """
    if predictions.is_file():
        place = predictions
    else:
        folder, file = predictions / split, predictions / f"{split}.json"
        place = file if file.is_file() and not folder.is_dir() else folder
    files = SplitFiles(split, place)
    if not place.exists():
        raise StoreError(f"{place}: is missing, so there are no predictions of '{split}'")
    keys = [sample_key(index) for index in range(dataset.split(split).samples)]
    first = targets(dataset.sample(split, 0))
    names = {target.variant for target in first}
    for variant in variants:
        if variant not in names:
            raise SpecError.single(
                f"split '{split}' has no variant '{variant}'", hint=suggest(variant, names)
            )
    if files.is_json:
        videos = len(read_benchmark_json(place))
        if videos != len(keys):
            raise StoreError(f"{place}: {videos} videos, but split '{split}' has {len(keys)} clips")
        return files
    there = _predicted(place, set(keys), names, is_clip=first[0].is_clip)
    wanted = [target.variant for target in first if target.variant in (variants or names)]
    missing = [f"{k}.{v}" for k in keys for v in wanted if (k, v) not in there]
    if missing and not allow_missing:
        shown = ", ".join(missing[:_SHOWN]) + (", …" if len(missing) > _SHOWN else "")
        raise StoreError(
            f"{place}: {len(missing)} of {len(keys) * len(wanted)} predictions are missing: "
            f"{shown}; write them, or let them count as empty with --allow-missing"
        )
    return files


def is_hidden(path: Path) -> bool:
    """Return whether a file is none of the user's: file managers leave ``.DS_Store`` and such."""
    return path.name.startswith(".")


def _holds_split(path: Path) -> bool:
    return not is_hidden(path) and (path.is_dir() or path.suffix == ".json")


def _split_of_file(file: Path, dataset: Dataset, wanted: Sequence[str]) -> tuple[str, ...]:
    splits = tuple(wanted) or tuple(dataset.splits)
    if len(splits) != 1:
        names = ", ".join(splits)
        raise SpecError.single(
            f"one file holds predictions of one split, not of {names}",
            file=str(file),
            hint="say which with --split",
        )
    return splits


def _predicted(
    folder: Path, keys: set[str], variants: set[str], *, is_clip: bool
) -> set[tuple[str, str]]:
    """Return key and variant of each prediction in a folder."""
    there = set()
    for file in sorted(path for path in folder.iterdir() if not is_hidden(path)):
        if file.name.endswith(DETECTIONS_SUFFIX):
            _require(file, file.name.removesuffix(DETECTIONS_SUFFIX), variants)
            continue
        if file.suffix not in SUFFIXES or (is_clip and file.suffix == ".png"):
            kind = "a clip is a .npz file" if is_clip else "an image is a .png or .npz file"
            raise StoreError(f"{file}: is no prediction; one for {kind}")
        key, _, variant = file.stem.partition(".")
        if key not in keys:
            last = sample_key(len(keys) - 1)
            raise StoreError(
                f"{file}: the split has no sample '{key}', only {sample_key(0)} to {last}"
            )
        _require(file, variant or CLEAN, variants)
        there.add((key, variant or CLEAN))
    return there


def _require(file: Path, variant: str, variants: set[str]) -> None:
    if variant not in variants:
        hint = suggest(variant, variants)
        raise StoreError(f"{file}: the samples have no variant '{variant}'; {hint}")

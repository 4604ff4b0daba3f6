"""One prediction: a label map, or soft masks that become one.

The bytes of a PNG or NPZ enter with the shape that is due; labels leave. Label 0 is no object,
which a method that also segments the background need not use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import StoreError
from robustclevr.imaging import decode_npz, decode_png

MASKS = "masks"
RECONSTRUCTION = "reconstruction"


@dataclass(frozen=True)
class Prediction:
    """What a method says of one image or clip.

    Attributes
    ----------
    labels : ndarray of int, shape (H, W) or (T, H, W)
        0 no object.
    masks : ndarray of bool, shape (T, P, H, W), or None
        For a clip whose predicted masks may lie over each other; in ``labels`` the first wins.
    reconstruction : ndarray of uint8 or float, shape (T, H, W, 3), or None
    missing : bool
        Whether it stands for one that is not there.
    """

    labels: NDArray[Any]
    masks: NDArray[np.bool_] | None = None
    reconstruction: NDArray[Any] | None = None
    missing: bool = False

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> Prediction:
        """Return what a missing prediction counts as: no object anywhere."""
        return cls(np.zeros(shape, np.uint8), missing=True)


def decode_prediction(data: bytes, suffix: str, shape: tuple[int, ...]) -> Prediction:
    """Read one prediction.

    Parameters
    ----------
    data : bytes
        Of the file.
    suffix : str
        ``.png`` for a grey label map of an image; ``.npz`` for an array ``masks`` as in
        :func:`to_labels` and, for clips, ``reconstruction`` if there is one.
    shape : tuple of int
        Of the true labels: (H, W) or (T, H, W).

    Raises
    ------
    StoreError
        If the file cannot be read or is not of that shape; the caller knows the file's name.
    """
    if suffix == ".png":
        picture = decode_png(data)
        if picture.ndim != 2:
            raise StoreError("is a color picture; a map of labels is 8-bit grey")
        return Prediction(to_labels(picture, shape))
    arrays = decode_npz(data)
    if MASKS not in arrays:
        held = ", ".join(f"'{name}'" for name in arrays) or "nothing"
        raise StoreError(f"has no array '{MASKS}', only {held}")
    reconstruction = arrays.get(RECONSTRUCTION)
    if reconstruction is not None and reconstruction.shape != (*shape, 3):
        raise StoreError(f"'{RECONSTRUCTION}' is {reconstruction.shape}, {(*shape, 3)} is due")
    return Prediction(to_labels(arrays[MASKS], shape), reconstruction=reconstruction)


def to_labels(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Turn labels or soft masks into labels.

    Parameters
    ----------
    array : ndarray
        Integer labels >= 0 of shape ``shape``; or K masks, one axis more, before the last two.
        Masks of floats are soft: a pixel belongs to the slot of the largest value, of equal ones
        to the first, and slot k becomes label k + 1. Masks of booleans are hard: so too, but a
        pixel in none has label 0.
    shape : tuple of int
        (H, W) or (T, H, W).

    Returns
    -------
    ndarray of int, shape ``shape``

    Raises
    ------
    StoreError
        If the shape is another, a label negative, or a value of soft masks not finite.

    Examples
    --------
    >>> to_labels(np.array([[[0.5, 0.1]], [[0.5, 0.9]]]), (1, 2))
    array([[1, 2]])
    """
    if array.ndim == len(shape) + 1:
        if (*array.shape[:-3], *array.shape[-2:]) != shape or array.shape[-3] == 0:
            raise _wrong_shape(array, shape)
        return _of_masks(array)
    if array.shape != shape:
        raise _wrong_shape(array, shape)
    if array.dtype.kind not in "iub":
        raise StoreError(f"labels are {array.dtype}, integers are due")
    if array.size and array.min() < 0:
        raise StoreError(f"labels go down to {array.min()}; they begin at 0, no object")
    return array.astype(np.uint8) if array.dtype.kind == "b" else array


def _of_masks(masks: NDArray[Any]) -> NDArray[Any]:
    if masks.dtype.kind not in "fb":
        raise StoreError(
            f"masks are {masks.dtype}; floats (soft) or booleans (hard) are due, "
            "or one map of integer labels"
        )
    finite = np.isfinite(masks)
    if not finite.all():
        raise StoreError(
            f"{np.count_nonzero(~finite)} values of the masks are infinite or not a number"
        )
    labels: NDArray[Any] = masks.argmax(axis=-3) + 1
    return labels if masks.dtype.kind == "f" else np.where(masks.any(axis=-3), labels, 0)


def _wrong_shape(array: NDArray[Any], shape: tuple[int, ...]) -> StoreError:
    soft = "(" + ", ".join([*(str(n) for n in shape[:-2]), "K", *(str(n) for n in shape[-2:])])
    return StoreError(
        f"masks are of shape {array.shape}; labels of shape {shape} or soft masks of shape "
        f"{soft}) are due"
    )

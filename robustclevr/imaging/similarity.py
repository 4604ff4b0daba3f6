"""How similar two images are: higher is more alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from skimage.metrics import structural_similarity

_LEVELS = 255

Image = NDArray[np.uint8]


def ssim(reference: Image, image: Image) -> float:
    """Return the structural similarity of two sRGB images.

    Parameters
    ----------
    reference, image : ndarray of uint8, shape (H, W, 3)
        At least 7 pixels high and wide.

    Returns
    -------
    float
        Mean over pixels and channels; 1 for equal images. [-1, 1]

    Notes
    -----
    scikit-image's, with its uniform 7x7 window.
    """
    value = structural_similarity(  # type: ignore[no-untyped-call]
        reference, image, channel_axis=-1, data_range=_LEVELS
    )
    return float(value)


def psnr(reference: Image, image: Image) -> float:
    """Return the peak signal-to-noise ratio of two sRGB images; infinite for equal ones. [dB]."""
    error = float(np.mean((reference.astype(np.float64) - image) ** 2))
    return float("inf") if error == 0 else float(10 * np.log10(_LEVELS**2 / error))


SIMILARITIES: Mapping[str, Callable[[Image, Image], float]] = {"ssim": ssim, "psnr": psnr}
"""By the name that a dataset file uses."""

"""Run by an interpreter that has imagecorruptions: what its corruptions cost, in this process.

    python imagecorruptions_ms.py FOLDER

Prints one JSON object: milliseconds of processor time an image by name of the corruption, at
severity 3, for reading the file, corrupting it and writing a PNG, as `corrupt` of ours does; or
the error of one that fails with the installed numpy and scikit-image.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import skimage.filters
from imagecorruptions import corrupt, corruptions
from PIL import Image

NAMES = ("gaussian_blur", "defocus_blur", "motion_blur", "pixelate", "jpeg_compression")


def gaussian(image, sigma=1, multichannel=False, **options):
    """Call scikit-image's filter as it was called before 0.19: the package still does."""
    axis = -1 if multichannel else None
    return skimage.filters.gaussian(image, sigma=sigma, channel_axis=axis, **options)


def each_ms(name: str, files: list[Path], target: Path) -> float:
    """Return milliseconds a file; the first one warms up and does not count."""
    started = 0.0
    for number, file in enumerate(files):
        if number == 1:
            started = time.process_time()
        image = np.asarray(Image.open(file))
        made = corrupt(image, corruption_name=name, severity=3)
        Image.fromarray(made).save(target / file.name, compress_level=2)
    return (time.process_time() - started) / (len(files) - 1) * 1000


def main(folder: Path) -> None:
    """Print what each costs."""
    corruptions.gaussian = gaussian
    files = sorted(folder.iterdir())
    found: dict[str, float | str] = {}
    with tempfile.TemporaryDirectory() as target:
        for name in NAMES:
            try:
                found[name] = round(each_ms(name, files, Path(target)), 2)
            except Exception as error:  # noqa: BLE001 - an unmaintained package may fail anyhow
                found[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))

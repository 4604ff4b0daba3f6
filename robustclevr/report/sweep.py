"""A sweep as files: the curve as JSON, a picture of it, a sheet of images over severity."""

from __future__ import annotations

import io
from importlib.metadata import version
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import robustclevr
from robustclevr.records import Variant
from robustclevr.report.contact_sheet import contact_sheet
from robustclevr.run.sweep import Similarities, Sweep, way_point
from robustclevr.store.jsonbytes import stable_json

# Chosen: a pair of panels as wide as a column of text, and colors that stay apart in print.
_SIZE_IN = (7.0, 2.8)
_MEAN, _SCENE, _EVEN = "#1f5fa8", "#b9c9dc", "#888888"
_OUTLINE = (255, 236, 60)
_STABLE: Any = {"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}


def curve_document(sweep: Sweep) -> dict[str, Any]:
    """Return a sweep as JSON-safe data: what lies beside a recipe as ``<id>.curve.json``.

    Returns
    -------
    dict
        ``map``: the knots of the curve, with the parameters at each; ``severity``, ``mean`` and
        ``per_scene`` of ``ssim`` and ``psnr`` (null for equal images) on the tested scenes;
        ``hundredth``: the mean at severity 0.01; ``fitted``: the means that the curve was
        fitted to; ``image``, ``scenes``, ``root_seed``, ``versions``: what was measured on;
        ``ms_per_image``.
    """
    points = [way_point(sweep.recipe, fraction) for fraction in sweep.curve.fraction]
    moving = [item.name for item in sweep.recipe.parameters if item.role == "severity"]
    render, tested = sweep.options.render, sweep.tested
    return {
        "recipe": sweep.recipe.id,
        "image": {"height": render.height, "width": render.width, "samples": render.samples},
        "scenes": {"fitted": sweep.fitted.scenes, "tested": tested.scenes},
        "root_seed": sweep.options.root_seed,
        "versions": {
            "robustclevr": robustclevr.__version__,
            "scikit-image": version("scikit-image"),
            **sweep.versions,
        },
        "map": {
            "severity": sweep.curve.severity,
            "fraction": sweep.curve.fraction,
            "parameters": {name: [_round(point[name]) for point in points] for name in moving},
        },
        "severity": tested.at,
        "mean": _means(tested),
        "per_scene": {
            "ssim": [[_round(value) for value in scene] for scene in tested.ssim.tolist()],
            "psnr": [[_decibels(value) for value in scene] for scene in tested.psnr.tolist()],
        },
        "hundredth": {"severity": 0.01, "ssim": _round(1.0 - sweep.hundredth)},
        "fitted": {"fraction": sweep.fitted.at, "mean": _means(sweep.fitted)},
        "ms_per_image": round(sweep.ms_per_image, 1),
    }


def curve_json(sweep: Sweep) -> bytes:
    """Return :func:`curve_document` as the bytes of a file."""
    return stable_json(curve_document(sweep))


def curve_plot(sweep: Sweep) -> bytes:
    """Draw 1 - SSIM and PSNR over severity, each scene and the mean, as a PNG file."""
    with mpl.rc_context(_STABLE):
        figure = Figure(figsize=_SIZE_IN, layout="constrained")
        left, right = figure.subplots(1, 2)
        tested = sweep.tested
        _draw(left, tested, 1.0 - tested.ssim, "1 - SSIM")
        left.plot([0, 1], [0, float(1 - tested.ssim[:, -1].mean())], ":", color=_EVEN, lw=1)
        left.set_ylim(bottom=0.0)
        _draw(right, tested, np.where(np.isinf(tested.psnr), np.nan, tested.psnr), "PSNR [dB]")
        figure.suptitle(f"{sweep.recipe.id}: {len(tested.scenes)} scenes it was not fitted to")
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=120, metadata={"Software": None})
    return buffer.getvalue()


def sweep_sheet(sweep: Sweep) -> NDArray[np.uint8]:
    """Return the images of some tested scenes, a row each, over severity.

    For a recipe that moves pixels a second row shows the outlines of the labels on the images.

    Returns
    -------
    ndarray of uint8, shape (H', W', 3)
        sRGB.
    """
    rows, titles = [], []
    for name, variants in sweep.pictures.items():
        rows.append([variant.image for variant in variants])
        titles.append(name.rpartition("/")[2])
        if sweep.recipe.geometry == "warps":
            rows.append([outlined(variant) for variant in variants])
            titles.append("labels")
    levels = sweep.tested.at
    step = max(1, (len(levels) - 1) // (len(rows[0]) - 1))
    return contact_sheet(
        rows,
        column_titles=[f"severity {level:g}" for level in levels[::step]],
        row_titles=titles,
    )


def outlined(variant: Variant) -> NDArray[np.uint8]:
    """Return the image with a line wherever its labels change."""
    labels, image = variant.labels, variant.image.copy()
    edge = np.zeros(labels.shape, np.bool_)
    edge[:, 1:] |= labels[:, 1:] != labels[:, :-1]
    edge[1:] |= labels[1:] != labels[:-1]
    image[edge] = _OUTLINE
    return image


def _draw(axes: Axes, tested: Similarities, values: NDArray[np.float64], title: str) -> None:
    axes.plot(tested.at, values.T, color=_SCENE, lw=0.8)
    axes.plot(tested.at, values.mean(axis=0), "o-", color=_MEAN, lw=1.5, ms=3)
    axes.set_xlabel("severity")
    axes.set_title(title)


def _means(similarities: Similarities) -> dict[str, list[float | None]]:
    return {
        "ssim": [_round(value) for value in similarities.ssim.mean(axis=0).tolist()],
        "psnr": [_decibels(value) for value in similarities.psnr.mean(axis=0).tolist()],
    }


def _round(value: Any) -> float:
    return round(float(value), 6)


def _decibels(value: float) -> float | None:
    return None if np.isinf(value) else round(value, 3)

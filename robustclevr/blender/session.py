"""Blender's state around a sample: an empty file, and how Cycles renders.

Enters: a Plan's render settings, the number of threads, the device. Leaves: a scene without
objects that renders as CLEVR's generator does, to 32-bit scene-linear EXR files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from robustclevr.errors import RenderError
from robustclevr.records import RenderSettings

FILTER_GLOSSY = 2.0
"""``blur_glossy`` of clevr-dataset-gen's render_images.py."""

TRANSPARENT_BOUNCES = 8
"""Transparent min and max bounces of clevr-dataset-gen's render_images.py."""


def reset() -> Any:
    """Empty the session, whatever the last sample left in it, and return its only scene."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return bpy.context.scene


def configure(scene: Any, settings: RenderSettings, *, threads: int, device: str) -> None:
    """Set how ``scene`` renders: everything that bears on pixels, whatever the version's default.

    Parameters
    ----------
    scene : bpy.types.Scene
    settings : RenderSettings
    threads : int
        Processor threads, >= 1; they do not change pixels.
    device : str
        ``cpu``, or anything else for the GPU that :mod:`robustclevr.blender.devices` switched on.
    """
    _configure_output(scene, settings, threads=threads)
    _configure_cycles(scene, settings, device=device)


def _configure_output(scene: Any, settings: RenderSettings, *, threads: int) -> None:
    render = scene.render
    render.engine = "CYCLES"
    render.resolution_x, render.resolution_y = settings.width, settings.height
    render.resolution_percentage = 100
    render.pixel_aspect_x = render.pixel_aspect_y = 1.0
    render.threads_mode, render.threads = "FIXED", threads
    render.film_transparent = False
    render.use_motion_blur = False
    render.dither_intensity = 0.0
    render.use_stamp = False
    render.use_compositing, render.use_sequencer = False, False
    render.compositor_device = "CPU"
    render.use_file_extension = False
    output = render.image_settings
    output.file_format, output.color_mode, output.color_depth = "OPEN_EXR", "RGBA", "32"
    output.exr_codec = "NONE"
    scene.view_settings.view_transform = "Standard"
    scene.view_settings.look = "None"
    scene.view_settings.exposure, scene.view_settings.gamma = 0.0, 1.0


def _configure_cycles(scene: Any, settings: RenderSettings, *, device: str) -> None:
    cycles: Any = scene.cycles
    cycles.device = "CPU" if device == "cpu" else "GPU"
    cycles.samples = settings.samples
    cycles.use_adaptive_sampling = False
    cycles.seed = settings.seed
    cycles.use_light_tree = True  # a fifth less noise for the same time in CLEVR scenes (measured)
    cycles.use_denoising = settings.denoise
    if settings.denoise:
        cycles.denoiser = "OPENIMAGEDENOISE"
    cycles.pixel_filter_type, cycles.filter_width = "BLACKMAN_HARRIS", 1.5
    cycles.blur_glossy = FILTER_GLOSSY
    # Blender 2.77, in which CLEVR was rendered, did not clamp; newer versions clamp at 10.
    cycles.sample_clamp_direct = cycles.sample_clamp_indirect = 0.0
    cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 12, 4, 4
    cycles.transparent_max_bounces = TRANSPARENT_BOUNCES
    cycles.min_transparent_bounces = TRANSPARENT_BOUNCES
    if hasattr(cycles, "volume_biased"):  # 5.x; its other method gives other fog than 4.5
        cycles.volume_biased = True


def render_to(scene: Any, path: Path) -> Path:
    """Render ``scene`` into an EXR file.

    Raises
    ------
    RenderError
        If Blender reports an error or leaves no file.
    """
    path.unlink(missing_ok=True)
    scene.render.filepath = str(path)
    try:
        bpy.ops.render.render(write_still=True, scene=scene.name)
    except RuntimeError as error:
        raise RenderError(f"Blender could not render: {error}") from error
    if not path.is_file():
        raise RenderError(f"Blender wrote no image to {path}")
    return path

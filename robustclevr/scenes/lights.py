"""CLEVR's four lights.

The numbers are those of the file base_scene.blend of clevr-dataset-gen, whose emission
strengths today's Blender takes unchanged as the energy of a light.
"""

from __future__ import annotations

from collections.abc import Mapping

from robustclevr.records import Light, Vector
from robustclevr.scenes.vectors import add, negate, unit

LIGHT_JITTER = 1.0
"""Each axis of each area light moves by up to this much, uniformly (render_images.py,
--key_light_jitter and its siblings). [m]"""

JITTERED_LIGHTS = ("key", "fill", "back")
"""The sun stays where it is."""

_WHITE: Vector = (1.0, 1.0, 1.0)
_AREA_LIGHTS: Mapping[str, tuple[Vector, float, Vector, float]] = {
    "key": ((6.446710, -2.905175, 4.258398), 100.0, (1.0, 0.93231, 0.81666), 0.5),
    "fill": ((-4.671124, -4.013597, 3.011225), 30.0, (0.76167, 0.81772, 1.0), 0.5),
    "back": ((-1.168501, 2.646024, 5.815737), 50.0, _WHITE, 1.0),
}
_SUN = Light(
    name="sun",
    kind="sun",
    position=(11.660807, -6.627993, 25.823168),
    direction=unit((-0.4145, 0.1946, -0.8890)),
    energy=0.45,
    rgb=_WHITE,
    size=0.1,
)


def clevr_lights(jitters: Mapping[str, Vector]) -> tuple[Light, ...]:
    """Return key, fill, back and sun.

    Parameters
    ----------
    jitters : mapping of str to 3 floats
        Offset of each of :data:`JITTERED_LIGHTS`. [m]

    Returns
    -------
    tuple of Light
        The area lights face the origin from where the jitter has put them.
    """
    return (*(_area_light(name, jitters[name]) for name in JITTERED_LIGHTS), _SUN)


def _area_light(name: str, jitter: Vector) -> Light:
    rest, energy, rgb, size = _AREA_LIGHTS[name]
    position = add(rest, jitter)
    return Light(
        name=name,
        kind="area",
        position=position,
        direction=unit(negate(position)),
        energy=energy,
        rgb=rgb,
        size=size,
    )

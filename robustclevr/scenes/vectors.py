"""Arithmetic on 3-vectors in plain Python floats.

Positions and matrices end in the record of a sample, which must come out the same on every
machine; BLAS routines may round differently from one processor to the next.
"""

from __future__ import annotations

import math

from robustclevr.records import Vector


def dot(a: Vector, b: Vector) -> float:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def subtract(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def negate(a: Vector) -> Vector:
    """Return -a, with plain zeros in place of negative ones."""
    return (0.0 - a[0], 0.0 - a[1], 0.0 - a[2])


def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def unit(a: Vector) -> Vector:
    """Return ``a`` divided by its length, which must not be 0."""
    length = math.sqrt(dot(a, a))
    return (a[0] / length, a[1] / length, a[2] / length)

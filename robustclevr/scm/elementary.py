"""The functions whose last bit may not depend on the machine or on the length of the array.

numpy computes float64 ``exp``, ``log``, ``sin``, ``tanh``, ``**`` … with vector units where the
processor has them, and their last bits differ between AVX2, AVX-512 and the scalar code. A draw
must be the same bit for bit on every node of a mixed cluster, alone or among a million. numpy has
no vector code for ``long double``, so these go through it; on x86 that also rounds to the nearest
double in all but about one of a thousand cases. Everything else (``+ - * / %``, ``sqrt``,
``floor``, comparisons) is exact to the last bit everywhere, and scipy's special functions are
scalar code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def _through_long_double(function: Callable[..., Any]) -> Callable[[ArrayLike], FloatArray]:
    def wrapped(x: ArrayLike) -> FloatArray:
        wide = np.asarray(x, dtype=np.float64).astype(np.longdouble)
        return np.asarray(function(wide)).astype(np.float64)

    wrapped.__name__ = function.__name__
    wrapped.__doc__ = f"Return numpy's ``{function.__name__}``, element by element, as float64."
    return wrapped


exp = _through_long_double(np.exp)
log = _through_long_double(np.log)
sin = _through_long_double(np.sin)
cos = _through_long_double(np.cos)
tan = _through_long_double(np.tan)
arcsin = _through_long_double(np.arcsin)
tanh = _through_long_double(np.tanh)


def power(base: ArrayLike, exponent: ArrayLike) -> FloatArray:
    """Return ``base ** exponent``, element by element, as float64.

    A square is taken by multiplying: a hundred times faster, and exact to the last bit.
    """
    x, y = np.asarray(base, dtype=np.float64), np.asarray(exponent, dtype=np.float64)
    if y.ndim == 0 and y == 2.0:
        return np.asarray(x * x)
    wide = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
    return np.asarray(wide).astype(np.float64)

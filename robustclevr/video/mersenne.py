"""torch's random numbers without torch.

``torch.rand`` on a CPU takes the low 24 bits of each 32-bit output of a Mersenne Twister that is
seeded by Matsumoto and Nishimura's ``init_genrand``; numpy has the same twister.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_STATE_WORDS = 624
_MULTIPLIER = 1812433253  # of init_genrand
_WORD = 2**32 - 1
_MANTISSA_BITS = 24


class TorchUniforms:
    """The numbers of ``torch.rand`` after ``torch.manual_seed``, in the order of the calls.

    Parameters
    ----------
    seed : int
        In [0, 2**32).
    """

    def __init__(self, seed: int) -> None:
        key = [seed & _WORD]
        for k in range(1, _STATE_WORDS):
            last = key[-1]
            key.append((_MULTIPLIER * (last ^ (last >> 30)) + k) & _WORD)
        self._bits = np.random.MT19937()
        self._bits.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(key, dtype=np.uint32), "pos": _STATE_WORDS},
        }

    def rand(self, *shape: int) -> NDArray[np.float32]:
        """Return what ``torch.rand(*shape)`` would: float32 in [0, 1), multiples of 2**-24."""
        words = np.asarray(self._bits.random_raw(int(np.prod(shape))), dtype=np.uint64)
        fraction = (words & np.uint64(2**_MANTISSA_BITS - 1)).astype(np.float32)
        return (fraction * np.float32(2.0**-_MANTISSA_BITS)).reshape(shape)

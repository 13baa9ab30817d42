"""Shared memory's banks: how many wavefronts an access of a warp takes.

Source: 32 banks of 4 bytes; an access of 8 bytes a lane is served by half-warps, of 16 bytes by quarter-warps; lanes
that read one word share it (CUDA C++ Programming Guide, "Shared Memory"; facts measured by wavefront counters agree).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BANKS, WORD, LANES = 32, 4, 32


def wavefronts(addresses: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Wavefronts of every access: ``addresses[..., lane]`` in bytes, ``width`` bytes a lane.

    Fewer than 32 lanes are a part of a warp.
    """
    lanes = max(1, min(LANES, BANKS * WORD // max(width, WORD)))
    *accesses, active = addresses.shape
    phases = -(-active // lanes)
    whole = np.concatenate([addresses, np.repeat(addresses[..., -1:], phases * lanes - active, -1)], -1)
    words = whole.reshape(-1, lanes, 1) // WORD + np.arange(max(width // WORD, 1))
    ordered = np.sort(words.reshape(len(words), -1), -1)
    first = np.diff(ordered, axis=-1, prepend=ordered[:, :1] - 1) != 0
    cells = (np.arange(len(ordered))[:, None] * BANKS + ordered % BANKS)[first]
    counts = np.bincount(cells, minlength=len(ordered) * BANKS).reshape(-1, BANKS)
    most: NDArray[np.int64] = counts.max(-1).reshape(*accesses, phases).sum(-1)
    return most


def ideal(lanes: int, width: int) -> int:
    """The fewest wavefronts in which so many lanes move ``width`` distinct bytes each."""
    return -(-lanes * width // (BANKS * WORD))


def of_side(addresses: NDArray[np.int64], firsts: list[int], width: int, bytes: int) -> int:
    """Wavefronts of all warps of a side.

    ``addresses[thread, item]`` in elements; ``firsts``: the first item of each access; ``width`` bytes a lane.
    """
    starts = addresses[:, firsts].T * bytes
    whole = starts.shape[1] // LANES * LANES
    total = int(wavefronts(starts[:, :whole].reshape(len(firsts), -1, LANES), width).sum()) if whole else 0
    return total + (int(wavefronts(starts[:, whole:], width).sum()) if whole < starts.shape[1] else 0)

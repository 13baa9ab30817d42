"""Sorting networks."""

from __future__ import annotations


def median_network(count: int) -> tuple[tuple[int, int], ...]:
    """Batcher's merge exchange (Knuth, TAOCP 3, 5.2.2 M), pruned to what element ``count // 2`` needs."""
    pairs: list[tuple[int, int]] = []
    top = 1 << max((count - 1).bit_length() - 1, 0)
    stride = top if count > 1 else 0
    while stride > 0:
        q, r, d = top, 0, stride
        while True:
            pairs += [(i, i + d) for i in range(count - d) if i & stride == r]
            if q == stride:
                break
            d, q, r = q - stride, q >> 1, stride
        stride >>= 1
    needed = {count // 2}
    kept = []
    for a, b in reversed(pairs):
        if a in needed or b in needed:
            kept.append((a, b))
            needed |= {a, b}
    return tuple(reversed(kept))

"""Sorting networks."""

from __future__ import annotations

Pairs = tuple[tuple[int, int], ...]


def sorting_network(wires: tuple[int, ...]) -> Pairs:
    """Batcher's merge exchange (Knuth, TAOCP 3, 5.2.2 M) on some wires, in their order."""
    count = len(wires)
    pairs: list[tuple[int, int]] = []
    top = 1 << max((count - 1).bit_length() - 1, 0)
    stride = top if count > 1 else 0
    while stride > 0:
        q, r, d = top, 0, stride
        while True:
            pairs += [(wires[i], wires[i + d]) for i in range(count - d) if i & stride == r]
            if q == stride:
                break
            d, q, r = q - stride, q >> 1, stride
        stride >>= 1
    return tuple(pairs)


def median_network(count: int, columns: int = 1) -> tuple[Pairs, int]:
    """A network after which one wire holds element ``count // 2``, and that wire; exchanges it does not need left out.

    The values are rows of ``columns``. Columns are sorted first, so that windows side by side, which have columns in
    common, sort them once; then every row. An element of that matrix is not less than all above and left of it, nor
    greater than all below and right: few are left of which one can be the median.
    """
    rows = count // columns
    if rows < 2 or columns < 2:
        pairs = sorting_network(tuple(range(count)))
        return _needed(pairs, count // 2), count // 2
    pairs = ()
    for v in range(columns):
        pairs += sorting_network(tuple(u * columns + v for u in range(rows)))
    for u in range(rows):
        pairs += sorting_network(tuple(range(u * columns, (u + 1) * columns)))
    middle = count // 2
    least = [(u + 1) * (v + 1) - 1 for u in range(rows) for v in range(columns)]            # not greater than it
    most = [(rows - u) * (columns - v) - 1 for u in range(rows) for v in range(columns)]    # not less
    left = tuple(k for k in range(count) if least[k] <= middle and most[k] <= count - 1 - middle)
    below = sum(most[k] > count - 1 - middle for k in range(count))
    pairs += sorting_network(left)
    return _needed(pairs, left[middle - below]), left[middle - below]


def _needed(pairs: Pairs, wire: int) -> Pairs:
    """The exchanges that decide what a wire holds."""
    needed = {wire}
    kept = []
    for a, b in reversed(pairs):
        if a in needed or b in needed:
            kept.append((a, b))
            needed |= {a, b}
    return tuple(reversed(kept))

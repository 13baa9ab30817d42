"""Functions of the thread, known for every thread, as the simplest expressions that have their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from layoutc.index import TRUE, Expr, Int, Lookup, every
from layoutc.index import Binary as Compared
from layoutc.layout.fit import Misfit, fit
from layoutc.layout.layout import from_modes, merged
from layoutc.plan.emission.frame import WARP, Frame, index_of
from layoutc.plan.values import Bit, Text

MODES = 3           # of a layout that still reads better than a table


def test_of(frame: Frame, truths: Sequence[bool]) -> Text:
    """Whether ``truths[thread]``; ``TRUE`` where it always is."""
    if all(truths):
        return TRUE
    variable, values = _by_lane(frame, np.array(truths))
    found = _digit_test(variable, values) or _digits_test(variable, values)
    if found is not None:
        return found
    masks = tuple(sum(int(bit) << k for k, bit in enumerate(values[w:w + WARP])) for w in range(0, len(values), WARP))
    if len(masks) == 1:
        return Bit(f"{masks[0]:#x}u", variable)
    table = frame.table("masks", masks, "unsigned")
    return Bit(f"{table}[{frame.thread // WARP}]", frame.lane)


def _by_lane(frame: Frame, values: NDArray[np.generic]) -> tuple[Expr, NDArray[np.generic]]:
    """A function of the lane where it is one, else of the thread."""
    if len(values) > WARP and all((values[w:w + WARP] == values[:len(values[w:w + WARP])]).all()
                                  for w in range(WARP, len(values), WARP)):
        return frame.lane, values[:WARP]
    return frame.thread, values


def _digits(count: int) -> list[tuple[int, int]]:
    """(block, extent) of every digit ``x / block % extent`` of a number below ``count``, the whole number first."""
    divisors = [d for d in range(1, count + 1) if count % d == 0]
    found = [(block, extent) for extent in divisors for block in divisors if count // extent % block == 0]
    return sorted(found[1:], key=lambda d: (d != (1, count), d[1], d[0]))


def _digit_test(variable: Expr, truths: NDArray[np.generic]) -> Expr | None:
    """One comparison of one digit."""
    for block, extent in _digits(len(truths)):
        digit = np.arange(len(truths)) // block % extent
        yes, no = set(digit[truths.astype(bool)].tolist()), set(digit[~truths.astype(bool)].tolist())
        if yes & no:
            continue
        value = variable // block % extent
        if len(yes) == 1:
            return Compared("==", value, Int(min(yes)))
        if len(no) == 1:
            return Compared("!=", value, Int(min(no)))
        if max(yes) < min(no):
            return Compared("<", value, Int(min(no)))
        if max(no) < min(yes):
            return Compared(">=", value, Int(min(yes)))
    return None


def _digits_test(variable: Expr, truths: NDArray[np.generic]) -> Expr | None:
    """Several digits that have one value each."""
    wanted = truths.astype(bool)
    left = np.ones(len(truths), bool)
    tests: list[Expr] = []
    for block, extent in _digits(len(truths)):
        digit = np.arange(len(truths)) // block % extent
        values = set(digit[wanted].tolist())
        if len(values) == 1 and (left & (digit != min(values))).any():
            tests.append(Compared("==", variable // block % extent, Int(min(values))))
            left &= digit == min(values)
        if (left == wanted).all():
            return every(tests)
    return None


def number_of(frame: Frame, numbers: Sequence[int], wanted: str) -> Expr:
    """``numbers[thread]``, not negative; ``wanted`` names the table if it takes one."""
    if len(set(numbers)) == 1:
        return Int(numbers[0])
    variable, array = _by_lane(frame, np.array(numbers))
    values = [int(v) for v in array]
    found = _sum(variable, values) or _exclusive(variable, values) or _turned(variable, values)
    if found is not None:
        return found
    type = "unsigned char" if max(values) < 256 else "short"
    return Lookup(frame.table(wanted, tuple(values), type), tuple(values), variable)


def _sum(variable: Expr, values: list[int]) -> Expr | None:
    """A layout and a constant."""
    found = fit([v - values[0] for v in values], [len(values)])
    if isinstance(found, Misfit):
        return None
    modes = merged(found[0])
    return index_of(from_modes(modes), variable) + values[0] if len(modes) <= MODES else None


def _exclusive(variable: Expr, values: list[int]) -> Expr | None:
    """A layout xor a constant; or xor a digit of the variable."""
    plain = _sum(variable, [v ^ values[0] for v in values])
    if plain is not None:
        return plain ^ values[0]
    for block, extent in _digits(len(values)):
        if extent & (extent - 1) == 0 and extent < len(values):
            rest = _sum(variable, [v ^ x // block % extent for x, v in enumerate(values)])
            if rest is not None:
                return rest ^ variable // block % extent
    return None


def _turned(variable: Expr, values: list[int]) -> Expr | None:
    """``(a * x + c) % m``."""
    for modulus in sorted({max(values) + 1, 1 << max(values).bit_length()}):
        step = (values[1] - values[0]) % modulus
        if all((step * x + values[0]) % modulus == v for x, v in enumerate(values)):
            return (variable * step + values[0]) % modulus
    return None

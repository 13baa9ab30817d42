"""Functions of the thread, known for every thread, as the simplest expressions that have their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from layoutc.index import TRUE, Env, Expr, Int, Lookup, every, inside
from layoutc.index import Binary as Compared
from layoutc.layout.fit import Misfit, fit
from layoutc.layout.layout import Mode, from_modes, merged
from layoutc.plan.emission.frame import Frame, index_of
from layoutc.plan.machine import WARP
from layoutc.plan.values import Bit, Text

T = TypeVar("T")
MODES = 3           # of a layout that still reads better than a table


@dataclass(frozen=True, slots=True)
class Digits(Expr):
    """A small number for each of a few indices, all in one constant."""

    values: tuple[int, ...]
    width: int                  # bits of each
    index: Expr

    @property
    def bits(self) -> int:
        """Of the constant."""
        return self.width * len(self.values)

    @property
    def level(self) -> int:
        """C's precedence of ``&``."""
        return 5

    def __str__(self) -> str:
        constant = sum(value << k * self.width for k, value in enumerate(self.values))
        suffix = "u" if self.bits <= 32 else "ull"
        return f"{constant:#x}{suffix} >> {inside(self.index * self.width, 9)} & {(1 << self.width) - 1}"

    def at(self, env: Env) -> int:
        """The index's number."""
        return self.values[self.index.at(env)]


def test_of(frame: Frame, truths: Sequence[bool]) -> Text:
    """Whether ``truths[thread]``, which it is for some; ``TRUE`` where it is for all."""
    if all(truths):
        return TRUE
    variable, values = _by_lane(frame, tuple(truths))
    found = _digit_tests(values)
    if found is not None:
        return every(Compared(t.op, variable // t.block % t.extent, Int(t.value)) for t in found)
    masks = tuple(sum(int(bit) << k for k, bit in enumerate(values[w:w + WARP])) for w in range(0, len(values), WARP))
    if len(masks) == 1:
        return Bit(f"{masks[0]:#x}u", frame.lane)
    table = frame.table("masks", masks, "unsigned")
    return Bit(f"{table}[{frame.thread // WARP}]", frame.lane)


def _by_lane(frame: Frame, values: tuple[T, ...]) -> tuple[Expr, tuple[T, ...]]:
    """A function of the lane where it is one, else of the thread."""
    if len(values) > WARP and _repeats(values, WARP):
        return frame.thread % WARP, values[:WARP]
    return frame.thread, values


def _repeats(values: Sequence[object], period: int) -> bool:
    """Whether each value is that of ``period`` threads before."""
    return values[period:] == values[:-period]


@dataclass(frozen=True, slots=True)
class _Test:
    """``x / block % extent op value``."""

    block: int
    extent: int
    op: str
    value: int


@lru_cache(1 << 14)
def _digit_tests(truths: tuple[bool, ...]) -> tuple[_Test, ...] | None:
    """One comparison of a digit, or several digits that have one value each; None where there is neither."""
    wanted = np.array(truths)
    left = np.ones(len(truths), bool)
    several: list[_Test] = []
    whole: tuple[_Test, ...] | None = None
    for block, extent, digit in _digits(len(truths)):
        yes, no = np.unique(digit[wanted]), np.unique(digit[~wanted])
        one = _comparison(yes.tolist(), no.tolist())
        if one is not None:
            return (_Test(block, extent, *one),)
        if whole is None and len(yes) == 1 and (left & (digit != yes[0])).any():
            several.append(_Test(block, extent, "==", int(yes[0])))
            left &= digit == yes[0]
            whole = tuple(several) if (left == wanted).all() else None
    return whole


def _comparison(yes: list[int], no: list[int]) -> tuple[str, int] | None:
    """The comparison that holds for the one digits and not for the others."""
    if len(yes) == 1 and yes[0] not in no:
        return "==", yes[0]
    if len(no) == 1 and no[0] not in yes:
        return "!=", no[0]
    if yes[-1] < no[0]:
        return "<", no[0]
    if no[-1] < yes[0]:
        return ">=", yes[0]
    return None


@lru_cache(64)
def _digits(count: int) -> list[tuple[int, int, NDArray[np.int64]]]:
    """(block, extent, values) of every digit ``x / block % extent`` of the numbers below ``count``, the whole first."""
    divisors = [d for d in range(1, count + 1) if count % d == 0]
    found = [(block, extent) for extent in divisors[1:] for block in divisors if count // extent % block == 0]
    ordered = sorted(found, key=lambda d: (d != (1, count), d[1], d[0]))
    return [(block, extent, np.arange(count) // block % extent) for block, extent in ordered]


def number_of(frame: Frame, numbers: Sequence[int | None], wanted: str, plain: Expr) -> Expr:
    """``numbers[thread]``, not negative; None: any number will do.

    ``plain`` is a form to try with a constant xor or added, modulo the power of two above the numbers; ``wanted``
    names the table if it takes one.
    """
    known = {number for number in numbers if number is not None}
    if len(known) <= 1:
        return Int(max(known, default=0))
    values = [plain.at({"thread": t}) for t in range(len(numbers))]
    found = _near(plain, values, numbers, 1 << max(known).bit_length())
    return found or _exact(frame, [v if n is None else n for v, n in zip(values, numbers, strict=True)], wanted)


def _near(plain: Expr, values: list[int], numbers: Sequence[int | None], modulus: int) -> Expr | None:
    """``plain ^ c`` or ``(plain + c) % modulus``, with the numbers that matter."""
    pairs = [(v, n) for v, n in zip(values, numbers, strict=True) if n is not None]
    value, number = pairs[0]
    if all(v ^ value ^ number == n for v, n in pairs):
        return plain ^ value ^ number
    shift = (number - value) % modulus
    if all((v + shift) % modulus == n for v, n in pairs):
        return (plain + shift) % modulus
    return None


def _exact(frame: Frame, numbers: list[int], wanted: str) -> Expr:
    variable, shorter = _by_lane(frame, tuple(numbers))
    values = list(shorter)
    found = _simple(variable, values) or _in_parts(variable, values)
    if found is not None:
        return found
    period = next((p for p in (2, 4, 8, 16, 32) if p < len(values) and _repeats(values, p)), len(values))
    return _looked_up(frame, tuple(values[:period]), variable % period, wanted)


def _looked_up(frame: Frame, values: tuple[int, ...], index: Expr, wanted: str) -> Expr:
    """From the digits of a number where they fit into 64 bits, else from a table."""
    bits = max(values).bit_length()
    digits = Digits(values, 4 if bits > 2 else 2, index)
    if bits <= 4 and digits.bits <= 64:
        return digits
    type = "unsigned char" if max(values) < 256 else "short"
    return Lookup(frame.table(wanted, values, type), values, frame.lane if index == frame.thread % WARP else index)


def _simple(variable: Expr, values: list[int]) -> Expr | None:
    """One of the forms below."""
    if len(set(values)) == 1:
        return Int(values[0])
    return _sum(variable, values) or _exclusive(variable, values) or _turned(variable, values)


def _in_parts(variable: Expr, values: list[int]) -> Expr | None:
    """High and low digit of the numbers, each in a simple form."""
    for base in (2, 4, 8, 16):
        high = _simple(variable, [v // base for v in values])
        low = _simple(variable, [v % base for v in values]) if high is not None else None
        if high is not None and low is not None:
            return high * base + low
    return None


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
    for block, extent, _ in _digits(len(values)):
        if extent & (extent - 1) == 0 and extent < len(values):
            rest = _sum(variable, [v ^ x // block % extent for x, v in enumerate(values)])
            if rest is not None:
                return rest ^ variable // block % extent
    return None


def _turned(variable: Expr, values: list[int]) -> Expr | None:
    """A layout and a constant, modulo a number."""
    for modulus in sorted({max(values) + 1, 1 << max(values).bit_length()}):
        modes = _fit_modulo([(v - values[0]) % modulus for v in values], modulus)
        if modes is not None and len(modes) <= MODES:
            return (index_of(from_modes(modes), variable) + values[0]) % modulus
    return None


def _fit_modulo(values: list[int], modulus: int) -> list[Mode] | None:
    """The modes of the layout that has these values modulo a number, if there is one; runs as in ``fit``."""
    modes: list[Mode] = []
    whole, stride = 1, values[1]
    for step in range(1, len(values)):
        if values[step] != (step // whole * stride + values[step % whole]) % modulus:
            if step % whole or len(values) % step:
                return None
            modes.append((step // whole, stride))
            whole, stride = step, values[step]
    return [*modes, (len(values) // whole, stride)]

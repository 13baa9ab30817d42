"""The most that an index expression comes to where some of its variables stay below limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from layoutc.index import Binary, Expr, Int, Name, terms


def greatest(e: Expr, limits: Mapping[str, Expr]) -> Expr:
    """An expression that ``e`` does not exceed: ``limits[name] - 1`` for the variables in which a term only grows."""
    values = _Greatest(limits)
    out: Expr = Int(0)
    for factor, coefficient in terms(e):
        out = out + (factor.over(values) if coefficient > 0 and _grows(factor, limits) else factor) * coefficient
    return out


def _grows(e: Expr, limits: Mapping[str, Expr]) -> bool:
    """Whether it never falls as a variable with a limit rises; ``7 - i``, ``i % 3`` and folds do."""
    match e:
        case Name() | Int():
            return True
        case Binary("+", a, b):
            return _grows(a, limits) and _grows(b, limits)
        case Binary("/", a, Int(divisor)) if divisor > 0:
            return _grows(a, limits)
        case Binary("*", a, b):
            lows = (a.interval[0], b.interval[0])
            return all(low is not None and low >= 0 for low in lows) and _grows(a, limits) and _grows(b, limits)
    return False


class _Greatest(Mapping[str, Expr]):
    """The greatest values of variables that stay below a limit."""

    def __init__(self, limits: Mapping[str, Expr]) -> None:
        self._limits = limits

    def __getitem__(self, name: str) -> Expr:
        return self._limits[name] - 1

    def __iter__(self) -> Iterator[str]:
        return iter(self._limits)

    def __len__(self) -> int:
        return len(self._limits)

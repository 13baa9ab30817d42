"""Integer index expressions: ``str(e)`` is C text, ``e.at(env)`` is the value.

Sums, products, quotients and remainders are simplified as they are built, so what is printed is what a person
would write. ``/`` and ``%`` stand only where the dividend is known not to be negative (C truncates there).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from math import gcd

from layoutc.integers import FUNCTIONS, apply

Env = Mapping[str, int]
Interval = tuple[int | None, int | None]        # inclusive; None: unknown

# C's precedence, tightest last
LEVELS = {
    "||": 1, "&&": 2, "^": 4, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}
TERNARY, UNARY, ATOM = 0, 11, 12


class Expr:
    """An integer or a truth value; build it with Python's operators."""

    __slots__ = ()

    @property
    def level(self) -> int:
        """C's precedence of the outermost operator."""
        return ATOM

    @property
    def interval(self) -> Interval:
        """The values it can have, as far as is known."""
        return (None, None)

    def at(self, env: Env) -> int:
        """The value where names have these values."""
        raise NotImplementedError

    def over(self, env: Mapping[str, Expr]) -> Expr:
        """The expression with names replaced."""
        return self

    def __add__(self, other: Expr | int) -> Expr:
        return add(self, wrap(other))

    def __radd__(self, other: Expr | int) -> Expr:
        return add(wrap(other), self)

    def __sub__(self, other: Expr | int) -> Expr:
        return add(self, multiply(wrap(other), Int(-1)))

    def __rsub__(self, other: Expr | int) -> Expr:
        return wrap(other) - self

    def __mul__(self, other: Expr | int) -> Expr:
        return multiply(self, wrap(other))

    __rmul__ = __mul__

    def __neg__(self) -> Expr:
        return multiply(self, Int(-1))

    def __floordiv__(self, other: Expr | int) -> Expr:
        return divide(self, wrap(other))

    def __mod__(self, other: Expr | int) -> Expr:
        return remainder(self, wrap(other))

    def __xor__(self, other: Expr | int) -> Expr:
        return exclusive(self, wrap(other))


@dataclass(frozen=True, slots=True)
class Int(Expr):
    """A number."""

    value: int

    def __str__(self) -> str:
        return str(self.value)

    @property
    def level(self) -> int:
        """A negative number binds like a minus sign."""
        return ATOM if self.value >= 0 else UNARY

    @property
    def interval(self) -> Interval:
        """Itself."""
        return (self.value, self.value)

    def at(self, env: Env) -> int:
        """Itself."""
        return self.value


@dataclass(frozen=True, slots=True)
class Name(Expr):
    """A variable of the text, perhaps with known inclusive bounds."""

    id: str
    low: int | None = None
    high: int | None = None

    def __str__(self) -> str:
        return self.id

    @property
    def interval(self) -> Interval:
        """The bounds it was made with."""
        return (self.low, self.high)

    def at(self, env: Env) -> int:
        """What the environment says."""
        return env[self.id]

    def over(self, env: Mapping[str, Expr]) -> Expr:
        """What replaces it."""
        return env.get(self.id, self)


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """``a op b``; made by the operators below, which simplify."""

    op: str
    a: Expr
    b: Expr

    @property
    def level(self) -> int:
        """C's precedence of the operator."""
        return LEVELS[self.op]

    def __str__(self) -> str:
        match self.op, self.b:
            case "+", Int(value) if value < 0:
                return f"{inside(self.a, 9)} - {-value}"
            case "+", Binary("*", factor, Int(value)) if value < 0:
                term = factor if value == -1 else Binary("*", factor, Int(-value))
                return f"{inside(self.a, 9)} - {inside(term, 10)}"
            case "*", Int(-1):
                return f"-{inside(self.a, UNARY)}"
        if self.op == "^":      # its precedence in C surprises: operands of several words are bracketed
            return f"{inside(self.a, ATOM)} ^ {inside(self.b, ATOM)}"
        if self.op == "||":
            return f"{inside(self.a, beside_or(self.a, 1))} || {inside(self.b, beside_or(self.b, 2))}"
        tight = self.op in ("/", "%", "-") or (self.op == "*" and isinstance(self.b, Binary) and self.b.op in "/%")
        return f"{inside(self.a, self.level)} {self.op} {inside(self.b, self.level + tight)}"

    @property
    def interval(self) -> Interval:
        """By interval arithmetic for + * / % ^; a test is 0 or 1."""
        (a, b), (c, d) = self.a.interval, self.b.interval
        match self.op:
            case "+":
                return (_plus(a, c), _plus(b, d))
            case "*":
                if a is None or b is None or c is None or d is None:
                    return (0 if _not_negative(a, c) else None, None)
                ends = [x * y for x in (a, b) for y in (c, d)]
                return (min(ends), max(ends))
            case "/" if c is not None and c == d and c > 0:
                return (None if a is None else a // c, None if b is None else b // c)
            case "/":       # it stands only where neither is negative
                return (0, b)
            case "%" if d is not None:
                return (0, d - 1 if b is None else min(b, d - 1))
            case "^" if _not_negative(a, c):
                return (0, None if b is None or d is None else (1 << max(b.bit_length(), d.bit_length())) - 1)
            case "^":
                return (None, None)
        return (0, 1) if LEVELS[self.op] < 9 else (None, None)

    def at(self, env: Env) -> int:
        """The value; ``/`` and ``%`` insist on what they assume."""
        a, b = self.a.at(env), self.b.at(env)
        return apply(self.op, a, b)

    def over(self, env: Mapping[str, Expr]) -> Expr:
        """With names replaced, simplified anew."""
        return combine(self.op, self.a.over(env), self.b.over(env))


@dataclass(frozen=True, slots=True)
class Select(Expr):
    """``test ? yes : no``."""

    test: Expr
    yes: Expr
    no: Expr

    @property
    def level(self) -> int:
        """The loosest."""
        return TERNARY

    def __str__(self) -> str:
        return f"{inside(self.test, 1)} ? {inside(self.yes, 1)} : {inside(self.no, 0)}"

    def at(self, env: Env) -> int:
        """The side that the test names."""
        return self.yes.at(env) if self.test.at(env) else self.no.at(env)

    def over(self, env: Mapping[str, Expr]) -> Expr:
        """With names replaced, simplified anew."""
        return select(self.test.over(env), self.yes.over(env), self.no.over(env))


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """A function of the runtime header on integers."""

    function: str
    arguments: tuple[Expr, ...]

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"

    def at(self, env: Env) -> int:
        """The value by Python's own definition of the function."""
        return FUNCTIONS[self.function](*(a.at(env) for a in self.arguments))

    def over(self, env: Mapping[str, Expr]) -> Expr:
        """With names replaced."""
        return Call(self.function, tuple(a.over(env) for a in self.arguments))


@dataclass(frozen=True, slots=True)
class Lookup(Expr):
    """An element of a table of constants."""

    table: str
    values: tuple[int, ...]
    index: Expr

    def __str__(self) -> str:
        return f"{self.table}[{self.index}]"

    @property
    def interval(self) -> Interval:
        """From the least to the greatest entry."""
        return (min(self.values), max(self.values))

    def at(self, env: Env) -> int:
        """The entry."""
        return self.values[self.index.at(env)]

    def over(self, env: Mapping[str, Expr]) -> Expr:
        """With names replaced."""
        return Lookup(self.table, self.values, self.index.over(env))


def wrap(x: Expr | int) -> Expr:
    """An expression; an integer becomes a number."""
    return x if isinstance(x, Expr) else Int(x)


def inside(e: object, level: int) -> str:
    """Text of an operand, in parentheses where the operator around it binds tighter."""
    return f"({e})" if getattr(e, "level", ATOM) < level else str(e)


def beside_or(e: object, level: int) -> int:
    """How tight an operand of ``||`` must bind: ``&&`` stands in parentheses, few know which of them goes first."""
    return ATOM if getattr(e, "level", ATOM) == LEVELS["&&"] else level


# ---- simplification


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _not_negative(*lows: int | None) -> bool:
    return all(low is not None and low >= 0 for low in lows)


def combine(op: str, a: Expr, b: Expr) -> Expr:
    """The operator by its text."""
    match op:
        case "+":
            return add(a, b)
        case "*":
            return multiply(a, b)
        case "/":
            return divide(a, b)
        case "%":
            return remainder(a, b)
        case "&&":
            return both(a, b)
        case "^":
            return exclusive(a, b)
    return compare(op, a, b)


def terms(e: Expr) -> list[tuple[Expr, int]]:
    """The sum as (factor, coefficient), the constant as (Int(1), c)."""
    match e:
        case Int(value):
            return [(Int(1), value)] if value else []
        case Binary("+", a, b):
            return terms(a) + terms(b)
        case Binary("*", a, Int(value)):
            return [(factor, c * value) for factor, c in terms(a)]
    return [(e, 1)]


def names_in(e: Expr) -> frozenset[str]:
    """Every variable of an expression."""
    match e:
        case Name(id):
            return frozenset((id,))
        case Binary(_, a, b):
            return names_in(a) | names_in(b)
        case Select(test, yes, no):
            return names_in(test) | names_in(yes) | names_in(no)
        case Call(_, arguments):
            return frozenset().union(*map(names_in, arguments))
        case Lookup(_, _, index):
            return names_in(index)
    return frozenset()


def total(parts: Iterable[tuple[Expr, int]]) -> Expr:
    """The sum of terms: equal factors gathered, factors of one coefficient bracketed, the constant last."""
    gathered: dict[Expr, int] = {}
    for factor, coefficient in parts:
        gathered[factor] = gathered.get(factor, 0) + coefficient
    constant = gathered.pop(Int(1), 0)
    alike: dict[int, Expr] = {}
    for factor, coefficient in gathered.items():
        if coefficient:
            alike[coefficient] = Binary("+", alike[coefficient], factor) if coefficient in alike else factor
    ordered = [(f, c) for c, f in alike.items() if c > 0] + [(f, c) for c, f in alike.items() if c < 0]
    out: Expr | None = None
    for factor, coefficient in ordered:
        term = factor if coefficient == 1 else Binary("*", factor, Int(coefficient))
        out = term if out is None else Binary("+", out, term)
    if out is None:
        return Int(constant)
    return Binary("+", out, Int(constant)) if constant else out


def add(a: Expr, b: Expr) -> Expr:
    """``a + b``."""
    return total(terms(a) + terms(b))


def multiply(a: Expr, b: Expr) -> Expr:
    """``a * b``; a number goes to the right and into a sum."""
    if isinstance(a, Int):
        a, b = b, a
    if isinstance(b, Int):
        if isinstance(a, Int):
            return Int(a.value * b.value)
        return total((f, c * b.value) for f, c in terms(a))
    return Binary("*", a, b)


def multiplied(factors: Iterable[Expr]) -> Expr:
    """All of them multiplied."""
    return reduce(multiply, factors, wrap(1))


def divide(a: Expr, b: Expr) -> Expr:
    """Floor of ``a / b`` for b > 0."""
    if not isinstance(b, Int):
        return _quotient(a, b, "/")
    n = b.value
    if n == 1:
        return a
    if isinstance(a, Int):
        return Int(a.value // n)
    whole, rest = _split(a, n)
    low, high = rest.interval
    if low is not None and high is not None and low >= 0 and high < n:
        return whole
    if _not_negative(low) and whole != Int(0):
        return whole + divide(rest, b)
    shared = _coarser(a, n)
    if shared is not None:
        g, r, _ = shared
        return divide(r, Int(n // g))
    match a:
        case Binary("/", inner, Int(m)):
            return divide(inner, Int(m * n))
        case Binary("%", inner, Int(m)) if m % n == 0:
            return remainder(divide(inner, b), Int(m // n))
    return _quotient(a, b, "/")


def remainder(a: Expr, b: Expr) -> Expr:
    """``a`` modulo b for b > 0, never negative."""
    if not isinstance(b, Int):
        return _quotient(a, b, "%")
    n = b.value
    if isinstance(a, Int):
        return Int(a.value % n)
    whole, rest = _split(a, n)
    low, high = rest.interval
    if low is not None and high is not None and low >= 0 and high < n:
        return rest
    if _not_negative(low) and whole != Int(0):
        return remainder(rest, b)
    shared = _coarser(a, n)
    if shared is not None:
        g, r, fine = shared
        return remainder(r, Int(n // g)) * g + fine
    match a:
        case Binary("%", inner, Int(m)) if m % n == 0:
            return remainder(inner, b)
    return _quotient(a, b, "%")


def _split(a: Expr, n: int) -> tuple[Expr, Expr]:
    """(q, r) with a = q * n + r, all multiples of n in q."""
    parts = terms(a)
    return (total((f, c // n) for f, c in parts if c % n == 0), total((f, c) for f, c in parts if c % n))


def _coarser(a: Expr, n: int) -> tuple[int, Expr, Expr] | None:
    """(g, r, f) with a = r * g + f, 0 <= f < g and g > 1 a divisor of n, where there is such a g."""
    parts = terms(a)
    for g in sorted({gcd(c, n) for f, c in parts if f != Int(1)} - {1, n}, reverse=True):
        fine = total((f, c % g if f == Int(1) else c) for f, c in parts if c % g)
        low, high = fine.interval
        if low is not None and high is not None and low >= 0 and high < g:
            return g, total((f, c // g) for f, c in parts if c % g == 0 or f == Int(1)), fine
    return None


def _quotient(a: Expr, b: Expr, op: str) -> Expr:
    if _not_negative(a.interval[0]):
        return Binary(op, a, b)
    return Call("floor_div" if op == "/" else "floor_mod", (a, b))


def not_negative(e: Expr) -> Expr:
    """The greater of it and 0."""
    low = e.interval[0]
    return e if low is not None and low >= 0 else Call("maximum", (e, Int(0)))


def exclusive(a: Expr, b: Expr) -> Expr:
    """``a`` xor ``b``, bit by bit."""
    if isinstance(a, Int) and isinstance(b, Int):
        return Int(a.value ^ b.value)
    if isinstance(a, Int):
        a, b = b, a
    return a if b == Int(0) else Binary("^", a, b)


def dot(indices: Iterable[Expr], strides: Iterable[Expr]) -> Expr:
    """The place of a coordinate: the sum of index times stride."""
    return total(term for i, s in zip(indices, strides, strict=True) for term in terms(multiply(i, s)))


def compare(op: str, a: Expr, b: Expr) -> Expr:
    """A test; decided here where the intervals decide it."""
    low, high = (a - b).interval
    match op:
        case "<" if high is not None and high < 0:
            return TRUE
        case "<=" if high is not None and high <= 0:
            return TRUE
        case ">=" if low is not None and low >= 0:
            return TRUE
        case ">" if low is not None and low > 0:
            return TRUE
    return Binary(op, a, b)


def select(test: Expr, yes: Expr, no: Expr) -> Expr:
    """``test ? yes : no``; decided here where the test is, named where it takes the lesser or greater of two."""
    match test:
        case Binary("<" | "<=", a, b) if {a, b} == {yes, no}:
            return Call("minimum" if yes == a else "maximum", (a, b))
        case Binary(">" | ">=", a, b) if {a, b} == {yes, no}:
            return Call("maximum" if yes == a else "minimum", (a, b))
    return yes if test == TRUE else Select(test, yes, no)


def both(a: Expr, b: Expr) -> Expr:
    """``a && b``."""
    if a == TRUE:
        return b
    return a if b in (TRUE, a) else Binary("&&", a, b)


def every(tests: Iterable[Expr]) -> Expr:
    """All of them; equal tests once."""
    out: Expr = TRUE
    for test in dict.fromkeys(tests):
        out = both(out, test)
    return out


def ceildiv(a: Expr, b: int) -> Expr:
    """Blocks of b that cover a."""
    return divide(a + (b - 1), Int(b))


TRUE = Name("true", 1, 1)

"""Integer values as polynomial forms over indices and extents; what has no form becomes a variable with facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product

from layoutc.resolve.linear import Facts, holds, lower_bounds
from layoutc.resolve.polynomials import Form, Monomial, constant, is_tame, minus, number, plus, times, variable
from layoutc.resolve.program import (
    Binary,
    Call,
    Cast,
    Compare,
    Const,
    Extent,
    Index,
    Logic,
    Unary,
    Value,
    Where,
)
from layoutc.resolve.types import BOOL, I64, U64, Type, integer_range

NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
MOST_ALTERNATIVES = 8
WIDE = "w"          # marks the names of unknowns of 64 bits


@dataclass(slots=True)
class Forms:
    """Turns values into forms. ``facts`` grows by what each new variable is known to be."""

    facts: Facts
    indices: Mapping[str, Form]
    names: list[int] = field(default_factory=lambda: [0])       # how many variables were made, shared between copies

    def of(self, value: Value) -> Form:
        """The form of an integer value, exact for its type: what could wrap becomes an unknown of its type."""
        form = self._of(value)
        if form is None or not is_tame(form) or not self._fits(form, value.type):
            return self._unknown(value.type)
        return form

    def _of(self, value: Value) -> Form | None:
        match value:
            case Const(int(number_)):
                return constant(int(number_))
            case Index(name):
                return self.indices.get(name)
            case Extent(name):
                return variable(name)
            case Unary("-", operand):
                return _unless_wide(self.of(operand), lambda form: plus({}, form, -1))
            case Binary(op, left, right) if value.type.is_integer:
                return self._binary(op, left, right)
            case Cast(operand) if operand.type.is_integer or operand.type == BOOL:
                return self._cast(self.of(operand), operand.type, value.type)
            case Call("min" | "max" as name, (left, right)):
                return self._extreme(self.of(left), self.of(right), largest=name == "max")
            case Call("clamp", (inner, low, high)):
                raised = self._extreme(self.of(inner), self.of(low), largest=True)
                return self._extreme(raised, self.of(high), largest=False)
            case Call("abs", (operand,)):
                return _unless_wide(
                    self.of(operand), lambda form: self._extreme(form, plus({}, form, -1), largest=True)
                )
            case Where(test, yes, no):
                return self._where(test, self.of(yes), self.of(no))
        return None

    def _fits(self, form: Form, type: Type) -> bool:
        """Whether a type of fewer than 64 bits surely holds the value; i64 holds what can occur."""
        if not type.is_integer or type.name == "i64":
            return type.is_integer
        low, high = integer_range(type)
        return holds(minus(form, constant(low)), self.facts) and holds(minus(constant(high), form), self.facts)

    def _cast(self, form: Form, source: Type, type: Type) -> Form | None:
        """What a type of 64 bits does not hold is not known; the narrower ones are checked for all values."""
        if source == U64 and type == I64 and not holds(minus(constant(integer_range(I64)[1]), form), self.facts):
            return None
        return form

    def _fresh(self, mark: str = "") -> Form:
        self.names[0] += 1
        return variable(f"?{mark}{self.names[0]}")

    def _unknown(self, type: Type) -> Form:
        form = self._fresh(WIDE if type.bits == 64 else "")
        if type == BOOL or (type.is_integer and type.bits < 64):
            low, high = integer_range(type)
            self.facts.between(constant(low), form, constant(high + 1))
        elif type.kind == "uint":
            self.facts.at_least_zero.append(form)
        return form

    def _binary(self, op: str, left: Value, right: Value) -> Form | None:
        one, two = self.of(left), self.of(right)
        if (_is_wide(one) or _is_wide(two)) and (op not in ("//", "%") or number(two) == -1):
            return None
        match op:
            case "+":
                return plus(one, two)
            case "-":
                return minus(one, two)
            case "*":
                return times(one, two)
            case "//" | "%":
                return self._division(op, one, two)
            case "**":
                exponent = number(two)
                if exponent is not None and 0 <= exponent <= 3:
                    result = constant(1)
                    for _ in range(exponent):
                        result = times(result, one)
                    return result
        return None

    def _division(self, op: str, left: Form, right: Form) -> Form | None:
        divisor = number(right)
        if divisor is None:
            return self._division_by_variable(op, left, right)
        if divisor == 0:
            return {}
        sign = 1 if divisor > 0 else -1
        quotient = self._quotient(plus({}, left, sign), abs(divisor))
        if op == "//":
            return quotient
        rest = self._fresh()
        self.facts.zero.append(minus(rest, minus(left, times(quotient, right))))
        if divisor > 0:
            self.facts.between({}, rest, right)     # follows, but by itself it bounds the products of the rest too
        return rest

    def _quotient(self, left: Form, divisor: int) -> Form:
        """``divisor * q <= left < divisor * q + divisor``."""
        if all(c % divisor == 0 for c in left.values()):
            return {m: c // divisor for m, c in left.items()}
        quotient = self._fresh(WIDE if _is_wide(left) else "")
        rest = minus(left, times(quotient, constant(divisor)))
        self.facts.between({}, rest, constant(divisor))
        if holds(left, self.facts):
            self.facts.at_least_zero.append(quotient)
        return quotient

    def _division_by_variable(self, op: str, left: Form, right: Form) -> Form | None:
        """By something that is not negative: by 0 it gives 0."""
        if not holds(right, self.facts) or _is_wide(right):
            return self._fresh(WIDE)
        known, operands = self.facts.divisions, (tuple(sorted(left.items())), tuple(sorted(right.items())))
        if (op, *operands) in known:
            return known[op, *operands]
        result = known[op, *operands] = self._fresh(WIDE if op == "//" and _is_wide(left) else "")
        some, none = Facts([minus(right, constant(1))]), Facts(zero=[right, result])
        rest = result if op == "%" else minus(left, times(result, right))
        some.between({}, rest, right)
        if op == "//":
            some.at_least_zero += self._most_quotients(left, right, result)
            if holds(left, self.facts):
                self.facts.between({}, result, plus(left, constant(1)))
        if {("//", *operands), ("%", *operands)} <= known.keys():
            quotient, remainder = known["//", *operands], known["%", *operands]
            some.zero.append(minus(minus(left, times(quotient, right)), remainder))
        if holds(minus(right, constant(1)), self.facts):
            self.facts.add(some)
        else:
            self.facts.choices.append([some, none])
        return result

    def _most_quotients(self, left: Form, right: Form, quotient: Form) -> list[Form]:
        """``quotient <= p - 1`` for every known ``left <= p*right - 1``, where ``right`` is one variable."""
        (monomial, factor), *others = right.items()
        if others or factor != 1 or len(monomial) != 1:
            return []
        name = monomial[0]
        known = (*self.facts.at_least_zero, *self.facts.zero)
        beside = {other for form in known for m in form if name in m for other in m}     # what `p` may hold
        found = []
        for least in lower_bounds(plus({}, left, -1), self.facts, {name, *beside}):
            most = {m: -c for m, c in least.items()}
            if most.pop((), 0) < 0 and all(name in m for m in most):
                factors = {_without(m, name): c for m, c in most.items()}
                found.append(minus(factors, plus(quotient, constant(1))))
        return found

    def _extreme(self, left: Form, right: Form, *, largest: bool) -> Form:
        difference = minus(left, right) if largest else minus(right, left)
        if holds(difference, self.facts):
            return left
        if holds(plus({}, difference, -1), self.facts):
            return right
        result = self._fresh()
        self.facts.choices.append([
            Facts([difference], [minus(result, left)]),
            Facts([plus({}, difference, -1)], [minus(result, right)]),
        ])
        return result

    def _where(self, test: Value, yes: Form, no: Form) -> Form:
        result = self._fresh()
        alternatives = []
        for chosen, outcome in ((yes, True), (no, False)):
            for facts in self.alternatives(test, outcome):
                facts.zero.append(minus(result, chosen))
                alternatives.append(facts)
        self.facts.choices.append(alternatives)
        return result

    def alternatives(self, condition: Value, outcome: bool = True) -> list[Facts]:
        """The ways in which a condition holds (or fails): of each, the facts; no facts where nothing is known."""
        match condition:
            case Const(bool(value)):
                return [Facts()] if value == outcome else []
            case Unary("not", operand):
                return self.alternatives(operand, not outcome)
            case Logic(op, left, right) if (op == "and") == outcome:
                pairs = list(product(self.alternatives(left, outcome), self.alternatives(right, outcome)))
                return [_both(a, b) for a, b in pairs] if len(pairs) <= MOST_ALTERNATIVES else [Facts()]
            case Logic(_, left, right):
                either = [*self.alternatives(left, outcome), *self.alternatives(right, outcome)]
                return either if len(either) <= MOST_ALTERNATIVES else [Facts()]
            case Compare(op, left, right) if left.type.is_integer:
                return _comparison(op if outcome else NEGATED[op], minus(self.of(left), self.of(right)))
        return [Facts()]

    def assume(self, condition: Value) -> None:
        """Adds a condition to the facts."""
        ways = self.alternatives(condition)
        if len(ways) == 1:
            self.facts.add(ways[0])
        elif ways:
            self.facts.choices.append(ways)


def _without(monomial: Monomial, name: str) -> Monomial:
    """One factor fewer."""
    place = monomial.index(name)
    return monomial[:place] + monomial[place + 1:]


def _is_wide(form: Form) -> bool:
    """Whether it holds an unknown of 64 bits, with which arithmetic may wrap."""
    return any(name.startswith(f"?{WIDE}") for monomial in form for name in monomial)


def _unless_wide(form: Form, action: Callable[[Form], Form]) -> Form | None:
    return None if _is_wide(form) else action(form)


def _both(left: Facts, right: Facts) -> Facts:
    both = left.copy()
    both.add(right)
    return both


def _comparison(op: str, difference: Form) -> list[Facts]:
    """Facts of ``difference op 0``."""
    opposite = plus({}, difference, -1)
    match op:
        case "<":
            return [Facts([minus(opposite, constant(1))])]
        case "<=":
            return [Facts([opposite])]
        case ">":
            return [Facts([minus(difference, constant(1))])]
        case ">=":
            return [Facts([difference])]
        case "==":
            return [Facts(zero=[difference])]
    return [Facts([minus(opposite, constant(1))]), Facts([minus(difference, constant(1))])]

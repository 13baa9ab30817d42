"""What is known when a file is compiled: constants, layouts, and the expressions of both."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from layoutc.diagnostics import did_you_mean
from layoutc.parse import syntax
from layoutc.resolve import layouts
from layoutc.resolve.arithmetic import I64_RANGE, Fault, checked, compare, integer_operation
from layoutc.resolve.errors import Errors, Refused, each, report_circle
from layoutc.resolve.layouts import AnyLayout, Item, Map, describe, show
from layoutc.resolve.names import names_in, subscripted_in
from layoutc.resolve.order import in_order
from layoutc.resolve.types import TYPES, Type
from layoutc.resolve.words import COMPARISONS

Declared = syntax.Constant | syntax.LayoutDeclaration
Key = tuple[str, str]       # "const" or "layout", the name


@dataclass(slots=True)
class Statics:
    """The constants and layouts of a file, known once ``evaluate_all`` has run."""

    errors: Errors
    overrides: Mapping[str, int]
    constants: dict[str, syntax.Constant] = field(default_factory=dict)
    layouts: dict[str, syntax.LayoutDeclaration] = field(default_factory=dict)
    _known: dict[Key, Item | None] = field(default_factory=dict)    # None: refused

    def constant(self, name: str) -> int:
        """The value of a declared constant."""
        value = self._declared(("const", name))
        assert isinstance(value, int)
        return value

    def layout(self, name: str) -> Map:
        """The value of a declared layout."""
        value = self._declared(("layout", name))
        assert isinstance(value, Map)
        return value

    def integer(self, expression: syntax.Expression) -> int:
        """The value of a constant expression that must be an integer."""
        value = self.item(expression)
        if isinstance(value, int):
            return int(value)
        self.errors.refuse(
            "not-an-integer", expression.span, f"an integer is needed here, not {describe(value)}",
            "this is no integer",
            help="`size`, `cosize`, `rank` and `depth` give integers of a layout" if isinstance(value, Map) else "",
        )

    def item(self, expression: syntax.Expression) -> Item:
        """The value of a constant or layout expression: an integer, a truth value, a tuple or a layout."""
        try:
            return self._item(expression)
        except Fault as fault:
            self.errors.refuse(fault.slug, expression.span, fault.message, "evaluated here")

    def _item(self, e: syntax.Expression) -> Item:
        match e:
            case syntax.Number(value):
                return self._number(e, value)
            case syntax.Name():
                return self._name(e)
            case syntax.Tuple(items):
                return tuple(each(items, self.item))
            case syntax.LayoutPair(shape, stride):
                shapes, strides = each((shape, stride), self.item)
                return layouts.pair(self.errors, e.span, shapes, strides)
            case syntax.Unary(op, operand):
                return checked(-self._negated(operand), I64_RANGE) if op == "-" else not self.integer(operand)
            case syntax.Binary():
                return self._binary(e)
            case syntax.Call():
                return layouts.call(self.errors, e, each(enumerate(e.arguments), lambda a: self._argument(e, *a)))
            case syntax.Subscript(base, indices):
                return self._mode(e, base, indices)
            case syntax.Reduction(op):
                self.errors.refuse(
                    "not-a-constant", e.span, f"a reduction `{op.id}(…)` is no constant expression", "not known here"
                )

    def _negated(self, operand: syntax.Expression) -> int:
        """The operand of a minus sign, which may be 2**63 where it is a number or a power."""
        match operand:
            case syntax.Number(int(value)) if not isinstance(value, bool):
                return value
            case syntax.Binary("**", left, right):
                base, exponent = each((left, right), self.integer)
                return integer_operation("**", base, exponent, (I64_RANGE[0], -I64_RANGE[0]))
        return self.integer(operand)

    def _number(self, e: syntax.Number, value: int | float | bool) -> Item:
        if isinstance(value, float):
            self.errors.refuse(
                "not-an-integer", e.span, "constants are integers", "this is no integer",
                help="write the number where it is used; a number in an equation takes the type of its operand",
            )
        return value if isinstance(value, bool) else checked(value, I64_RANGE)

    def _name(self, name: syntax.Name) -> Item:
        if name.id in self.constants:
            return self.constant(name.id)
        if name.id in self.layouts:
            return self.layout(name.id)
        self.errors.refuse(
            "unknown-name", name.span, f"there is no constant or layout `{name.id}`", "not declared",
            help=did_you_mean(name.id, [*self.constants, *self.layouts]),
        )

    def _argument(self, call: syntax.Call, position: int, e: syntax.Expression) -> Item | Type:
        if isinstance(e, syntax.Name) and e.id in TYPES and layouts.takes_type(call.function.id, position):
            return TYPES[e.id]
        return self.item(e)

    def _binary(self, e: syntax.Binary) -> Item:
        if e.op in ("==", "!="):
            left, right = each((e.left, e.right), self.item)
            return layouts.equal(self.errors, e.span, left, right) == (e.op == "==")
        first, second = each((e.left, e.right), self.integer)
        if e.op in COMPARISONS:
            return compare(e.op, first, second)
        if e.op in ("and", "or"):
            return bool(first and second) if e.op == "and" else bool(first or second)
        if e.op == "/":
            self.errors.refuse(
                "integer-division", e.span, "`/` divides floats, and these are integers", "of two integers",
                help="write `//`, which floors, or `ceildiv(a, b)`",
            )
        return integer_operation(e.op, first, second)

    def _mode(self, e: syntax.Subscript, base: syntax.Expression, indices: tuple[syntax.Expression, ...]) -> Item:
        whole, which = self.item(base), each(indices, self.integer)
        if isinstance(whole, AnyLayout) and len(which) == 1:
            return layouts.mode(self.errors, e.span, whole, which[0])
        if isinstance(whole, AnyLayout):
            self.errors.refuse(
                "argument-count", e.span, "`A[k]` takes one number, that of a mode", f"{len(which)} given"
            )
        self.errors.refuse("not-a-layout", base.span, f"only a layout has modes, not {describe(whole)}", "no layout")

    def evaluate_all(self) -> None:
        """Evaluates every declaration, each after those that it needs; reports those that need themselves."""
        both: list[Declared] = [*self.constants.values(), *self.layouts.values()]
        declared = {_key(d): d for d in both}
        needs = {key: [k for k in self._needed(d) if k in declared] for key, d in declared.items()}
        order, circles = in_order(needs)
        for circle in circles:
            report_circle(self.errors, [declared[key].name for key in circle])
        bad = {key for circle in circles for key in circle}
        for key in order:
            self._known[key] = None
            if key not in bad:
                with suppress(Refused):
                    self._known[key] = self._evaluate(declared[key])

    def _needed(self, declaration: Declared) -> list[Key]:
        if isinstance(declaration, syntax.Constant) and declaration.name.id in self.overrides:
            return []
        used = (*names_in(declaration.value), *subscripted_in(declaration.value))
        names = dict.fromkeys(name.id for name in used)
        return [("const", name) if name in self.constants else ("layout", name) for name in names]

    def _declared(self, key: Key) -> Item:
        value = self._known[key]
        if value is None:
            self.errors.met += 1
            raise Refused
        return value

    def _evaluate(self, declaration: Declared) -> Item:
        if isinstance(declaration, syntax.LayoutDeclaration):
            return layouts.as_map(self.errors, declaration.value.span, self.item(declaration.value))
        if declaration.name.id in self.overrides:
            return self.overrides[declaration.name.id]
        return self.integer(declaration.value)


def _key(declaration: Declared) -> Key:
    return ("const" if isinstance(declaration, syntax.Constant) else "layout"), declaration.name.id


def evaluate_assertion(statics: Statics, assertion: syntax.Assertion) -> None:
    """Refuses an assert that does not hold, showing the values of both sides."""
    e = assertion.condition
    if statics.integer(e):
        return
    notes = []
    if isinstance(e, syntax.Binary) and e.op in COMPARISONS:
        notes = [_side(statics, "left", e.left), _side(statics, "right", e.right)]
    statics.errors.refuse("assertion", e.span, "this assert does not hold", "false", notes=notes)


def _side(statics: Statics, name: str, e: syntax.Expression) -> str:
    value = show(statics.item(e))
    written = statics.errors.text(e.span)
    return f"the {name} side is {value}" if written == value else f"the {name} side, `{written}`, is {value}"

"""What of a kernel is compared bit for bit and what within bounds, for a person to read."""

from __future__ import annotations

from collections.abc import Iterator

from layoutc.reference.bounded_functions import ULPS
from layoutc.resolve.matrices import may_multiply_matrices
from layoutc.resolve.program import Binary, Call, Cast, Const, Kernel, Reduce, Unary, Value
from layoutc.resolve.same_bits import has_constant_ranges
from layoutc.resolve.trees import children
from layoutc.resolve.types import F32, compute_type


def compared(kernel: Kernel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The operations that must agree bit for bit, and those that may differ, each with how far."""
    exact: dict[str, None] = {}
    bounded: dict[str, None] = {}
    for value in _all_values(kernel):
        bound = _bound(value)
        name = _name(value)
        if bound:
            bounded[f"{name} ({bound})"] = None
        elif name:
            exact[name] = None
    return tuple(exact), tuple(bounded)


def _all_values(kernel: Kernel) -> Iterator[Value]:
    for value in (*(s.value for s in kernel.stages), *(e.value for e in kernel.equations)):
        yield from _walk(value)
    for edges in (*(t.edges for t in kernel.inputs), *(s.edges for s in kernel.stages)):
        for rule in (rule for sides in edges for rule in sides):
            if rule is not None and rule.value is not None:
                yield from _walk(rule.value)


def _walk(value: Value) -> Iterator[Value]:
    yield value
    for child in children(value):
        yield from _walk(child)


def _name(value: Value) -> str:
    """The operation of a value and its type; nothing for what only moves values."""
    match value:
        case Binary(op):
            return f"{op} of {compute_type(value.type)}"
        case Unary("-"):
            return f"- of {compute_type(value.type)}"
        case Call(function):
            return f"{function} of {compute_type(value.arguments[0].type)}"
        case Cast(operand):
            return f"{operand.type} to {value.type}"
        case Reduce(op):
            fixed = has_constant_ranges(value)
            fused = op == "sum" and isinstance(value.body, Binary) and value.body.op == "*" and value.type.is_float
            how = "over constant ranges" if fixed else "over extents"
            if _by_matrices(value):
                return f"{op} of {compute_type(value.body.type)} products {how}"
            return f"{op} of {compute_type(value.body.type)} {how}{' by fma' if fused and fixed else ''}"
    return ""


def _bound(value: Value) -> str:
    """How far an operation may be off; nothing if it is exact."""
    match value:
        case Call(function) if function in ULPS and value.type.is_float:
            ulps = ULPS[function][compute_type(value.type) != F32]
            return f"{ulps} ulp"
        case Binary("**", _, Const(2)):
            return ""           # a product
        case Binary("**") if value.type.is_float:
            return f"{ULPS['pow'][compute_type(value.type) != F32]} ulp"
        case Reduce("sum" | "prod") if value.type.is_float:
            return "" if has_constant_ranges(value) and not _by_matrices(value) else "any order"
    return ""


def _by_matrices(value: Reduce) -> bool:
    """Whether tensor cores may make the sum, which add in an order of their own."""
    return value.type.is_float and may_multiply_matrices(value)

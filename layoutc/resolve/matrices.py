"""Which sums tensor cores may make, so that the order of their terms is the compiler's."""

from __future__ import annotations

from layoutc.resolve.program import Binary, Cast, Index, Read, Reduce, Value
from layoutc.resolve.trees import parts
from layoutc.resolve.types import BF16, F16


def may_multiply_matrices(reduce: Reduce) -> bool:
    """Whether it is a sum of products of two f16 or two bf16, each read at an index from outside that the other lacks.

    Sums of integers are exact in every order, and so are not asked about.
    """
    body = reduce.body
    if reduce.op != "sum" or not isinstance(body, Binary) or body.op != "*":
        return False
    factors = [v.operand if isinstance(v, Cast) else v for v in (body.left, body.right)]
    types = {v.type for v in factors}
    if types not in ({F16}, {BF16}) or not all(isinstance(v, Read) for v in factors):
        return False
    bound = {b.name for b in reduce.binders}
    first, second = (_indices(v) - bound for v in factors)
    return bool(first - second and second - first)


def _indices(value: Value) -> set[str]:
    return {part.name for part in parts(value) if isinstance(part, Index)}

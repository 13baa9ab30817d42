"""How long the text of a turn becomes, once the compiler has written it out."""

from __future__ import annotations

from layoutc.plan.work import Work
from layoutc.resolve.program import Binary, Binder, Call, Read, Reduce, Unary, Value
from layoutc.resolve.trees import children

MEDIAN_STEPS = 6.0          # operations an element of a window that is sorted
UNKNOWN_RANGE = 64.0        # taken for a range that only the call knows


def operations(work: Work, kept: frozenset[str]) -> float:
    """Arithmetic of an output, each point of each reduction counted; lets that are kept are made once."""
    stages = {s.name: s for s in work.kernel.stages}
    known: dict[str, float] = {}

    def of(value: Value) -> float:
        match value:
            case Read(tensor, _) if tensor in stages:
                if tensor not in known:
                    known[tensor] = of(stages[tensor].value)
                return 0.0 if tensor in kept else known[tensor]
            case Reduce(op, binders, body):
                points = 1.0
                for b in binders:
                    points *= _range(b)
                taken = MEDIAN_STEPS if op == "median" else 1.0
                fused = isinstance(body, Binary) and body.op == "*" and op == "sum"
                return points * (of(body) + taken - (1.0 if fused else 0.0))
        own = 1.0 if isinstance(value, Binary | Unary | Call) else 0.0
        return own + sum(map(of, children(value) if not isinstance(value, Read) else ()))

    return sum(of(e.value) for e in work.equations) + sum(known.get(name, 0.0) for name in kept)


def _range(binder: Binder) -> float:
    return UNKNOWN_RANGE if binder.count is None else float(binder.count)

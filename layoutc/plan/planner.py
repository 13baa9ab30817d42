"""Program -> Plan: what the schedule says, what it leaves open, and what cannot be honoured."""

from __future__ import annotations

from dataclasses import replace

from layoutc.diagnostics import LayoutcError
from layoutc.index import Name
from layoutc.plan.aliases import without_aliases
from layoutc.plan.head import head
from layoutc.plan.known import without_known
from layoutc.plan.lowering.lower import MOST_EVALUATIONS, EvaluationsError
from layoutc.plan.machine import BOX_AXES
from layoutc.plan.names import Names
from layoutc.plan.nodes import Pass, Plan, Signature, Target
from layoutc.plan.numbered import numbered_anew
from layoutc.plan.paragraphs import in_paragraphs
from layoutc.plan.reads.reach import groups
from layoutc.plan.reads.subscripts import as_index
from layoutc.plan.refusal import refusal
from layoutc.plan.steps import DeviceFunction, File, Function, Inlined
from layoutc.plan.strategies import choose
from layoutc.plan.work import Work
from layoutc.plan.written import written
from layoutc.resolve.depth import deep_recursion
from layoutc.resolve.program import Const, Kernel, Program, Reduce, Schedule, Stage, Value
from layoutc.resolve.trees import children

LONGEST = 2**48         # elements of any array


def make_plan(
    program: Program, kernel: Kernel, schedule: Schedule | None, signature: Signature, target: Target
) -> Plan:
    """The plan of a kernel under a schedule (None: the compiler's own).

    Raises:
        LayoutcError: a clause cannot be honoured (the diagnostic stands at the clause), or a let would have to be
            written out too often.
    """
    check_extents(program, kernel)
    with deep_recursion():      # lets are read through one another
        return _make_plan(program, kernel, schedule, signature, target)


def _make_plan(
    program: Program, kernel: Kernel, schedule: Schedule | None, signature: Signature, target: Target
) -> Plan:
    _check_lengths(program, kernel)
    names = Names()
    passes: list[Pass] = []
    functions: list[DeviceFunction | Inlined | Function] = []
    entry = names.take(kernel.name)
    for number, equations in enumerate(groups(kernel)):
        chosen, rejected = choose(Work(program, kernel, equations, schedule, signature, target))
        name = entry if number == 0 else names.take(f"{kernel.name}_{equations[0].output}")
        try:
            made = chosen.plan(names, name)
        except EvaluationsError as error:
            raise _too_many(program, error.stage) from None
        name = type(chosen).__name__.lower()
        passes += [replace(one, strategy=name, cost=chosen.cost, rejected=rejected) for one in made.passes]
        functions += made.functions
    index = "i64" if signature.wide else "int"
    indices = _indices(kernel)
    text = without_known(functions, indices, signature.wide, names)
    text = without_aliases(text, indices, signature.wide, names)
    file = File(head(kernel, schedule, tuple(passes)), index, in_paragraphs(written(numbered_anew(text, names))))
    return Plan(kernel, schedule, signature, target, tuple(passes), file)


def _indices(kernel: Kernel) -> frozenset[str]:
    """What the spec calls the coordinates."""
    named = [one.indices for one in kernel.stages] + [one.indices for one in kernel.equations]
    return frozenset(index for indices in named for index in indices)


def _too_many(program: Program, stage: Stage) -> LayoutcError:
    return refusal(
        program, "too-many-evaluations", f"each output would evaluate lets at more than {MOST_EVALUATIONS} places",
        stage.span, "make two kernels of it, or leave out edge rules of lets that read one another")


def check_extents(program: Program, kernel: Kernel) -> None:
    """Extents and bounds of ranges are computed by every thread, as index expressions."""
    env = {e: Name(e, 0) for e in kernel.extents}
    values = [v for t in (*kernel.inputs, *kernel.outputs) for v in t.extents]
    values += [v for s in kernel.stages for ends in s.domain or () for v in ends]
    waiting: list[Value] = [*(s.value for s in kernel.stages), *(e.value for e in kernel.equations)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Reduce):
            values += [v for b in value.binders for v in (b.low, b.high)]
        waiting += children(value)
    for value in values:
        if as_index(value, env) is None:
            message = "an extent or a bound of a range is arithmetic on integers of 64 bits"
            raise refusal(program, "extent-form", message, value.span,
                          "write it by + - * // % ** min max abs sign clamp where of extents and constants")


def _check_lengths(program: Program, kernel: Kernel) -> None:
    """An extent that is so many elements more than its names can never be allocated, nor counted in blocks."""
    for tensor in (*kernel.inputs, *kernel.outputs):
        waiting: list[Value] = list(tensor.extents)
        while waiting:
            value = waiting.pop()
            if isinstance(value, Const) and abs(value.value) >= LONGEST:
                message = f"an extent of `{tensor.name}` holds the number {value.value}"
                raise refusal(program, "extent-too-large", message, tensor.span, "no array has 2**48 elements")
            waiting += children(value)


def default_signature(kernel: Kernel) -> Signature:
    """Contiguous, aligned tensors of less than 2**31 bytes."""
    tensors = (*kernel.inputs, *kernel.outputs)
    return Signature(False, (True,) * len(tensors), tuple(16 // t.type.bytes for t in tensors),
                     tuple(2 <= len(t.extents) <= BOX_AXES for t in tensors))

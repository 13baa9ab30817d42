"""From the shapes of a call to the extents of a kernel, and what must hold there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.layout.layout import as_integer
from layoutc.resolve.demand import Demand, demand
from layoutc.resolve.extents import Extents, evaluate_index
from layoutc.resolve.program import Extent, Kernel, Stage, Tensor

MEMORY = 2**47              # bytes that a process can address

__all__ = ["Extents", "bind_extents", "check_call", "check_steps", "evaluate_index", "tensor_shape"]


def bind_extents(kernel: Kernel, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
    """The kernel's extents by name, from one shape an input, in the order of the inputs.

    Raises LayoutcError (``argument-count``, ``rank-mismatch``, ``extent-mismatch``), naming the arguments.
    """
    if len(shapes) != len(kernel.inputs):
        names = ", ".join(t.name for t in kernel.inputs) or "nothing"
        given = "1 array was given" if len(shapes) == 1 else f"{len(shapes)} arrays were given"
        raise _error("argument-count", f"`{kernel.name}` takes {names}; {given}")
    pairs = list(zip(kernel.inputs, shapes, strict=True))
    wrong = [_rank(tensor, shape) for tensor, shape in pairs if len(shape) != len(tensor.extents)]
    if wrong:
        raise LayoutcError(wrong)
    extents: dict[str, int] = {}
    first: dict[str, str] = {}
    for tensor, shape in pairs:
        for extent, length in zip(tensor.extents, shape, strict=True):
            if not isinstance(extent, Extent):
                continue
            if extents.setdefault(extent.name, length) == length:
                first.setdefault(extent.name, tensor.name)
            else:
                wrong.append(_disagree(extent.name, first[extent.name], extents[extent.name], tensor, length))
    if not wrong:
        wrong = [d for tensor, shape in pairs for d in _lengths(tensor, shape, extents)]
    if wrong:
        raise LayoutcError(wrong)
    return extents


def tensor_shape(tensor: Tensor, extents: Extents) -> tuple[int, ...]:
    """The extents of a tensor as numbers; of an output they may be negative until ``check_call`` has passed."""
    return tuple(int(evaluate_index(extent, extents)) for extent in tensor.extents)


def check_call(kernel: Kernel, extents: Extents) -> Demand | None:
    """Whether a call with these extents is meant at all, and what it reads; all that is wrong comes at once.

    Raises LayoutcError: ``extent-mismatch`` (an output's extent below 0, or more elements than 64 bits count),
    ``requirement``, ``empty-fold`` (an edge rule would fold a read into an extent of 0), ``empty-reduction`` (min or
    max of nothing), ``subscript-overflow`` (the arithmetic of a subscript or an extent leaves 64 bits).
    """
    wrong = [
        _mismatch(output, f"{output.name} would have {length} elements on axis {axis}", extents)
        for output in kernel.outputs
        for axis, length in enumerate(tensor_shape(output, extents))
        if length < 0
    ]
    wrong += [
        _mismatch(output, f"{output.name} would have more elements than memory has bytes", extents)
        for output in kernel.outputs
        if prod(max(n, 0) for n in tensor_shape(output, extents)) * output.type.bytes >= MEMORY
    ]
    wrong += [
        Diagnostic("requirement", check.message, span=check.span, notes=(_where(extents),) if extents else ())
        for check in kernel.checks
        if not evaluate_index(check.condition, extents)
    ]
    read = None
    if not wrong:
        read = demand(kernel, extents)
        wrong = [*_empty_folds(kernel, read, extents), *_empty_reductions(read)]
        if read.past is not None:
            wrong.append(Diagnostic("subscript-overflow", f"a subscript or an extent of `{kernel.name}` leaves 64 bits",
                                    span=read.past, label="more than 64 bits",
                                    notes=(_where(extents),) if extents else (),
                                    help="give smaller arrays, or read nearer to them"))
    if wrong:
        raise LayoutcError(wrong)
    return read


def check_steps(kernel: Kernel, steps: object) -> int:
    """How often a kernel is to be applied; ``steps`` is any integer from 0 on.

    Raises LayoutcError: ``no-steps`` (a kernel without ``step`` is applied once; an output that no step names has no
    value after 0 steps), ``bad-steps`` (no such number).
    """
    count = as_integer(steps)
    if count is None or not 0 <= count < 2**63:
        raise _error("bad-steps", f"`steps` is an integer of 64 bits from 0 on, not {steps!r:.40}")
    if not kernel.steps and count != 1:
        raise _error("no-steps", f"`{kernel.name}` has no `step`; `steps` must be 1")
    made = {output for _, output in kernel.steps}
    loose = [t.name for t in kernel.outputs if t.name not in made]
    if count == 0 and loose:
        raise _error("no-steps", f"after 0 steps `{loose[0]}` has no value: no `step` of `{kernel.name}` names it")
    return count


def _empty_folds(kernel: Kernel, read: Demand, extents: Extents) -> Iterator[Diagnostic]:
    for tensor in kernel.inputs:
        yield from _empty_fold(tensor, tensor_shape(tensor, extents), read)
    for stage in kernel.stages:
        if stage.domain is not None and stage.name in read.hulls:
            ends = [(evaluate_index(low, extents), evaluate_index(high, extents)) for low, high in stage.domain]
            lengths = [int(high - low) for low, high in ends]
            yield from _empty_fold(stage, lengths, read)


def _empty_fold(holder: Tensor | Stage, lengths: Iterable[int], read: Demand) -> Iterator[Diagnostic]:
    name = holder.name
    if name not in read.hulls:
        return
    for axis, (sides, length) in enumerate(zip(holder.edges, lengths, strict=False)):
        folds = sorted({rule.name for rule in sides if rule is not None and rule.name != "constant"})
        if length <= 0 and folds:
            what = f"{name} has no element on axis {axis} for its edge rule `{folds[0]}` to repeat"
            yield Diagnostic("empty-fold", what, span=holder.span,
                             help=f"give {name} an element there, or the rule `constant(…)`")


def _empty_reductions(read: Demand) -> Iterator[Diagnostic]:
    for reduce in read.empty:
        names = ", ".join(b.name for b in reduce.binders)
        yield Diagnostic("empty-reduction", f"`{reduce.op}({names})` of nothing has no value", span=reduce.span,
                         help="give it an element, or `require` one")


def _rank(tensor: Tensor, shape: Sequence[int]) -> Diagnostic:
    rank = len(tensor.extents)
    axes = "1 axis" if rank == 1 else f"{rank} axes"
    what = f"{tensor.name} has {axes} in the kernel, but an array of {len(shape)} was given"
    return Diagnostic("rank-mismatch", what, span=tensor.span)


def _disagree(extent: str, one: str, here: int, other: Tensor, there: int) -> Diagnostic:
    what = f"{one} has {extent} = {here} but {other.name} has {extent} = {there}"
    return Diagnostic("extent-mismatch", what, span=other.span)


def _lengths(tensor: Tensor, shape: Sequence[int], extents: Extents) -> Iterator[Diagnostic]:
    for axis, (wanted, length) in enumerate(zip(tensor_shape(tensor, extents), shape, strict=True)):
        if wanted != length:
            what = f"{tensor.name} has {length} elements on axis {axis}, where the kernel asks for {wanted}"
            yield _mismatch(tensor, what, extents)


def _mismatch(tensor: Tensor, message: str, extents: Extents) -> Diagnostic:
    return Diagnostic("extent-mismatch", message, span=tensor.span, notes=(_where(extents),) if extents else ())


def _where(extents: Extents) -> str:
    return "here " + ", ".join(f"{name} = {length}" for name, length in extents.items())


def _error(slug: str, message: str) -> LayoutcError:
    return LayoutcError([Diagnostic(slug, message)])

"""Hypothesis strategies: the calls of a kernel, for layoutc's own tests and for a user's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from numpy.typing import NDArray

from layoutc.calls import Caller
from layoutc.module import Kernel
from layoutc.resolve.program import Kernel as Meaning
from layoutc.resolve.program import Tensor
from layoutc.testing.cases import Case, Out, arguments_of
from layoutc.testing.extents import extents_worth_testing
from layoutc.testing.fills import KINDS, Fill
from layoutc.testing.memory import Form
from layoutc.testing.ways import Way, subject_of, way_of

FILL_SEEDS = 2**10
ORDERS = ("random", "ascending", "descending")
OFFSETS = (0, 0, 0, 0, 1, 2, 3)        # elements: an access takes 4 of most types
ALIGNMENTS = (1, 4, 16)             # elements: rows that begin at whole vectors, though they do not end there
LARGEST_PAD = 4


def extents_for(kernel: Kernel, schedule: str | None = None) -> SearchStrategy[dict[str, int]]:
    """Extents of a call by name that the kernel accepts: 0, 1, around its tile, its boxes and its halo.

    Raises LayoutcError where none was found.
    """
    return st.sampled_from(_extents(_written_way(kernel, schedule)))


def arrays_for(
    kernel: Kernel, schedule: str | None = None, *, strided: bool = True
) -> SearchStrategy[tuple[NDArray[Any], ...]]:
    """Input arrays of a call, in the order of the kernel's inputs, with extents from ``extents_for``.

    They hold counted, random and special values (NaN, infinities, extremes); ``strided`` ones also come padded,
    reversed, transposed, repeated and off the boundaries of vectors.
    """
    way = _written_way(kernel, schedule)
    cases = calls_of([Prepared(way, tuple(_extents(way)), _alike(way.kernel))], outputs=False)

    def arrays(drawn: tuple[int, Case]) -> tuple[NDArray[Any], ...]:
        views = [p.view() for p in arguments_of(way.kernel, drawn[1]).inputs]
        return tuple(views if strided else (v.copy() for v in views))

    return cases.map(arrays)


def _written_way(kernel: Kernel, schedule: str | None) -> Way:
    return way_of(subject_of(kernel), schedule, Caller.of)


def _extents(way: Way) -> list[dict[str, int]]:
    return extents_worth_testing(way.kernel, way.plan, Random(0))


# ---- calls

Units = tuple[bool | None, ...]
"""Per tensor: whether neighbours along the last axis are neighbours in memory; None: the array is plain, its rows
at most aligned.

The text of a kernel depends on this, so a test draws it from a few that it prepares, and all else freely.
"""


@dataclass(frozen=True, eq=False, slots=True)
class Prepared:
    """A way with what its calls are drawn from."""

    way: Way
    extents: tuple[dict[str, int], ...]     # the least work first
    units: tuple[Units, ...]


def _alike(kernel: Meaning) -> tuple[Units, ...]:
    """All plain, all unit, none."""
    count = len(kernel.inputs) + len(kernel.outputs)
    return ((None,) * count, (True,) * count, (False,) * count)


def some_units(kernel: Meaning, mixed: int, random: Random) -> tuple[Units, ...]:
    """The same for all tensors, and some mixed."""
    tensors = len(kernel.inputs) + len(kernel.outputs)
    return (*_alike(kernel), *(tuple(random.random() < 0.5 for _ in range(tensors)) for _ in range(mixed)))


@st.composite
def calls_of(draw: DrawFn, prepared: Sequence[Prepared], outputs: bool = True) -> tuple[int, Case]:
    """Which of the ways, and a call of it; ``outputs``: given arrays and overlaps too."""
    number = draw(st.integers(0, len(prepared) - 1))
    chosen = prepared[number]
    kernel = chosen.way.kernel
    units = draw(st.sampled_from(chosen.units))
    extents = draw(st.sampled_from(chosen.extents))
    fills = tuple(draw(_fills()) for _ in kernel.inputs)
    forms = tuple(
        draw(_forms(t, unit, n < len(kernel.inputs)))
        for n, (t, unit) in enumerate(zip((*kernel.inputs, *kernel.outputs), units, strict=True)))
    out = draw(_outs(kernel)) if outputs else Out()
    seed, order = draw(st.integers(0, 2**16)), draw(st.sampled_from(ORDERS)) if outputs else "random"
    case = Case(tuple(extents.items()), fills, forms, out, chosen.way.schedule, seed, order)
    return number, case


@st.composite
def _fills(draw: DrawFn) -> Fill:
    kind = draw(st.sampled_from(KINDS))
    return Fill(kind, 0 if kind in ("count", "down") else draw(st.integers(0, FILL_SEEDS)))


@st.composite
def _outs(draw: DrawFn, kernel: Meaning) -> Out:
    """Given arrays mostly: a new one may hold the right answer of the run before."""
    kind = draw(st.sampled_from(("given", "given", "given", "over", "new")))
    alike = [t.name for t in kernel.inputs if t.type == kernel.outputs[0].type and t.strides is None]
    if kind == "over" and alike and kernel.outputs[0].strides is None:
        return Out(True, draw(st.sampled_from(alike)), draw(st.integers(0, 3)))
    return Out(kind != "new")


@st.composite
def _forms(draw: DrawFn, tensor: Tensor, unit: bool | None, is_input: bool) -> Form:
    rank = len(tensor.extents)
    if unit is None:
        return Form(align=draw(st.sampled_from(ALIGNMENTS)) if rank > 1 else 1)
    if tensor.strides is not None or rank == 0:
        return Form(offset=draw(st.sampled_from(OFFSETS)))
    last = rank - 1
    pad = tuple(draw(st.integers(0, LARGEST_PAD)) for _ in range(last))
    reverse = tuple(axis for axis in range(last) if draw(st.booleans()))
    repeat = tuple(axis for axis in range(last) if draw(st.integers(0, 5)) == 5) if is_input else ()
    align, offset = draw(st.sampled_from(ALIGNMENTS)), draw(st.sampled_from(OFFSETS))
    order = (*draw(st.permutations(range(last))), last)
    if unit:
        return Form(_said(order), (*pad, 0) if any(pad) else (), reverse, repeat, align, offset)
    return draw(_not_unit(Form(order, (*pad, 0), reverse, repeat, align, offset), is_input))


@st.composite
def _not_unit(draw: DrawFn, form: Form, is_input: bool) -> Form:
    """The form with its last axis spread, reversed, repeated, or not the narrowest."""
    last = len(form.order) - 1
    ways = ["spread", "reversed", *(["narrower"] if last else []), *(["repeated"] if is_input else [])]
    order, pad, reverse, repeat = form.order, form.pad, form.reverse, form.repeat
    match draw(st.sampled_from(ways)):
        case "spread":
            pad = (*pad[:-1], draw(st.integers(1, LARGEST_PAD)))
        case "reversed":
            reverse = (*reverse, last)
        case "repeated":
            repeat = (*repeat, last)
        case _:
            order = (last, *order[:-1])
    return Form(_said(order), pad if any(pad) else (), reverse, repeat, form.align, form.offset)


def _said(order: tuple[int, ...]) -> tuple[int, ...]:
    return () if order == tuple(range(len(order))) else order

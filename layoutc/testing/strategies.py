"""Hypothesis strategies: the calls of a kernel, for layoutc's own tests and for a user's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from numpy.typing import NDArray

from layoutc.calling.calls import Caller
from layoutc.module import Kernel
from layoutc.resolve.program import Kernel as Meaning
from layoutc.testing.cases import Case, Out, arguments_of
from layoutc.testing.extents import extents_worth_testing
from layoutc.testing.fills import KINDS, Fill
from layoutc.testing.forms import Choices, form_choices, plain_choices
from layoutc.testing.ways import Way, subject_of, way_of

T = TypeVar("T")

FILL_SEEDS = 2**10
ORDER_SEEDS = 2**16
ORDERS = ("random", "ascending", "descending")


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
    choices = form_choices(way.kernel, 0, Random(0)) if strided else plain_choices(way.kernel)
    cases = calls_of([Prepared(way, tuple(_extents(way)), choices)], outputs=False)
    return cases.map(lambda drawn: tuple(p.view() for p in arguments_of(way.kernel, drawn[1]).inputs))


def _written_way(kernel: Kernel, schedule: str | None) -> Way:
    return way_of(subject_of(kernel), schedule, Caller)


def _extents(way: Way) -> list[dict[str, int]]:
    return extents_worth_testing(way.kernel, way.plan, Random(0))


# ---- calls


@dataclass(frozen=True, eq=False, slots=True)
class Prepared:
    """A way with what its calls are drawn from."""

    way: Way
    extents: tuple[dict[str, int], ...]     # the least work first
    choices: tuple[Choices, ...]            # forms of the arrays


@st.composite
def calls_of(draw: DrawFn, prepared: Sequence[Prepared], outputs: bool = True) -> tuple[int, Case]:
    """Which of the ways, and a call of it; ``outputs``: given arrays and overlaps too.

    One in four is drawn part by part, which shrinks well but repeats itself; the others all at once.
    """
    if draw(st.integers(0, 3)) == 0:
        return _call(lambda parts: draw(st.sampled_from(parts)), prepared, outputs)
    return _call(Random(draw(st.integers(0, 2**64 - 1))).choice, prepared, outputs)


class Pick(Protocol):
    """Takes one of several."""

    def __call__(self, parts: Sequence[T], /) -> T:
        """One of the parts, the first if all else is equal."""
        ...


def _call(pick: Pick, prepared: Sequence[Prepared], outputs: bool) -> tuple[int, Case]:
    number = pick(range(len(prepared)))
    chosen = prepared[number]
    kernel = chosen.way.kernel
    extents = pick(chosen.extents)
    fills = tuple(_fill(pick) for _ in kernel.inputs)
    forms = tuple(pick(forms) for forms in pick(chosen.choices))
    out = _out(pick, kernel) if outputs else Out()
    seed, order = pick(range(ORDER_SEEDS)), pick(ORDERS)
    steps = pick(steps_worth_testing(chosen.way)) if outputs else 1
    return number, Case(tuple(extents.items()), fills, forms, out, chosen.way.schedule, seed, order, steps)


def steps_worth_testing(way: Way) -> tuple[int, ...]:
    """1, and of a kernel with steps none, a few, and what lies around a launch's worth."""
    if not way.kernel.steps:
        return (1,)
    fused = way.caller.usual
    made = {v for _, v in way.kernel.steps}
    least = 0 if all(t.name in made for t in way.kernel.outputs) else 1
    return tuple(dict.fromkeys(n for n in (1, 2, 3, 0, fused, fused - 1, fused + 1, 2 * fused + 1) if n >= least))


def _fill(pick: Pick) -> Fill:
    kind = pick(KINDS)
    return Fill(kind, 0 if kind in ("count", "down") else pick(range(FILL_SEEDS)))


def _out(pick: Pick, kernel: Meaning) -> Out:
    """Given arrays mostly: a new one may hold the right answer of the run before."""
    kind = pick(("given", "given", "given", "over", "new"))
    alike = [t.name for t in kernel.inputs if t.type == kernel.outputs[0].type and t.strides is None]
    if kind == "over" and alike and kernel.outputs[0].strides is None:
        return Out(True, pick(alike), pick(range(4)))
    return Out(kind != "new")

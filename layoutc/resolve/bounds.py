"""The proof that every read stays inside its tensor.

Each read is looked at in the polyhedron of the indices around it: ranges (taken as not empty, for else nothing is
read), extents (never negative), requirements. A let without edges is a formula: its own reads are looked at wherever it
is read, so from the outputs down to the inputs each let collects what all of its reads have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from layoutc.resolve.elimination import Fuel
from layoutc.resolve.errors import Errors
from layoutc.resolve.forms import Forms
from layoutc.resolve.linear import Facts, holds, joined, minimum, projected
from layoutc.resolve.overshoot import Miss, Place, report_misses
from layoutc.resolve.polynomials import Form, constant, minus, plus, variable
from layoutc.resolve.program import (
    Kernel,
    Read,
    Reduce,
    Sides,
    Stage,
    Value,
    Where,
)
from layoutc.resolve.ranges import declare
from layoutc.resolve.tensors import AxisRange
from layoutc.resolve.trees import children, parts

Box = tuple[tuple[Form, Form] | None, ...]     # per axis: half-open; None: everywhere


def prove_bounds(
    kernel: Kernel, let_ranges: Mapping[str, tuple[AxisRange | None, ...]], errors: Errors, fuel: Fuel
) -> None:
    """Reports the reads that can leave their tensor, or are not proved to stay inside.

    ``let_ranges`` holds for each let the ranges that its brackets have, if any.
    """
    prover = _Prover(kernel, let_ranges, Facts(fuel=fuel))
    prover.run()
    report_misses(kernel, prover.misses, errors)


@dataclass(slots=True)
class _Prover:
    kernel: Kernel
    let_ranges: Mapping[str, tuple[AxisRange | None, ...]]
    base: Facts
    boxes: dict[str, Box] = field(default_factory=dict)
    sides: dict[str, tuple[Sides, ...]] = field(default_factory=dict)
    stages: dict[str, Stage] = field(default_factory=dict)
    read_at: dict[str, list[Form]] = field(default_factory=dict)   # a formula's parameters: what all its reads share
    counter: list[int] = field(default_factory=lambda: [0])
    misses: list[Miss] = field(default_factory=list)

    def run(self) -> None:
        kernel = self.kernel
        forms = self._forms(self.base, {})
        extents = declare(kernel, forms)
        for tensor in (*kernel.inputs, *kernel.outputs):
            self.boxes[tensor.name] = tuple(({}, n) for n in extents[tensor.name])
            self.sides[tensor.name] = tensor.edges
        for stage in kernel.stages:
            ranges = self.let_ranges[stage.name]
            self.boxes[stage.name] = tuple(r and (forms.of(r[0]), forms.of(r[1])) for r in ranges)
            self.sides[stage.name] = stage.edges or ((None, None),) * len(ranges)
            self.stages[stage.name] = stage
        for equation in kernel.equations:       # a refused one is missing
            self._visit_over(equation.value, equation.indices, self.boxes[equation.output], "equation")
        for stage in reversed(kernel.stages):
            self._visit_stage(stage)
        self._visit_rules()

    def _forms(self, facts: Facts, indices: Mapping[str, Form]) -> Forms:
        return Forms(facts, indices, self.counter)

    def _visit_over(self, value: Value, names: tuple[str, ...], box: Box, place: Place) -> None:
        facts = self.base.copy()
        indices = {name: variable(name) for name in names}
        for name, axis in zip(names, box, strict=True):
            if axis is not None:
                facts.between(axis[0], indices[name], axis[1])
        self._visit(value, self._forms(facts, indices), place)

    def _visit_stage(self, stage: Stage) -> None:
        """A let with a domain is computed there; a formula wherever it is read; one that nothing reads, nowhere."""
        if stage.domain is not None:
            self._visit_over(stage.value, stage.indices, self.boxes[stage.name], "domain")
        elif stage.name in self.read_at:
            facts = self.base.copy()
            facts.at_least_zero += self.read_at[stage.name]
            indices = {name: variable(_parameter(stage.name, k)) for k, name in enumerate(stage.indices)}
            self._visit(stage.value, self._forms(facts, indices), "let")

    def _visit_rules(self) -> None:
        """What the values of edge rules read lies inside; no index is around them."""
        for sides in self.sides.values():
            for rule in (rule for axis in sides for rule in axis):
                if rule is not None and rule.value is not None:
                    for read in (part for part in parts(rule.value) if isinstance(part, Read)):
                        self._check_inside(read)

    def _check_inside(self, read: Read) -> None:
        self._check(read, self._forms(self.base.copy(), {}), ((None, None),) * len(read.indices), "rule")

    def _visit(self, value: Value, forms: Forms, place: Place, guarded: bool = False) -> None:
        match value:
            case Read():
                for index in value.indices:
                    self._visit(index, forms, place, guarded)
                here = Forms(forms.facts.copy(), forms.indices, self.counter)
                self._check(value, here, self.sides[value.tensor], place, guarded)
            case Reduce(_, binders, body):
                facts = forms.facts.copy()
                inner = self._forms(facts, {**forms.indices, **{b.name: variable(b.name) for b in binders}})
                for binder in binders:
                    facts.between(inner.of(binder.low), variable(binder.name), inner.of(binder.high))
                self._visit(body, inner, place, guarded)
            case _:
                for child in children(value):
                    self._visit(child, forms, place, guarded or isinstance(value, Where))

    def _check(
        self, read: Read, forms: Forms, sides: tuple[Sides, ...], place: Place, guarded: bool = False
    ) -> None:
        subscripts = [forms.of(index) for index in read.indices]
        for axis, (at, box, rules) in enumerate(zip(subscripts, self.boxes[read.tensor], sides, strict=True)):
            if box is None:
                continue
            gaps = (minus(at, box[0]), minus(minus(box[1], at), constant(1)))
            for side, (gap, rule) in enumerate(zip(gaps, rules, strict=True)):
                if rule is None and not holds(gap, forms.facts):
                    least = _least(gap, forms.facts)
                    self.misses.append(Miss(read, axis, side, least, gap, forms.facts, place, guarded))
        stage = self.stages.get(read.tensor)
        if stage is not None and stage.domain is None:
            self._collect(stage, subscripts, forms.facts)

    def _collect(self, stage: Stage, subscripts: list[Form], facts: Facts) -> None:
        """Joins the places of one more read of a formula to those of the others."""
        names = [_parameter(stage.name, k) for k in range(len(subscripts))]
        here = facts.copy()
        here.zero += [minus(variable(name), at) for name, at in zip(names, subscripts, strict=True)]
        known = projected(here, {*names, *self.kernel.extents})
        if known is not None:
            before = self.read_at.get(stage.name)
            self.read_at[stage.name] = known if before is None else joined(before, known, facts.fuel)


def _least(gap: Form, facts: Facts) -> float:
    """The least value of a gap that cannot be excluded: by elimination, sharpened by search."""
    least = minimum(gap, facts)
    if not -inf < least < 0:
        return -inf
    low, high = int(least), -1      # it is never below low, and may be high
    while low < high:
        middle = (low + high + 1) // 2
        if holds(plus(gap, constant(-middle)), facts):
            low = middle
        else:
            high = middle - 1
    return low


def _parameter(let: str, number: int) -> str:
    """The variable of a let's index; no name of a file holds a dot."""
    return f"{let}.{number}"

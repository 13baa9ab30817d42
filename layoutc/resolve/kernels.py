"""One kernel: its names bound, its clauses checked against each other, its equations as values."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from layoutc.diagnostics import Label, did_you_mean
from layoutc.parse import syntax
from layoutc.resolve import brackets, edge_rules
from layoutc.resolve.binders import Ranges, reduction_binders
from layoutc.resolve.bounds import prove_bounds
from layoutc.resolve.constants import Statics
from layoutc.resolve.depth import check_depth
from layoutc.resolve.drafts import Typing
from layoutc.resolve.elimination import Fuel
from layoutc.resolve.errors import Errors, Refused, axes
from layoutc.resolve.expressions import Expressions, Scope, Target
from layoutc.resolve.lets import domain_of, lets_in_order, written_ranges
from layoutc.resolve.names import names_in
from layoutc.resolve.program import Binder, Check, Const, Equation, Kernel, Schedule, Sides, Stage, Tensor, Value
from layoutc.resolve.steps import steps_of
from layoutc.resolve.tensors import AxisRange, Holder, bound_extents, declare, first_declared
from layoutc.resolve.types import BOOL
from layoutc.source import Span

T = TypeVar("T", bound=syntax.Clause)


@dataclass(slots=True)
class KernelResolver:
    """Everything known about one kernel while it is resolved."""

    errors: Errors
    statics: Statics
    written: syntax.Kernel
    extents: dict[str, Span] = field(default_factory=dict)
    holders: dict[str, Holder] = field(default_factory=dict)
    fuel: Fuel = field(default_factory=Fuel)
    ranges: Ranges = field(init=False)
    typing: Typing = field(init=False)
    x: Expressions = field(init=False)

    def __post_init__(self) -> None:
        self.typing = Typing(self.errors)
        self.ranges = Ranges(self.errors)
        self.x = Expressions(self.errors, self.statics, self.typing, self)
        self.extents = bound_extents(self.written, self.statics.constants)

    # ---- what expressions ask

    def tensor_names(self) -> list[str]:
        """Every name that stands before brackets."""
        return list(self.holders)

    def target(self, tensor: syntax.Name, scope: Scope) -> Target:
        """What a read reads; refuses outputs and names that are no tensor."""
        holder = self.holders.get(tensor.id)
        if holder is None:
            self._refuse_target(tensor)
        if holder.kind == "output":
            self.errors.refuse(
                "misused-name", tensor.span, f"`{tensor.id}` is an output, and an output is not read", "an output",
                help="name the value with `let`, and read that",
            )
        if holder.kind == "let" and scope.reads == "inputs":
            self.errors.refuse(
                "misused-name", tensor.span, f"{scope.only} reads no `let`", "a let", help="read an input: `c[]`"
            )
        if holder.type is None:
            raise Refused
        return Target(holder.type, holder.rank)

    def _refuse_target(self, name: syntax.Name) -> NoReturn:
        if name.id in self.statics.layouts:
            self.errors.refuse(
                "misused-name", name.span, f"`{name.id}` is a layout, and a tensor is needed", "a layout"
            )
        readable = [n for n, h in self.holders.items() if h.kind != "output"]
        self.errors.refuse(
            "unknown-name", name.span, f"there is no tensor or `let` `{name.id}`", "not declared",
            help=did_you_mean(name.id, readable),
        )

    def binders(self, reduction: syntax.Reduction, scope: Scope) -> tuple[Binder, ...]:
        """The indices of a reduction and their ranges."""
        return reduction_binders(self.x, self.ranges, self.holders, reduction, scope)

    # ---- the kernel

    def resolve(self, schedules: tuple[Schedule, ...] = ()) -> Kernel | None:
        """The kernel, or None where something was wrong."""
        before = self.errors.met
        self._declare()
        requires = self._requires()
        edges = self._edge_clauses()
        equations = self._equation_headers()
        domains = self._let_headers(edges, equations)
        stages = self._stages(domains)
        values = [e for output in self.written.outputs for e in self._equation(output, equations)]
        sides = {name: edge_rules.sides_of(self.x, self.holders[name], of) for name, of in edges.items()}
        steps = steps_of(self.x, self.holders, self._clauses(syntax.Step))
        if self.errors.met > before:
            return None
        kernel = Kernel(
            name=self.written.name.id,
            extents=tuple(self.extents),
            inputs=tuple(self._tensor(t, sides) for t in self.written.inputs),
            outputs=tuple(self._tensor(t, sides) for t in self.written.outputs),
            stages=tuple(self._with_edges(s, domains, sides) for s in stages),
            equations=tuple(values),
            checks=(*requires, *self.typing.checks),
            schedules=schedules,
            steps=steps,
            span=self.written.span,
        )
        if not check_depth(kernel.stages, self.errors):
            return None
        prove_bounds(kernel, {n: h.axes for n, h in self.holders.items() if h.kind == "let"}, self.errors, self.fuel)
        return kernel if self.errors.met == before else None

    def _clauses(self, kind: type[T]) -> list[T]:
        return [c for c in self.written.clauses if isinstance(c, kind)]

    def _declare(self) -> None:
        for tensor in self.written.inputs:
            self._add(declare(tensor, "input", self.x))
        for tensor in self.written.outputs:
            self._add(declare(tensor, "output", self.x))

    def _add(self, holder: Holder) -> None:
        name = holder.name
        if name.id in self.holders:
            self.errors.report(
                "duplicate-name", name.span, f"`{name.id}` is declared twice in this kernel", "again",
                others=[first_declared(name, self.holders[name.id].name.span)],
            )
            return
        self.holders[name.id] = holder

    def _requires(self) -> list[Check]:
        scope = Scope(reads="none", only="a requirement")
        checks = []
        for condition in (c for clause in self._clauses(syntax.Require) for c in clause.conditions):
            with suppress(Refused):
                value = self.x.condition(condition, scope, "`require`")
                written = self.errors.text(condition.span)
                if value == Const(False, BOOL):
                    self.errors.refuse("require", condition.span, f"`{written}` never holds", "always false")
                if value != Const(True, BOOL):
                    checks.append(Check(value, f"`{self.written.name.id}` requires {written}", condition.span))
        return checks

    def _edge_clauses(self) -> dict[str, list[syntax.Edge]]:
        """The edge clauses by tensor; lets are declared on the way."""
        for let in self._clauses(syntax.Let):
            self._add(Holder(let.name, "let", len(let.binders)))
        edges: dict[str, list[syntax.Edge]] = {}
        for edge in self._clauses(syntax.Edge):
            holder = self.holders.get(edge.tensor.id)
            if holder is not None and holder.kind != "output":
                edges.setdefault(edge.tensor.id, []).append(edge)
            elif holder is not None:
                self.errors.report(
                    "edge-target", edge.tensor.span, f"`{edge.tensor.id}` is an output, which is not read",
                    "an output has no edge",
                )
            else:
                with suppress(Refused):
                    self._refuse_target(edge.tensor)
        return edges

    # ---- equations

    def _equation_headers(self) -> dict[str, syntax.Equation]:
        """The equation of each output; its indices are bound to the output's extents."""
        found: dict[str, syntax.Equation] = {}
        for equation in self._clauses(syntax.Equation):
            with suppress(Refused):
                holder = self._output(equation.output)
                if equation.output.id in found:
                    self.errors.refuse(
                        "duplicate-equation", equation.output.span, f"`{equation.output.id}` has two equations",
                        "again",
                        others=[Label(found[equation.output.id].output.span, "the first")],
                    )
                found[equation.output.id] = equation
                self._bind_brackets(equation, holder)
        for output in self.written.outputs:
            if output.name.id not in found and self.holders[output.name.id].name is output.name:
                self.errors.report(
                    "missing-equation", output.name.span, f"the output `{output.name.id}` has no equation",
                    "never computed", help=f"write `{output.name.id}[…] = …`",
                )
        return found

    def _output(self, name: syntax.Name) -> Holder:
        holder = self.holders.get(name.id)
        if holder is not None and holder.kind == "output":
            return holder
        what = {"input": "an input, which is given", "let": "a let, which is defined already"}
        outputs = [h.name.id for h in self.holders.values() if h.kind == "output"]
        self.errors.refuse(
            "bad-target", name.span, f"`{name.id}` is {what[holder.kind] if holder else 'no output of this kernel'}",
            "no output",
            help=did_you_mean(name.id, outputs)
            or ("" if holder else f"to name an intermediate, write `let {name.id}[…] = …`"),
        )

    def _bind_brackets(self, equation: syntax.Equation, holder: Holder) -> None:
        names = [brackets.plain_name(self.x, index) for index in equation.indices]
        if not brackets.distinct(self.errors, [n for n in names if n is not None]):
            raise Refused
        if len(names) != holder.rank:
            self.errors.refuse(
                "rank", equation.span, f"`{holder.name.id}` has {axes(holder.rank)}", f"{len(names)} indices",
                others=[first_declared(holder.name, holder.name.span)],
            )
        for name, axis in zip(names, holder.axes, strict=False):
            if name is not None and axis is not None:
                self.ranges.bind(name, axis)

    def _equation(self, output: syntax.TensorDeclaration, equations: dict[str, syntax.Equation]) -> list[Equation]:
        written, holder = equations.get(output.name.id), self.holders.get(output.name.id)
        if written is None or holder is None:
            return []
        names = [n for index in written.indices for n in names_in(index)]
        with suppress(Refused):
            scope = Scope().within(names)
            if holder.type is None:
                self.x.natural(written.value, scope)
                return []
            value = self.x.value(written.value, scope, holder.type, f"`{output.name.id}` holds {holder.type}")
            return [Equation(output.name.id, tuple(n.id for n in names), value, written.span)]
        return []

    # ---- lets

    def _let_headers(
        self, edges: dict[str, list[syntax.Edge]], equations: dict[str, syntax.Equation]
    ) -> dict[str, tuple[AxisRange, ...]]:
        """The domains of the lets with edges; the ranges of all."""
        domains: dict[str, tuple[AxisRange, ...]] = {}
        for let in self._clauses(syntax.Let):
            holder = self.holders[let.name.id]
            names = [b.name for b in let.binders]
            for name in names:
                brackets.check_free(self.x, name)
            brackets.distinct(self.errors, names)
            if holder.name is not let.name:
                continue
            with suppress(Refused):
                holder.axes = written_ranges(self.x, let)
                if let.name.id in edges:
                    outputs = [(e, self.holders[e.output.id]) for e in equations.values()]
                    domains[let.name.id] = domain_of(self.errors, let, holder.axes, outputs, edges[let.name.id][0])
                    holder.axes = domains[let.name.id]
        return domains

    def _stages(self, domains: dict[str, tuple[AxisRange, ...]]) -> list[Stage]:
        stages = []
        mine = [let for let in self._clauses(syntax.Let) if self.holders[let.name.id].name is let.name]
        for let in lets_in_order(self.errors, mine):
            with suppress(Refused):
                value = self.x.natural(let.value, Scope().within(b.name for b in let.binders))
                self.holders[let.name.id].type = value.type
                indices = tuple(b.name.id for b in let.binders)
                stages.append(Stage(let.name.id, indices, value, value.type, domains.get(let.name.id), (), let.span))
        return stages

    def _with_edges(
        self, stage: Stage, domains: dict[str, tuple[AxisRange, ...]], sides: dict[str, tuple[Sides, ...]]
    ) -> Stage:
        if stage.name not in domains:
            return stage
        return Stage(
            stage.name, stage.indices, stage.value, stage.type, stage.domain, sides[stage.name], stage.span
        )

    def _tensor(self, tensor: syntax.TensorDeclaration, sides: dict[str, tuple[Sides, ...]]) -> Tensor:
        holder = self.holders[tensor.name.id]
        assert holder.type is not None
        extents: tuple[Value, ...] = tuple(axis[1] for axis in holder.axes if axis is not None)
        free: tuple[Sides, ...] = ((None, None),) * holder.rank
        return Tensor(
            tensor.name.id, holder.type, extents, holder.strides, sides.get(tensor.name.id, free), tensor.span
        )

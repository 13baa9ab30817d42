"""From what was written to what it means."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import SupportsIndex, TypeVar

from layoutc.diagnostics import Label, did_you_mean
from layoutc.parse import syntax
from layoutc.resolve.arithmetic import I64_RANGE
from layoutc.resolve.constants import Statics, evaluate_assertion
from layoutc.resolve.depth import deep_recursion
from layoutc.resolve.elimination import Fuel
from layoutc.resolve.errors import Errors, Refused
from layoutc.resolve.kernels import KernelResolver
from layoutc.resolve.program import Kernel, Program, Schedule
from layoutc.resolve.redistributes import redistribute_of
from layoutc.resolve.schedules import ScheduleResolver
from layoutc.resolve.surface import surface_of
from layoutc.source import Source


def resolve(spec: syntax.Spec, source: Source, constants: Mapping[str, int] | None = None) -> Program:
    """The meaning of a file; ``constants`` override the file's.

    Raises LayoutcError with every independent error, in the order of the text.
    """
    errors = Errors(source)
    with deep_recursion():
        program = _Resolver(errors, spec, dict(constants or {})).resolve()
    errors.stop_if_any()
    return program


def _integer(value: object) -> int | None:
    """An integer of any kind, NumPy's too; a truth value is none."""
    try:
        return operator.index(value) if isinstance(value, SupportsIndex) and not isinstance(value, bool) else None
    except TypeError:
        return None


D = TypeVar("D", syntax.Constant, syntax.LayoutDeclaration, syntax.Kernel | syntax.Redistribute)


@dataclass(slots=True)
class _Resolver:
    errors: Errors
    spec: syntax.Spec
    overrides: dict[str, int]
    statics: Statics = field(init=False)
    kernels: dict[str, syntax.Kernel] = field(default_factory=dict)
    redistributes: list[syntax.Redistribute] = field(default_factory=list)
    schedules: dict[str, list[syntax.Schedule]] = field(default_factory=dict)
    fuel: Fuel = field(default_factory=Fuel)

    def __post_init__(self) -> None:
        self.statics = Statics(self.errors, self.overrides)

    def resolve(self) -> Program:
        self._collect()
        self._check_overrides()
        self.statics.evaluate_all()
        constants = tuple((name, self._constant(name)) for name in self.statics.constants)
        layouts = []
        for name in self.statics.layouts:
            with suppress(Refused):
                layouts.append((name, self.statics.layout(name)))
        assertions = [d for d in self.spec.declarations if isinstance(d, syntax.Assertion)]
        for assertion in assertions:
            with suppress(Refused):
                evaluate_assertion(self.statics, assertion)
        kernels = [self._kernel(kernel) for kernel in self.kernels.values()]
        self._unknown_schedules()
        moves = [redistribute_of(self.errors, self.statics, written) for written in self.redistributes]
        return Program(
            self.errors.source, constants, tuple(layouts), tuple(k for k in kernels if k is not None), len(assertions),
            tuple(m for m in moves if m is not None),
        )

    def _constant(self, name: str) -> int:
        with suppress(Refused):
            return self.statics.constant(name)
        return 0

    def _collect(self) -> None:
        """Every declared name into its name space: constants, layouts, kernels with redistributions."""
        functions: dict[str, syntax.Kernel | syntax.Redistribute] = {}
        for declaration in self.spec.declarations:
            match declaration:
                case syntax.Constant():
                    self._declare("constant", declaration, self.statics.constants)
                case syntax.LayoutDeclaration():
                    self._declare("layout", declaration, self.statics.layouts)
                case syntax.Kernel():
                    self._declare("kernel", declaration, functions)
                case syntax.Redistribute():
                    self._declare("redistribute", declaration, functions)
                case syntax.Schedule():
                    self.schedules.setdefault(declaration.kernel.id, []).append(declaration)
        self.kernels = {name: d for name, d in functions.items() if isinstance(d, syntax.Kernel)}
        self.redistributes = [d for d in functions.values() if isinstance(d, syntax.Redistribute)]

    def _declare(self, what: str, declaration: D, into: dict[str, D]) -> None:
        name = declaration.name
        if name.id in into:
            self.errors.report(
                "duplicate-name", name.span, f"the {what} `{name.id}` is declared twice", "again",
                others=[Label(into[name.id].name.span, "first declared here")],
            )
        else:
            into[name.id] = declaration

    def _check_overrides(self) -> None:
        for name, value in list(self.overrides.items()):
            if name not in self.statics.constants:
                self.errors.report(
                    "unknown-constant", None, f"the file declares no constant `{name}`",
                    help=did_you_mean(name, self.statics.constants),
                )
                continue
            number = _integer(value)
            if number is None or not I64_RANGE[0] <= number <= I64_RANGE[1]:
                what = f"the constant `{name}` takes an integer of 64 bits, not {value!s:.40}"
                self.errors.report("bad-override", None, what)
                number = 0
            self.overrides[name] = number

    # ---- kernels with their schedules

    def _kernel(self, kernel: syntax.Kernel) -> Kernel | None:
        surface = surface_of(kernel, {*self.statics.constants, *self.statics.layouts})
        schedules: list[Schedule] = []
        first: dict[str | None, syntax.Schedule] = {}
        for written in self.schedules.get(kernel.name.id, []):
            name = written.name.id if written.name else None
            if name in first:
                self._duplicate_schedule(written, first[name])
            first.setdefault(name, written)
            schedule = ScheduleResolver(self.errors, self.statics, surface, written).resolve()
            if schedule is not None:
                schedules.append(schedule)
        return KernelResolver(self.errors, self.statics, kernel, fuel=self.fuel).resolve(tuple(schedules))

    def _duplicate_schedule(self, again: syntax.Schedule, first: syntax.Schedule) -> None:
        what = f"a schedule named `{again.name.id}`" if again.name else "an unnamed schedule"
        self.errors.report(
            "duplicate-schedule", (again.name or again.kernel).span, f"`{again.kernel.id}` has {what} already", "again",
            others=[Label((first.name or first.kernel).span, "the first")],
            help="" if again.name else f"name one of them: `schedule {again.kernel.id} as …`",
        )

    def _unknown_schedules(self) -> None:
        for name, schedules in self.schedules.items():
            for schedule in schedules if name not in self.kernels else []:
                self.errors.report(
                    "unknown-name", schedule.kernel.span, f"there is no kernel `{name}`", "not declared",
                    help=did_you_mean(name, self.kernels),
                )

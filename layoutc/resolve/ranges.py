"""What declarations say of extents, and which ranges hold something wherever there are outputs."""

from __future__ import annotations

from collections.abc import Iterable

from layoutc.resolve.forms import Forms
from layoutc.resolve.linear import Facts, holds
from layoutc.resolve.polynomials import Form, constant, minus, variable
from layoutc.resolve.program import Binder, Const, Kernel


def declare(kernel: Kernel, forms: Forms) -> dict[str, tuple[Form, ...]]:
    """Adds to the facts that no extent is negative and that requirements hold; the extents of every tensor."""
    forms.facts.at_least_zero += [variable(name) for name in kernel.extents]
    found: dict[str, tuple[Form, ...]] = {}
    for tensor in (*kernel.inputs, *kernel.outputs):
        found[tensor.name] = tuple(map(forms.of, tensor.extents))
        forms.facts.at_least_zero += [n for n in found[tensor.name] if n]
    for check in kernel.checks:
        forms.assume(check.condition)
    return found


class Ranges:
    """Which reductions have something to reduce at every call in which some outputs have elements."""

    def __init__(self, kernel: Kernel, outputs: Iterable[str]) -> None:
        self._kernel, self._outputs = kernel, tuple(outputs)
        self._forms: Forms | None = None
        self._known: dict[Binder, bool] = {}

    def hold_something(self, binders: Iterable[Binder]) -> bool:
        """Whether all of the ranges are proved never to be empty there."""
        return all(map(self._holds_something, binders))

    def _holds_something(self, binder: Binder) -> bool:
        if isinstance(binder.low, Const) and isinstance(binder.high, Const):
            return binder.low.value < binder.high.value
        if binder not in self._known:
            forms = self._declared()
            length = minus(forms.of(binder.high), forms.of(binder.low))
            self._known[binder] = holds(minus(length, constant(1)), forms.facts)
        return self._known[binder]

    def _declared(self) -> Forms:
        if self._forms is None:
            self._forms = Forms(Facts(), {})
            extents = declare(self._kernel, self._forms)
            self._forms.facts.at_least_zero += [
                minus(n, constant(1)) for output in self._outputs for n in extents[output]]
        return self._forms

"""What of a kernel a schedule can name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from layoutc.parse import syntax
from layoutc.resolve.names import names_in, operands


@dataclass(frozen=True, slots=True)
class Surface:
    """The names of a kernel, as far as its text tells."""

    outputs: tuple[tuple[str, ...], ...]        # the indices of each output, in the order of its brackets
    reduced: tuple[str, ...]                    # reduction indices
    inputs: dict[str, bool]                     # whether all extents are constants
    lets: tuple[str, ...]
    made: dict[str, tuple[str, ...]]            # the indices of each output by its name
    steps: bool = False                         # whether an output is the next of some input

    @property
    def indices(self) -> tuple[str, ...]:
        """The output indices, each once."""
        return tuple(dict.fromkeys(name for output in self.outputs for name in output))


def surface_of(kernel: syntax.Kernel, constants: Collection[str]) -> Surface:
    """What a schedule of the kernel can name."""
    equations = [c for c in kernel.clauses if isinstance(c, syntax.Equation)]
    lets = [c for c in kernel.clauses if isinstance(c, syntax.Let)]
    values = [*(let.value for let in lets), *(equation.value for equation in equations)]
    outputs = tuple(tuple(i.id for i in e.indices if isinstance(i, syntax.Name)) for e in equations)
    reduced = dict.fromkeys(n for value in values for n in _reduced(value))
    return Surface(
        outputs=outputs,
        reduced=tuple(reduced),
        inputs={t.name.id: all(n.id in constants for e in t.extents for n in names_in(e)) for t in kernel.inputs},
        lets=tuple(let.name.id for let in lets),
        made={e.output.id: indices for e, indices in zip(equations, outputs, strict=True)},
        steps=any(isinstance(c, syntax.Step) for c in kernel.clauses),
    )


def _reduced(e: syntax.Expression) -> list[str]:
    own = [binder.name.id for binder in e.binders] if isinstance(e, syntax.Reduction) else []
    return own + [name for operand in operands(e) for name in _reduced(operand)]

"""One example of a test: everything that a run depends on, small enough for a command line."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.resolve.binding import check_steps, evaluate_index, tensor_shape
from layoutc.resolve.program import Kernel, Tensor
from layoutc.testing.fills import Array, Fill
from layoutc.testing.memory import Form, Placed, place

POISON_SEED = 97        # of what an output holds before the run


@dataclass(frozen=True, slots=True)
class Out:
    """Where the outputs go: new arrays, given ones, or (the first one) over an input's memory."""

    given: bool = False
    over: str | None = None     # an input of the same element type
    shift: int = 0              # elements by which the output begins after that input


@dataclass(frozen=True, slots=True)
class Case:
    """A call. ``schedule``: a name, clauses in braces, or None for the default."""

    extents: tuple[tuple[str, int], ...]
    fills: tuple[Fill, ...]             # per input
    forms: tuple[Form, ...]             # per input, then per output
    out: Out = Out()
    schedule: str | None = None
    seed: int = 0                       # of the order of threads
    order: str = "random"
    steps: int = 1

    def to_json(self, kernel: Kernel) -> str:
        """One line; what is as usual is left out."""
        tensors = (*kernel.inputs, *kernel.outputs)
        said: dict[str, Any] = {"extents": dict(self.extents)}
        said["fills"] = {t.name: str(f) for t, f in zip(kernel.inputs, self.fills, strict=True)}
        said["forms"] = {t.name: f.as_json() for t, f in zip(tensors, self.forms, strict=True) if f != Form()}
        if self.out.given:
            said["out"] = {"over": self.out.over, "shift": self.out.shift} if self.out.over else "given"
        said |= {"schedule": self.schedule, "seed": self.seed, "order": self.order, "steps": self.steps}
        usual: dict[str, Any] = {"seed": 0, "order": "random", "steps": 1}
        return json.dumps({k: v for k, v in said.items() if (v != usual[k] if k in usual else v)})

    @classmethod
    def from_json(cls, text: str, kernel: Kernel) -> Case:
        """The case of its text; LayoutcError where it is none of this kernel."""
        try:
            return cls._of(json.loads(text), kernel)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise LayoutcError([Diagnostic("bad-case", f"this is no case of `{kernel.name}`: {error}")]) from None

    @classmethod
    def _of(cls, said: dict[str, Any], kernel: Kernel) -> Case:
        missing = [name for name in kernel.extents if name not in said.get("extents", {})]
        if missing:
            raise ValueError(f"it has no extent {missing[0]}")
        fills, forms, out = said.get("fills", {}), said.get("forms", {}), said.get("out")
        tensors = (*kernel.inputs, *kernel.outputs)
        over = out if isinstance(out, dict) else {}
        return cls(
            extents=tuple((name, int(said.get("extents", {})[name])) for name in kernel.extents),
            fills=tuple(Fill.parse(fills.get(t.name, "count")) for t in kernel.inputs),
            forms=tuple(Form.from_json(forms.get(t.name, {})) for t in tensors),
            out=Out(out is not None, over.get("over"), int(over.get("shift", 0))),
            schedule=said.get("schedule"), seed=int(said.get("seed", 0)), order=said.get("order", "random"),
            steps=check_steps(kernel, said.get("steps", 1)))


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arrays of a case."""

    inputs: tuple[Placed, ...]
    outputs: tuple[Placed, ...] | None      # None: the call makes them


def arguments_of(kernel: Kernel, case: Case) -> Arguments:
    """The arrays that a case describes; what outputs hold before is garbage."""
    extents = dict(case.extents)
    count = len(kernel.inputs)
    overlapped = next((t for t in kernel.inputs if t.name == case.out.over), None)
    wanted = 0
    if overlapped is not None:
        wanted = _room(kernel.outputs[0], case.forms[count], extents) + case.out.shift
    inputs = tuple(
        _placed(t, fill.values(tensor_shape(t, extents), t.type), form, extents, wanted if t is overlapped else 0)
        for t, fill, form in zip(kernel.inputs, case.fills, case.forms[:count], strict=True))
    if not case.out.given:
        return Arguments(inputs, None)
    outputs = [
        _placed(t, Fill("any", POISON_SEED).values(tensor_shape(t, extents), t.type), form, extents)
        for t, form in zip(kernel.outputs, case.forms[count:], strict=True)]
    if overlapped is not None:
        under = inputs[kernel.inputs.index(overlapped)]
        outputs[0] = replace(outputs[0], buffer=under.buffer, first=outputs[0].first + case.out.shift)
    return Arguments(inputs, tuple(outputs))


def insisted(tensor: Tensor, extents: dict[str, int]) -> tuple[int, ...] | None:
    """The strides that the kernel insists on, in elements."""
    return None if tensor.strides is None else tuple(int(evaluate_index(s, extents)) for s in tensor.strides)


def _placed(tensor: Tensor, values: Array, form: Form, extents: dict[str, int], room: int = 0) -> Placed:
    strides = insisted(tensor, extents) or form.strides(values.shape)
    return place(values, strides, form.offset, room=room)


def _room(tensor: Tensor, form: Form, extents: dict[str, int]) -> int:
    """Elements that an output takes from the beginning of its buffer."""
    shape = tensor_shape(tensor, extents)
    strides = insisted(tensor, extents) or form.strides(shape)
    return form.offset + 1 + sum(abs(s) * max(n - 1, 0) for s, n in zip(strides, shape, strict=True))


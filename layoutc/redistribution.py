"""What a user holds of a redistribution: a function that tries it, and the text to paste."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from layoutc.backend import Run
from layoutc.calling.arguments import as_array, as_ranks, refuse
from layoutc.calling.redistribution_calls import RedistributionCaller, tensor_of
from layoutc.plan.nodes import Target
from layoutc.plan.redistributions.declared import plan_declared
from layoutc.plan.redistributions.redistribution import RedistributionPlan
from layoutc.render import render_header
from layoutc.resolve.program import Program
from layoutc.resolve.program import Redistribute as Meaning
from layoutc.resolve.tiles import inputs_of


class Redistribution:
    """One redistribution of a file; call it with what each thread holds."""

    def __init__(self, program: Program, meaning: Meaning, target: Target) -> None:
        self._program, self._meaning, self._target = program, meaning, target
        self.__name__ = meaning.name

    def __repr__(self) -> str:
        return f"<layoutc redistribution {self._meaning.name}({', '.join(inputs_of(self._meaning))})>"

    def __call__(
        self, *arrays: object, out: object = None, stream: object = None, device: str = "auto", run: Run | None = None
    ) -> Any:
        """What each thread holds afterwards, ``[T, I]`` or ``[tiles, T, I]``, on the device of the arguments.

        Args:
            arrays: ``v``, what each thread holds, ``[T, I]`` for one tile or ``[tiles, T, I]``; of a scatter or a
                gather also ``rank``, integers of any type: in a scatter the position that each item goes to, in a
                gather the position that each item of the destination wants. Arrays as a kernel takes them.
            out: where to write instead.
            stream: a CUDA stream (CuPy's, PyTorch's, an address); of no effect on the CPU.
            device: ``auto`` (the GPU where there is a usable one), ``cpu`` or ``cuda``.
            run: how the CPU runs the threads: seed, order, limits.

        Raises:
            LayoutcError: an argument does not fit, or the means insisted on cannot be right.
        """
        return self.caller(arrays, out, stream, device, run)

    def reference(self, *arrays: Any) -> Any:
        """The NumPy meaning of the same call; NumPy arrays in and out."""
        from layoutc.reference import evaluate_redistribution

        names = inputs_of(self._meaning)
        if len(arrays) != len(names):
            raise refuse("argument-count",
                         f"`{self._meaning.name}` takes {' and '.join(names)}; {len(arrays)} were given")
        v, *ranks = as_array(tensor_of(self._meaning, "v"), arrays[0]), *map(as_ranks, arrays[1:])
        return evaluate_redistribution(self._meaning, v, *ranks)

    def explain(self) -> dict[str, object]:
        """Which means was chosen and why, as in ``explain --json``.

        Raises LayoutcError where the means insisted on cannot be right.
        """
        from layoutc.explain.redistribution import explain_redistribution

        return explain_redistribution(self.plan, self._target)

    @cached_property
    def caller(self) -> RedistributionCaller:
        """Its text, ready to be run."""
        return RedistributionCaller(self._meaning, self.plan)

    @cached_property
    def plan(self) -> RedistributionPlan:
        """How values travel, and why not otherwise."""
        return plan_declared(self._program, self._meaning, self._target)

    @property
    def cuda(self) -> str:
        """The text of the function and of the kernel that tries it."""
        return self.caller.source.text

    @property
    def header(self) -> str:
        """The ``__device__`` function, to paste or include."""
        return render_header(self.plan)

    @property
    def meaning(self) -> Meaning:
        """The redistribution as resolved."""
        return self._meaning

    @property
    def program(self) -> Program:
        """The file that it stands in."""
        return self._program

    @property
    def target(self) -> Target:
        """The machine that it is planned for."""
        return self._target

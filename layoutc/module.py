"""What a user holds: a compiled file, its kernels and its redistributions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from layoutc.backend import Run
from layoutc.calling.arguments import as_array
from layoutc.calling.calls import Caller
from layoutc.calling.devices import check_launch
from layoutc.compiler import default_signature, read_program
from layoutc.diagnostics import Diagnostic, LayoutcError, did_you_mean
from layoutc.layout.layout import as_integer
from layoutc.parse.reading import read_source
from layoutc.plan.nodes import Plan, Target
from layoutc.redistribution import Redistribution
from layoutc.resolve.binding import check_steps
from layoutc.resolve.program import Kernel as ResolvedKernel
from layoutc.resolve.program import Program, Schedule
from layoutc.source import Source


class Kernel:
    """One kernel of a file; call it with its tensors by position."""

    def __init__(self, program: Program, kernel: ResolvedKernel, target: Target) -> None:
        self._program, self._kernel, self._target = program, kernel, target
        self._callers: dict[str | None, Caller] = {}
        self.__name__ = kernel.name

    def __repr__(self) -> str:
        inputs = ", ".join(t.name for t in self._kernel.inputs)
        return f"<layoutc kernel {self._kernel.name}({inputs})>"

    def __call__(
        self, *tensors: object, out: object = None, stream: object = None, schedule: str | None = None,
        steps: int = 1, device: str = "auto", run: Run | None = None,
    ) -> Any:
        """The outputs of the kernel: one array, or a tuple of several, allocated like the inputs.

        Args:
            tensors: the inputs in their order: NumPy arrays, or anything that speaks DLPack or
                ``__cuda_array_interface__``; any strides; numbers and lists for small ones.
            out: where to write instead, an array or a tuple of as many as there are outputs.
            stream: a CUDA stream (CuPy's, PyTorch's, an address); of no effect on the CPU.
            schedule: the name of a schedule; None is the default one.
            steps: of a kernel with ``step``, how often it is applied; after 0 steps the outputs are copies.
            device: ``auto`` (the GPU where there is a usable one), ``cpu`` or ``cuda``.
            run: how the CPU runs the threads: seed, order, limits.

        Raises:
            LayoutcError: an argument does not fit, or what was asked for cannot be done.
        """
        if device not in ("auto", "cpu", "cuda"):
            raise LayoutcError([Diagnostic("unknown-device", f"there is no device `{device}`",
                                           help="use auto, cpu or cuda")])
        if stream is not None or run is not None:
            check_launch(stream, run)
        wanted = None if out is None else tuple(out) if isinstance(out, tuple | list) else (out,)
        outputs = self.caller(schedule)(tensors, wanted, stream, device, run, check_steps(self._kernel, steps))
        given = wanted if wanted is not None else outputs
        return given[0] if len(given) == 1 else tuple(given)

    def caller(self, schedule: str | None = None) -> Caller:
        """The kernel under one schedule."""
        if not isinstance(schedule, str | None) or schedule not in self._callers:
            self._callers[schedule] = Caller(self._program, self._kernel, self._schedule(schedule), self._target)
        return self._callers[schedule]

    def _schedule(self, name: str | None) -> Schedule | None:
        if name is not None and not isinstance(name, str):
            raise LayoutcError([Diagnostic("unknown-schedule", f"a schedule is named by a text, not by {name!r:.40}")])
        found = self._kernel.schedule(name)
        if found is None and name is not None:
            known = [s.name for s in self._kernel.schedules if s.name is not None]
            help = did_you_mean(name, known) or f"known are: {', '.join(known) or 'none'}"
            raise LayoutcError([Diagnostic("unknown-schedule", f"`{self._kernel.name}` has no schedule `{name}`",
                                           help=help)])
        return found

    def reference(self, *tensors: Any, steps: int = 1) -> Any:
        """The NumPy meaning of the same call; NumPy arrays in and out.

        Sums of floats are NumPy's, which round otherwise than a kernel's multiply-adds: how far a kernel may be off
        ``layoutc.testing.assert_matches_numpy`` knows.
        """
        if len(tensors) == len(self._kernel.inputs):
            tensors = tuple(as_array(t, v) for t, v in zip(self._kernel.inputs, tensors, strict=True))
        from layoutc.reference import evaluate  # a kernel that is only called needs none of it

        try:
            outputs = evaluate(self._kernel, tensors, check_steps(self._kernel, steps))
        except LayoutcError as error:
            raise error.within(self._program.source) from None
        return outputs[0] if len(outputs) == 1 else outputs

    def explain(
        self, extents: Mapping[str, int] | None = None, /, *, schedule: str | None = None, **named: int
    ) -> dict[str, object]:
        """Everything derived, as in ``explain --json``: halo, masks, launch, storage, traffic, intensity.

        Args:
            extents: by name; what needs one that is lacking is None.
            schedule: the name of a schedule; None is the default one.
            named: extents too, ``blur.explain(H=1080, W=1920)``.

        Raises:
            LayoutcError: there is no such extent, the schedule cannot be honoured, or a call with these extents would
                be refused.
        """
        from layoutc.explain import explain  # nor of this

        known = {name: self._extent(name, n) for name, n in {**(extents or {}), **named}.items()}
        return explain(self._program, self._kernel, self._schedule(schedule), self._target, known)

    def _extent(self, name: str, n: object) -> int:
        """An extent given by its name: any integer from 0 on."""
        names = self._kernel.extents
        if name not in names:
            help = did_you_mean(name, names) or f"there is: {', '.join(names) or 'none'}"
            raise LayoutcError([
                Diagnostic("unknown-extent", f"`{self._kernel.name}` has no extent `{name}`", help=help)])
        extent = as_integer(n)
        if extent is None or extent < 0:
            raise LayoutcError([Diagnostic("bad-extent", f"the extent {name} is an integer from 0 on, not {n!r:.40}")])
        return extent

    def with_schedule(self, schedule: Schedule | str | None) -> Kernel:
        """The same kernel with no schedule but this one, or the one of a name; None: the compiler chooses.

        Raises LayoutcError for an unknown name.
        """
        schedule = self._schedule(schedule) if isinstance(schedule, str) else schedule
        only = () if schedule is None else (replace(schedule, name=None),)
        return Kernel(self._program, replace(self._kernel, schedules=only), self._target)

    @property
    def meaning(self) -> ResolvedKernel:
        """The kernel as resolved."""
        return self._kernel

    @property
    def program(self) -> Program:
        """The file that it stands in."""
        return self._program

    @property
    def target(self) -> Target:
        """The machine that it is planned for."""
        return self._target

    @property
    def schedules(self) -> tuple[str | None, ...]:
        """Names of its schedules; None is the default one, written or not."""
        named = tuple(s.name for s in self._kernel.schedules if s.name is not None)
        return (None, *named)

    @property
    def cuda(self) -> str:
        """The text under the default schedule, for contiguous tensors."""
        return self.caller().text(default_signature(self._kernel))[1].text

    @property
    def plan(self) -> Plan:
        """The plan of that text."""
        return self.caller().text(default_signature(self._kernel))[0]


class Module:
    """A file; its kernels and redistributions are attributes, or items for names that Python uses."""

    def __init__(self, program: Program, target: Target | None = None) -> None:
        chosen = target or Target()
        self._program = program
        self._functions: dict[str, Kernel | Redistribution] = {
            **{k.name: Kernel(program, k, chosen) for k in program.kernels},
            **{r.name: Redistribution(program, r, chosen) for r in program.redistributes}}

    def __getattr__(self, name: str) -> Any:
        """The Kernel or the Redistribution of that name."""
        functions: dict[str, Kernel | Redistribution] = self.__dict__.get("_functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"no kernel or redistribution `{name}`; {did_you_mean(name, functions)}".rstrip("; "))

    def __getitem__(self, name: str) -> Any:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        """The names, kernels first."""
        return iter(self._functions)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]


def compile(text: str, *, name: str = "<text>", **constants: int) -> Module:
    """Compile a text of the layout language; ``constants`` override its own.

    Raises:
        LayoutcError: the text is wrong; ``diagnostics`` say where and what would mend it.
    """
    if not isinstance(text, str):
        raise TypeError(f"a layout text is a str, not {type(text).__name__}")
    return module_of(Source(name, text), constants)


def load(path: str | PathLike[str], **constants: int) -> Module:
    """Compile a ``.layout`` file; ``constants`` override its own.

    Raises:
        LayoutcError: the file cannot be read or is wrong.
    """
    return module_of(read_source(fspath(path)), constants)


def module_of(source: Source, constants: Mapping[str, int]) -> Module:
    """A module from a source."""
    return Module(read_program(source, constants))

"""One call of a kernel: arguments checked, outputs made, the right text chosen, its passes launched."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from layoutc.backend import Guarded, Module, Run, guarded
from layoutc.backend.cuda import current_arch, current_device, current_multiprocessors, current_stream
from layoutc.calling.arguments import NARROW, Array, as_array, as_output, is_wide, overlap, refuse, signature_of
from layoutc.calling.devices import choose_device, stream_of, to_gpu
from layoutc.calling.launches import launch_passes
from layoutc.calling.new_arrays import check_strides, new_array
from layoutc.calling.repeated import Form, Ready, Repeated, Stepped, form_of
from layoutc.calling.stepping import Launches, Spare, Turns, copy_steps, plain, readable, twin
from layoutc.calling.workspaces import Rooms
from layoutc.compiler import default_signature, load_module, plan_kernel
from layoutc.cuda_source import CudaSource
from layoutc.diagnostics import LayoutcError
from layoutc.plan.nodes import Plan, Signature, Target
from layoutc.plan.strategies.streamed import usual_steps
from layoutc.resolve.binding import bind_extents, check_call, check_steps, tensor_shape
from layoutc.resolve.program import Kernel, Program, Schedule, Tensor

Shapes = tuple[tuple[int, ...], ...]

MOST_FORMS = 256            # of arguments whose launches are remembered


@dataclass(slots=True)
class Caller:
    """A kernel under one schedule, with every text made for it so far."""

    program: Program
    kernel: Kernel
    schedule: Schedule | None
    target: Target
    _texts: dict[tuple[Signature, int, Target], tuple[Plan, CudaSource]] = field(default_factory=dict, init=False)
    _modules: dict[tuple[Signature, int, str, int], Module] = field(default_factory=dict, init=False)
    _repeated: dict[tuple[int, int, Form], Repeated] = field(default_factory=dict, init=False)  # by inputs, steps, form
    _checked: dict[Shapes, tuple[dict[str, int], bool]] = field(default_factory=dict, init=False)   # see ``_bound``
    _extents: dict[Form, dict[str, int]] = field(default_factory=dict, init=False)  # of inputs that all lie on a GPU
    _spare: Spare = field(default_factory=Spare, init=False)
    _rooms: Rooms = field(default_factory=Rooms, init=False)
    _usual: int = field(default=0, init=False)

    @property
    def fused(self) -> int:
        """Steps that a launch makes."""
        return 1 if self.schedule is None else self.schedule.fuse

    @property
    def usual(self) -> int:
        """Steps that a launch of several makes: where there is no schedule as many as pay, in registers."""
        if self.schedule is not None or not self.kernel.steps:
            return self.fused
        if self._usual == 0:
            signature = default_signature(self.kernel)
            self._usual = usual_steps(self.program, self.kernel, signature, self.target)
            try:
                plan, _ = self.text(signature, self._usual)
                self._usual = self._usual if plan.passes[0].strategy == "streamed" else 1
            except LayoutcError:
                self._usual = 1
        return self._usual

    def text(
        self, signature: Signature, fused: int | None = None, target: Target | None = None
    ) -> tuple[Plan, CudaSource]:
        """The plan and the text for arguments of a signature, of so many steps a launch (None: the schedule's own)."""
        steps = self.fused if fused is None else fused
        key = (signature, steps, target or self.target)
        if key not in self._texts:
            self._texts[key] = self._planned(*key)
        return self._texts[key]

    def _planned(self, signature: Signature, steps: int, target: Target) -> tuple[Plan, CudaSource]:
        """The text; of the steps left over, how the schedule stages them is but a wish, and at last so is its tile."""
        if steps == self.fused:
            return plan_kernel(self.program, self.kernel, self.schedule, signature, target)
        rest = replace(self.schedule or Schedule(), fuse=steps)
        for wished in (rest, replace(rest, stages=(), loads=(), stores=())):
            with suppress(LayoutcError):
                return plan_kernel(self.program, self.kernel, wished, signature, target)
        return plan_kernel(self.program, self.kernel, Schedule(fuse=steps), signature, target)

    def target_on(self, device: str) -> Target:
        """What a run is planned for: the GPU that is current, unless another target was asked for."""
        if device == "cpu" or self.target != Target():
            return self.target
        return Target(arch=current_arch(), multiprocessors=current_multiprocessors())

    def module(self, signature: Signature, device: str, fused: int | None = None) -> Module:
        """The compiled text, for the GPU that is current."""
        steps = self.fused if fused is None else fused
        key = (signature, steps, device, current_device() if device == "cuda" else 0)
        if key not in self._modules:
            _, cuda = self.text(signature, steps, self.target_on(device))
            self._modules[key] = load_module(cuda, device)
        return self._modules[key]

    def __call__(
        self, values: Sequence[object], out: Sequence[object] | None, stream: object, device: str, run: Run | None,
        steps: int = 1,
    ) -> tuple[Array, ...]:
        """The outputs after ``steps`` applications, in their order, on the device of the inputs.

        ``device`` is auto, cpu or cuda; ``run`` says how the CPU's threads are run.
        """
        given = form_of(values) if out is None and device != "cpu" else None
        if given is not None and given in self._extents:
            out = self._new_outputs(self._extents[given], True)
        form = None if out is None or device == "cpu" or steps < 1 else form_of((*values, *out))
        if form is not None and out is not None:
            known = self._repeated.get((len(values), steps, form))
            if known is not None and known.launch((*values, *out), stream):
                return tuple(out)
        wanted = steps = check_steps(self.kernel, steps)
        inputs = self._inputs(values)
        extents, far = self._bound(inputs)
        for tensor, array in zip(self.kernel.inputs, inputs, strict=True):
            check_strides(tensor, array, extents)
        where = choose_device(device, [*inputs, *(out or ())])
        outputs = self._outputs(extents, out, inputs)
        if not any(o.size for o in outputs):
            steps = min(steps, 1)       # however many there are, none makes anything
        launches = Launches(steps, self.fused if steps < 2 else self.usual)
        if given is not None and given not in self._extents:
            _forget(self._extents)
            self._extents[given] = extents
        inputs = [readable(a) for a in inputs]
        if where == "cuda":
            ready = self._run_cuda(launches, inputs, outputs, extents, far, stream)
            if form is not None and ready is not None:
                _forget(self._repeated)
                self._repeated[len(values), wanted, form] = ready
        else:
            self._run_cpu(launches, inputs, outputs, extents, far, run)
        return outputs

    # ---- arguments

    def _inputs(self, values: Sequence[object]) -> list[Array]:
        tensors = self.kernel.inputs
        if len(values) != len(tensors):
            names = ", ".join(t.name for t in tensors) or "no tensors"
            raise refuse("argument-count", f"`{self.kernel.name}` takes {names}; {len(values)} were given")
        return [as_array(t, v) for t, v in zip(tensors, values, strict=True)]

    def _bound(self, inputs: Sequence[Array]) -> tuple[dict[str, int], bool]:
        """The extents by name, and whether subscripts need 64 bits; arrays of shapes known to be right are not asked.

        Raises LayoutcError where a call with these shapes is not meant.
        """
        shapes = tuple([a.shape for a in inputs])
        known = self._checked.get(shapes)
        if known is None:
            try:
                extents = bind_extents(self.kernel, shapes)
                read = check_call(self.kernel, extents)
            except LayoutcError as error:
                raise error.within(self.program.source) from None
            _forget(self._checked)
            known = self._checked[shapes] = extents, read is not None and read.size >= NARROW
        return known

    def _outputs(
        self, extents: dict[str, int], out: Sequence[object] | None, inputs: list[Array]
    ) -> tuple[Array, ...]:
        tensors = self.kernel.outputs
        if out is None:
            return self._new_outputs(extents, any(not isinstance(a, np.ndarray) for a in inputs))
        if len(out) != len(tensors):
            raise refuse("argument-count", f"`out` takes {', '.join(t.name for t in tensors)}; {len(out)} were given")
        given = tuple(self._given(t, o, extents) for t, o in zip(tensors, out, strict=True))
        for number, array in enumerate(given):
            if any(overlap(array, other) for other in given[:number]):
                raise refuse("overlapping-output", "two outputs share memory", "pass arrays that are distinct")
        return given

    def _new_outputs(self, extents: dict[str, int], on_gpu: bool) -> tuple[Array, ...]:
        return tuple(new_array(t, tensor_shape(t, extents), on_gpu, extents) for t in self.kernel.outputs)

    def _given(self, tensor: Tensor, value: object, extents: dict[str, int]) -> Array:
        array = as_output(tensor, value, tensor_shape(tensor, extents))
        check_strides(tensor, array, extents)
        return array

    # ---- running

    def _run_cuda(
        self, launches: Launches, inputs: list[Array], outputs: tuple[Array, ...], extents: dict[str, int], far: bool,
        stream: object,
    ) -> Repeated | None:
        """Run on the device that is current; how to do the same with other arrays on it, where that needs no more."""
        import cupy

        with stream_of(stream) as current:
            if not launches:
                copy_steps(self.kernel, inputs, outputs)
                return None
            sent = [a if not isinstance(a, np.ndarray) else to_gpu(a) for a in inputs]
            targets = [o if not isinstance(o, np.ndarray) else cupy.empty(o.shape, o.dtype) for o in outputs]
            turns = Turns.of(self.kernel, len(launches))
            made = [cupy.empty(t.shape, t.dtype) if any(overlap(t, a) for a in turns.alive(k, sent)) else t
                    for k, t in enumerate(targets)]
            key = (current_device(), current.ptr)
            second = self._spare.take(key, made) if len(launches) > 1 else made
            ready = self._launch_all("cuda", launches, sent, made, second, extents, far, inputs, None)
            if len(launches) > 1:
                self._spare.keep(key, second)
            for output, target, result in zip(outputs, targets, made, strict=True):
                if result is not target:
                    target[...] = result
                if isinstance(output, np.ndarray):
                    output[...] = cupy.asnumpy(target)
            same = all(a is b for a, b in zip((*sent, *made), (*inputs, *outputs), strict=True))
            return None if ready is None or not same else Repeated.of(ready, (*sent, *made), len(sent))

    def _run_cpu(
        self, launches: Launches, inputs: list[Array], outputs: tuple[Array, ...], extents: dict[str, int], far: bool,
        run: Run | None,
    ) -> None:
        if not launches:
            copy_steps(self.kernel, inputs, outputs)
            return
        strict = [t.strides is not None for t in (*self.kernel.inputs, *self.kernel.outputs)]
        held = [guarded(a, keep_strides=s) for a, s in zip([*inputs, *outputs], strict, strict=True)]
        far = far or any(is_wide(a) for a in (*inputs, *outputs))       # a guarded copy is narrower
        sources, made = held[:len(inputs)], held[len(inputs):]
        second = made if len(launches) < 2 else [
            guarded(twin(o), keep_strides=s) for o, s in zip(outputs, strict[len(inputs):], strict=True)]
        self._launch_all("cpu", launches, sources, made, second, extents, far, inputs, run)
        for output, result in zip(outputs, made, strict=True):
            output[...] = result.array

    def _launch_all(
        self, device: str, launches: Launches, given: Sequence[Any], first: Sequence[Any], second: Sequence[Any],
        extents: dict[str, int], far: bool, inputs: list[Array], run: Run | None,
    ) -> Ready | Stepped | None:
        """One launch after the other, each from what the one before wrote; what repeats them all."""
        turns = Turns.of(self.kernel, len(launches))
        known: dict[tuple[bool, bool, int], Ready | None] = {}
        ready: Ready | None = None
        for number, fused in enumerate(launches):
            sources = [readable(a) for a in turns.sources(number, given, first, second)]
            targets = turns.targets(number, first, second)
            key = (*turns.kind(number), fused)
            ready = known.get(key)
            if ready is not None:
                ready((*sources, *targets), current_stream())
                continue
            for target in targets:
                if isinstance(target, Guarded):
                    target.forget()
            by_value = inputs if number == 0 else [plain(a) for a in sources]
            ready = known[key] = self._launch(device, (*sources, *targets), extents, far, by_value, run, fused)
        every = {key: one for key, one in known.items() if one is not None}
        if len(launches) == 1 or len(every) < len(known):
            return ready
        return Stepped(launches, turns, every, len(given), self._spare)

    def _launch(
        self, device: str, passed: Sequence[Array | Guarded], extents: dict[str, int], far: bool, given: list[Array],
        run: Run | None, fused: int,
    ) -> Ready | None:
        """Launch the passes; on a GPU also what repeats them, where no array is passed by value."""
        arrays = [plain(a) for a in passed]
        signature = signature_of(self.kernel, arrays, far)
        plan, _ = self.text(signature, fused, self.target_on(device))
        module: Any = self.module(signature, device, fused)
        if run is not None and device == "cpu":
            module = module.with_run(run)
        names = [t.name for t in (*self.kernel.inputs, *self.kernel.outputs)]
        return launch_passes(module, plan.passes, extents, dict(zip(names, passed, strict=True)),
                             dict(zip(names, given, strict=False)), self._rooms if device == "cuda" else None)


def _forget(known: dict[Any, Any]) -> None:
    """Make room for one more form."""
    if len(known) >= MOST_FORMS:
        known.clear()

"""Each text of tests/faults holds one fault; its first line says which kernel and what a checked run must say.

``unwritten: y`` stands for an output that was not written everywhere, ``wrong: out`` for a wrong answer.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from layoutc.backend import CpuModule, Guarded, KernelFault, Run, guarded, load_cpu
from tests.backend_support import entry_of, kernels, read
from tests.test_backend_kernels import CASES, Case

FAULTS = sorted((Path(__file__).parent / "faults").glob("*.cu"))


def arguments(case: Case) -> list[object]:
    """Fresh arguments; of the blur, which takes its strides, guarded ones."""
    if case.entry != "blur":
        return [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in case.args]
    x, w, y, H, W, *_ = case.args
    x_guarded, y_guarded = guarded(x), guarded(y)
    return [x_guarded, w, y_guarded, H, W, *(g.array.strides[0] // 4 for g in (x_guarded, y_guarded))]


def symptom(module: CpuModule, case: Case) -> str:
    """What a run says of a kernel: a fault's message, or what is wrong with its outputs."""
    args = arguments(case)
    try:
        module.launch(case.entry, case.blocks, args)
    except KernelFault as fault:
        return fault.diagnostics[0].message
    wanted = iter(case.wanted)
    for param, arg in zip(entry_of(module.source, case.entry).params, args, strict=True):
        if getattr(param, "writes", False):
            if isinstance(arg, Guarded) and not arg.written().all():
                return f"unwritten: {param.name}"
            if not np.array_equal(arg.array if isinstance(arg, Guarded) else np.asarray(arg), next(wanted)):
                return f"wrong: {param.name}"
    return "nothing"


@pytest.mark.parametrize("path", FAULTS, ids=lambda path: path.stem)
def test_planted_fault_is_caught(path: Path) -> None:
    source = read(path)
    head = source.text.split("\n")[0]
    entry, expected = head.removeprefix("// ").split(": ", 1)
    case = next(case for case in CASES if case.entry == entry)
    module = load_cpu(source)
    seconds = 0.15 if path.stem == "runaway_without_barriers" else 60.0     # only a timer ends that one
    for seed in range(3):
        found = symptom(module.with_run(Run(seed=seed, fuel=1_000_000, block_seconds=seconds)), case)
        assert any(fragment in found for fragment in expected.split("|")), found


def test_without_its_fault_the_same_run_says_nothing() -> None:
    for case in CASES:
        assert symptom(load_cpu(kernels(case.file)), case) == "nothing"


def test_report_shows_both_places() -> None:
    source = read(FAULTS[0].parent / "region_overwritten_while_read.cu")
    case = next(case for case in CASES if case.entry == "regions")
    with pytest.raises(KernelFault) as caught:
        load_cpu(source, seed=5).launch("regions", 4, arguments(case))
    (fault,) = caught.value.diagnostics
    assert fault.slug == "kernel-fault"
    assert fault.source is not None
    assert fault.span is not None
    (other,) = fault.others
    text = fault.source.text
    places = [text[fault.span.start : fault.span.end], text[other.span.start : other.span.end]]
    assert sorted(places) == ["const double sum = sums[thread];", "rounded[thread] = convert<i16>(sum);"]
    assert other.text == ("written here" if places[1].startswith("rounded") else "read here")
    assert "seed 5" in fault.notes[-1]


def test_report_says_what_the_array_is() -> None:
    source = read(FAULTS[0].parent / "walk_reads_past_the_end.cu")
    case = next(case for case in CASES if case.entry == "walk")
    with pytest.raises(KernelFault, match=r"`x` has shape \(70, 600\) and strides \(600, 1\)"):
        load_cpu(source).launch("walk", case.blocks, arguments(case))

"""What a test found, for a person to read."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from layoutc.testing.memory import Form
from layoutc.testing.run import Failure, arrays_text

MOST_SHOWN = 8          # wrong elements


@dataclass(frozen=True, slots=True)
class Report:
    """The result of testing one kernel."""

    kernel: str
    device: str
    seed: int                       # with it the same examples come again
    examples: int                   # run
    schedules: tuple[str, ...]      # tested, by name or by their clauses, constants with them
    exact: tuple[str, ...]          # operations compared bit for bit
    bounded: tuple[str, ...]        # operations compared within bounds, and which
    failure: Failure | None = None

    @property
    def ok(self) -> bool:
        """Whether every example agreed."""
        return self.failure is None

    def text(self) -> str:
        """The report in lines, without a final newline."""
        return "\n".join(self._well() if self.failure is None else self._wrong(self.failure))

    def _well(self) -> list[str]:
        agree = "agrees" if self.examples == 1 else "agree"
        examples = "1 example" if self.examples == 1 else f"{self.examples} examples"
        lines = [f"{self.kernel}: {examples} on {self.device} {agree} with NumPy (seed {self.seed})"]
        lines += _listed("schedules", self.schedules)
        lines += _listed("bit for bit", self.exact or ("copies",))
        return lines + _listed("within bounds", self.bounded)

    def _wrong(self, failure: Failure) -> list[str]:
        case = failure.case
        lines = [f"{self.kernel}: {failure.what} (example {self.examples}, seed {self.seed})"]
        extents = ", ".join(f"{name} = {n}" for name, n in case.extents) or "none"
        lines += [f"  schedule: {failure.way}", f"  extents: {extents}"]
        lines += [f"  steps: {case.steps}"] if case.steps != 1 else []
        lines += [f"  {line}" for line in arrays_text(failure)]
        lines += [f"  {line}" for line in _forms(failure)]
        lines += [f"  {m}" for m in failure.mismatches[:MOST_SHOWN]]
        if len(failure.mismatches) > MOST_SHOWN:
            lines.append("  …")
        lines += [f"  {line}".rstrip() for line in failure.details.split("\n") if failure.details]
        return [*lines, "  again:", f"    {command(failure, self.device)}"]


def _listed(title: str, items: tuple[str, ...]) -> list[str]:
    return [f"  {title}: {'; '.join(items)}"] if items else []


def _forms(failure: Failure) -> list[str]:
    kernel = failure.way.kernel
    tensors = (*kernel.inputs, *kernel.outputs)
    out = [f"{t.name} lies {_form(f)}" for t, f in zip(tensors, failure.case.forms, strict=True) if f != Form()]
    if failure.case.out.over:
        out.append(f"{kernel.outputs[0].name} overlaps {failure.case.out.over}")
    return out


def _form(form: Form) -> str:
    said = []
    if form.order:
        said.append(f"with axes {' '.join(map(str, form.order))} from the widest stride on")
    if form.pad:
        said.append(f"padded by {' '.join(map(str, form.pad))} elements")
    if form.reverse:
        said.append(f"reversed along axis {' '.join(map(str, form.reverse))}")
    if form.repeat:
        said.append(f"repeated along axis {' '.join(map(str, form.repeat))}")
    if form.align > 1:
        said.append(f"in rows that begin at multiples of {form.align} elements")
    if form.offset:
        said.append(f"{form.offset} elements off alignment")
    return ", ".join(said)


def command(failure: Failure, device: str) -> str:
    """What to type to see the failure again."""
    subject = failure.way.subject
    words = ["layoutc", "test", subject.program.source.name, subject.kernel.name]
    words += [word for name, value in subject.constants for word in ("-D", f"{name}={value}")]
    words += ["--device", device, "--case", failure.case.to_json(subject.kernel)]
    return " ".join(map(shlex.quote, words))

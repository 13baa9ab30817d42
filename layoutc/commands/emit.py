"""``layoutc emit``: a stage of the way down, as text."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace

from layoutc.commands.dump import dump
from layoutc.commands.files import cannot_write, make_folder, text_writer, write_all
from layoutc.commands.selection import Declared, declared, read, scheduled
from layoutc.commands.settings import Settings
from layoutc.cuda_source import CudaSource
from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.resolve.program import Kernel, Program, Redistribute, Schedule

ENDINGS = {
    "spec": ".layout", "program": ".program.txt", "plan": ".plan.txt", "cuda": ".cu", "header": ".cuh",
    "ptx": ".ptx", "sass": ".sass",
}
LEXERS = {
    "spec": "rust", "program": "python", "plan": "python", "cuda": "cuda", "header": "cuda", "ptx": "nasm",
    "sass": "nasm",
}
HEADER = "layoutc.cuh"


def emit(settings: Settings, path: str, kernel: str | None, stage: str, folder: str | None) -> None:
    """Print a stage of what is chosen, or write one file of each into a folder."""
    program = read(path, settings)
    meant = declared(program, kernel)
    if stage == "header" and kernel is None and program.redistributes:
        meant = program.redistributes       # kernels have none
    chosen = scheduled(meant, settings.schedule)
    if folder is not None:
        _write(settings, folder, stage, [(k.name, text_of(settings, program, k, s, stage)) for k, s in chosen])
    elif stage == "spec" and kernel is None:
        _print(settings, spec_text(program, None), stage)
    else:
        _print(settings, "\n".join([text_of(settings, program, k, s, stage) for k, s in chosen]), stage)


def text_of(settings: Settings, program: Program, what: Declared, schedule: Schedule | None, stage: str) -> str:
    """A stage of a kernel or a redistribution, ending in a line end."""
    if stage == "spec":
        return spec_text(program, what.name)
    if isinstance(what, Redistribute):
        return _redistribution(settings, program, what, stage)
    return _kernel(settings, program, what, schedule, stage)


def _kernel(settings: Settings, program: Program, kernel: Kernel, schedule: Schedule | None, stage: str) -> str:
    if stage == "program":
        return dump(replace(kernel, schedules=() if schedule is None else (schedule,)))
    if stage == "header":
        raise LayoutcError([Diagnostic(
            "no-header", f"`{kernel.name}` is a kernel; a header is what a `redistribute` gives", program.source,
            kernel.span, help="emit the kernel itself: `--stage cuda`")])
    from layoutc.compiler import default_signature, plan_kernel

    plan, cuda = plan_kernel(program, kernel, schedule, default_signature(kernel), settings.target)
    if stage == "plan":
        return dump(plan.passes) + dump(plan.file)
    return cuda.text if stage == "cuda" else _device_code(settings, cuda, stage)


def _redistribution(settings: Settings, program: Program, r: Redistribute, stage: str) -> str:
    if stage == "program":
        return dump(r)
    from layoutc.plan.redistributions.declared import plan_declared
    from layoutc.render import render_header, render_redistribution

    plan = plan_declared(program, r, settings.target)
    if stage == "plan":
        return dump(plan.move) + dump(plan.refusals) + dump(plan.file)
    if stage == "header":
        return render_header(plan)
    cuda = render_redistribution(plan)
    return cuda.text if stage == "cuda" else _device_code(settings, cuda, stage)


def _device_code(settings: Settings, cuda: CudaSource, stage: str) -> str:
    from layoutc.backend.device_code import disassemble, ptx

    return ptx(cuda, settings.arch) if stage == "ptx" else disassemble(cuda, settings.arch)


def spec_text(program: Program, kernel: str | None) -> str:
    """The canonical text of a file, or of what it says of one kernel: that kernel alone of its kernels."""
    from layoutc.parse import syntax
    from layoutc.parse.parser import parse
    from layoutc.parse.printer import print_spec

    spec = parse(program.source)

    def wanted() -> Iterator[syntax.Declaration]:
        for declaration in spec.declarations:
            match declaration:
                case syntax.Kernel(name) | syntax.Schedule(name) | syntax.Redistribute(name) if name.id != kernel:
                    continue
            yield declaration

    return print_spec(spec if kernel is None else syntax.Spec(tuple(wanted())))


def _print(settings: Settings, text: str, stage: str) -> None:
    if not settings.colors(sys.stdout):
        sys.stdout.write(text)
        return
    from rich.console import Console
    from rich.syntax import Syntax

    shown = Syntax("", LEXERS[stage], theme="ansi_dark").highlight(text)
    Console(force_terminal=True, color_system="standard").print(shown, end="", soft_wrap=True)


def _write(settings: Settings, folder: str, stage: str, texts: list[tuple[str, str]]) -> None:
    named = {_file_name(name, stage): text for name, text in texts}
    if stage == "cuda":
        from layoutc.backend.headers import device_header

        named[HEADER] = device_header()     # beside the kernels, which include it
    make_folder(folder)
    files = [(os.path.join(folder, name), text) for name, text in named.items()]
    write_all([(path, text_writer(text)) for path, text in files])
    for path, _ in files:
        settings.summary(path)


def _file_name(kernel: str, stage: str) -> str:
    """The name of a kernel's file; a kernel's name is a word, and stays one here whatever the parser lets through."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", kernel):
        raise cannot_write(kernel, "a kernel's name is no file name")
    return kernel + ENDINGS[stage]

"""The command line: one small function a command. What a command needs is imported when it runs."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import click

from layoutc.commands.interruptible import INTERRUPTED
from layoutc.commands.settings import Settings
from layoutc.diagnostics import Diagnostic, LayoutcError

STAGES = ("spec", "program", "plan", "cuda", "header", "ptx", "sass")


class Commands(click.Group):
    """The commands, with one place where whatever goes wrong becomes a message and an exit status."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        _prepare_streams()
        ctx.obj = Settings()
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except Exception as error:
            ctx.exit(_status_of(error, ctx.obj))


def _status_of(error: Exception, settings: Settings) -> int:
    """Say what went wrong; the exit status of it."""
    match error:
        case LayoutcError():
            return settings.report(error)
        case OSError(errno=errno.EPIPE):        # who reads our output has read enough
            _abandon_output()
            return 0
        case OSError():
            _abandon_output()
            where = f" `{os.fsdecode(error.filename)}`" if error.filename else ""
            return settings.report(_failure("system", f"the system refused{where}: {error.strerror or error}".lower()))
        case MemoryError():
            return settings.report(_failure("out-of-memory", f"this machine has too little memory: {error}"))
    if os.environ.get("LAYOUTC_TRACEBACK") == "1":
        traceback.print_exception(error)
    what = f"{type(error).__name__}: {' '.join(str(error).split()):.200}"
    return settings.report(_failure(
        "internal", f"layoutc failed where it should not: {what}",
        "please report it with the file and the command; LAYOUTC_TRACEBACK=1 shows where it failed"))


def _failure(slug: str, message: str, help: str = "") -> LayoutcError:
    return LayoutcError([Diagnostic(slug, message, help=help)])


def _prepare_streams() -> None:
    """Let a terminal of few characters show the others by their numbers; what is closed takes anything."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _abandon_output() -> None:
    """Nothing more goes to standard output, not even what waits to be written when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# ---- words


def _constants(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, int]:
    """``NAME=INT``, repeated; the last of a name counts."""
    constants: dict[str, int] = {}
    for words in value:
        found = re.fullmatch(r"\s*(\w+)\s*=\s*([-+]?[0-9]{1,30})\s*", words)
        if found is None or not -(2**63) <= int(found[2]) < 2**63:
            raise click.BadParameter(f"{words!r} is not NAME=INT, an integer of 64 bits", ctx, param)
        constants[found[1]] = int(found[2])
    return constants


def _pairs(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """``NAME=VALUE``, repeated."""
    pairs: dict[str, str] = {}
    for words in value:
        name, _, rest = words.partition("=")
        if not name.strip() or not rest:
            raise click.BadParameter(f"{words!r} is not NAME=VALUE", ctx, param)
        if name.strip() in pairs:
            raise click.BadParameter(f"{name.strip()} is given twice", ctx, param)
        pairs[name.strip()] = rest
    return pairs


def _extents(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, int]:
    """``H=1080,W=1920``, perhaps in parts."""
    extents: dict[str, int] = {}
    for words in ",".join(value).split(",") if value else ():
        found = re.fullmatch(r"\s*(\w+)\s*=\s*([0-9]{1,18})\s*", words)
        if found is None:
            raise click.BadParameter(f"{words!r} is not NAME=EXTENT, an extent from 0 on", ctx, param)
        if extents.setdefault(found[1], int(found[2])) != int(found[2]):
            raise click.BadParameter(f"{found[1]} is given twice", ctx, param)
    return extents


def _architecture(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"sm_[0-9]{2,3}[af]?", value):
        raise click.BadParameter(f"{value!r} is no architecture; write one as sm_90", ctx, param)
    if value is not None:
        from layoutc.backend.cuda import OLDEST

        if int(re.sub(r"\D", "", value)) < OLDEST:
            raise click.BadParameter(f"{value!r} is older than sm_{OLDEST}, the oldest there is code for", ctx, param)
    return value


_COMMON = (
    click.option("-D", "defines", multiple=True, callback=_constants, metavar="NAME=INT", help="Set a constant."),
    click.option("--schedule", metavar="NAME", help="The schedule to use; the unnamed one if left out."),
    click.option("--device", type=click.Choice(("auto", "cpu", "cuda")), help="Where kernels run."),
    click.option("--arch", metavar="sm_90", callback=_architecture, help="The GPU's architecture."),
    click.option("--color", type=click.Choice(("auto", "always", "never")), help="Whether to colour what is printed."),
    click.option("-q", "--quiet", is_flag=True, help="Print results and errors only."),
    click.option("-v", "--verbose", is_flag=True, help="Say more."),
)


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the common options, as Settings; those before the command's name count too."""

    @click.pass_context
    @wraps(command)
    def with_settings(
        ctx: click.Context, /, defines: dict[str, int], quiet: bool, verbose: bool, **values: Any
    ) -> Any:
        root = ctx.find_root()
        before: Settings = root.obj
        said = {name: values.pop(name) for name in ("schedule", "device", "arch", "color")}
        settings = replace(
            before, defines={**before.defines, **defines}, quiet=before.quiet or quiet,
            verbose=before.verbose or verbose, **{name: word for name, word in said.items() if word is not None})
        root.obj = settings
        return command(settings, **values)

    for option in reversed(_COMMON):
        with_settings = option(with_settings)
    return with_settings


_file = click.argument("path", metavar="FILE")
_files = click.argument("paths", metavar="FILE...", nargs=-1, required=True)
_kernel = click.argument("kernel", metavar="[KERNEL]", required=False)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


# ---- commands


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="layoutc", message="layoutc %(version)s")
@common
def main(settings: Settings) -> None:
    """Compile a page of layout notation into CUDA kernels; run and test them, on a GPU or without one.

    FILE is a .layout file, - standard input. KERNEL names a kernel of it; left out, all are meant, or the only one.
    """


@main.command()
@_files
@common
def check(settings: Settings, paths: tuple[str, ...]) -> None:
    """Find everything that is wrong with files: bounds, assertions, schedules."""
    from layoutc.commands.check import check

    _end_with(check(settings, paths))


@main.command()
@_file
@_kernel
@click.option("--stage", type=click.Choice(STAGES), default="cuda", show_default=True, help="What to print.")
@click.option("-o", "folder", metavar="DIR", help="Write one file a kernel into this folder instead.")
@common
def emit(settings: Settings, path: str, kernel: str | None, stage: str, folder: str | None) -> None:
    """Print what a kernel becomes."""
    from layoutc.commands.emit import emit

    emit(settings, path, kernel, stage, folder)


@main.command()
@_file
@_kernel
@click.option("--shape", multiple=True, callback=_extents, metavar="H=1080,W=1920", help="Extents to explain for.")
@_json
@click.option("--lanes", type=click.IntRange(1, 1024), default=32, show_default=True, help="Threads of a warp.")
@click.option("--transaction", type=click.IntRange(1, 4096), default=32, show_default=True,
              help="Bytes of a memory transaction.")
@common
def explain(
    settings: Settings, path: str, kernel: str | None, shape: dict[str, int], as_json: bool, lanes: int,
    transaction: int,
) -> None:
    """Show everything derived: halo, masks, staging, launch, traffic, intensity."""
    from layoutc.commands.explain import explain

    explain(settings, path, kernel, shape, as_json, lanes, transaction)


@main.command()
@_file
@_kernel
@click.option("--in", "inputs", multiple=True, callback=_pairs, metavar="x=a.npy",
              help="An input: .npy, .npz:name, .png, .jpg, numbers such as [[1,2],[3,4]], or random:(1080,1920).")
@click.option("--out", "outputs", multiple=True, callback=_pairs, metavar="y=b.npy",
              help="Where an output goes, .npy or .png; without it outputs are printed.")
@click.option("--steps", type=click.IntRange(0), default=1, show_default=True,
              help="Times to apply a kernel with step.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of random inputs.")
@_json
@common
def run(
    settings: Settings, path: str, kernel: str | None, inputs: dict[str, str], outputs: dict[str, str], steps: int,
    seed: int, as_json: bool,
) -> None:
    """Run a kernel on real arrays."""
    from layoutc.commands.run import run

    run(settings, path, kernel, inputs, outputs, steps, seed, as_json)


@main.command()
@_file
@_kernel
@click.option("--examples", type=click.IntRange(1), default=200, show_default=True, help="Calls to draw.")
@click.option("--seed", type=click.IntRange(0), help="Draw the same calls again.")
@click.option("--all-schedules", is_flag=True, help="Test every schedule of the file.")
@click.option("--case", metavar="JSON", help="Run this one call, as a report of a failure names it.")
@common
def test(
    settings: Settings, path: str, kernel: str | None, examples: int, seed: int | None, all_schedules: bool,
    case: str | None,
) -> None:
    """Test kernels against what NumPy says they mean."""
    from layoutc.commands.test import test, test_case

    if case is not None:
        _end_with(test_case(settings, path, kernel, case))
    else:
        _end_with(test(settings, path, kernel, examples, seed, all_schedules))


@main.command()
@_file
@_kernel
@click.option("--shape", multiple=True, callback=_extents, metavar="H=1080,W=1920", help="Extents of the arrays.")
@click.option("--steps", type=click.IntRange(1), default=1, show_default=True,
              help="Times to apply a kernel with step.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the random inputs.")
@_json
@common
def bench(
    settings: Settings, path: str, kernel: str | None, shape: dict[str, int], steps: int, seed: int, as_json: bool
) -> None:
    """Time kernels on a GPU, beside a copy of as many bytes."""
    from layoutc.commands.bench import bench

    bench(settings, path, kernel, shape, steps, seed, as_json)


@main.command()
@click.argument("expression", metavar="EXPR")
@_json
@common
def layout(settings: Settings, expression: str, as_json: bool) -> None:
    """Evaluate a layout expression such as "composition((6, 2):(8, 2), (4, 3):(3, 1))"."""
    from layoutc.commands.layout import as_json as json_of
    from layoutc.commands.layout import as_text, evaluate

    value = evaluate(expression, settings.defines)
    click.echo(json_of(value) if as_json else as_text(value))


@main.command()
@_files
@click.option("--check", "only_check", is_flag=True, help="Change nothing; fail if a file is not in canonical form.")
@common
def fmt(settings: Settings, paths: tuple[str, ...], only_check: bool) -> None:
    """Bring files into their canonical form, comments kept."""
    from layoutc.commands.fmt import fmt

    _end_with(fmt(settings, paths, only_check))


@main.command()
@click.argument("path", metavar="[FILE]", required=False)
@_kernel
@click.option("--shape", multiple=True, callback=_extents, metavar="H=1080,W=1920", help="Extents of the arrays.")
@click.option("--budget", type=click.IntRange(1), default=80, show_default=True, help="Schedules to time.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the search and the inputs.")
@click.option("--costs", is_flag=True, help="Measure what the parts of a redistribution cost, and keep it.")
@_json
@common
def tune(
    settings: Settings, path: str | None, kernel: str | None, shape: dict[str, int], budget: int, seed: int,
    costs: bool, as_json: bool,
) -> None:
    """Search the best schedule of a kernel on a GPU; or measure what redistributions are chosen by."""
    from layoutc.commands.tune import tune, tune_costs

    if costs == (path is not None):
        raise click.UsageError("say what to tune: a FILE, or --costs")
    if path is None:
        tune_costs(settings, as_json)
    else:
        tune(settings, path, kernel, shape, budget, seed, as_json)


def _end_with(status: int) -> None:
    click.get_current_context().exit(status)

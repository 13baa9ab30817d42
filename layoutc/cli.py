"""The command line: one small function a command. What a command needs is imported when it runs."""

from __future__ import annotations

import click

from layoutc.commands.group import Commands
from layoutc.commands.options import Expression, common, extents, pairs
from layoutc.commands.settings import Settings

STAGES = ("spec", "program", "plan", "cuda", "header", "ptx", "sass")

_file = click.argument("path", metavar="FILE")
_files = click.argument("paths", metavar="FILE...", nargs=-1, required=True)
_kernel = click.argument("kernel", metavar="[KERNEL]", required=False)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


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
@click.option("--shape", multiple=True, callback=extents, metavar="H=1080,W=1920", help="Extents to explain for.")
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
@click.option("--in", "inputs", multiple=True, callback=pairs, metavar="x=a.npy",
              help="An input: .npy, .npz:name, .png, .jpg, numbers such as [[1,2],[3,4]], or random:(1080,1920).")
@click.option("--out", "outputs", multiple=True, callback=pairs, metavar="y=b.npy",
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
@click.option("--shape", multiple=True, callback=extents, metavar="H=1080,W=1920", help="Extents of the arrays.")
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


@main.command(cls=Expression)
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
@click.option("--shape", multiple=True, callback=extents, metavar="H=1080,W=1920", help="Extents of the arrays.")
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

"""Plan -> text. The only importer of jinja2; it decides nothing."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING

import jinja2

from layoutc.cache import cache_dir
from layoutc.cuda_source import ArrayParam, ConstantParam, CudaSource, Entry, MapParam, Param, ScalarParam
from layoutc.lines import fold_lines
from layoutc.plan.nodes import Argument, ConstantArgument, MapArgument, Pass, Plan, TensorArgument, WorkspaceArgument
from layoutc.plan.steps import Step, Steps
from layoutc.resolve.types import BOOL
from layoutc.templates_dir import templates_dir

if TYPE_CHECKING:
    from layoutc.plan.redistributions.redistribution import RedistributionPlan


def render(plan: Plan) -> CudaSource:
    """The text of a plan and what its kernels take."""
    entries = tuple(_entry(plan, one) for one in plan.passes)
    return CudaSource(f"{entries[0].name}.cu", fold_lines(render_step(plan.file)) + "\n", entries)


def render_redistribution(plan: RedistributionPlan) -> CudaSource:
    """The text of a redistribution and of the kernel that tries it."""
    assert plan.file is not None, "a plan without a move has no text"
    assert plan.parameters is not None
    names, type = plan.parameters, plan.type.name
    ranks = (ArrayParam(names.rank, "i64", False),) if plan.kind != "exchange" else ()
    params = (ArrayParam(names.v, type, False), *ranks, ArrayParam(names.out, type, True),
              ScalarParam(names.tiles, "i64"))
    entry = Entry(plan.entry, plan.exchange.threads, params)
    return CudaSource(f"{plan.function.name}.cu", fold_lines(render_step(plan.file)) + "\n", (entry,))


def render_header(plan: RedistributionPlan) -> str:
    """The function of a redistribution as one text that includes nothing and compiles alone."""
    from layoutc.plain_cuda import helpers_of, plain_cuda  # these need NumPy, which kernels alone do without
    from layoutc.plan.redistributions.redistribution import header_of

    header = header_of(plan)
    whole = replace(header, helpers=helpers_of(render_step(header)))
    return fold_lines(plain_cuda(render_step(whole))) + "\n"


def render_step(step: Step | Steps) -> str:
    """A record by the template of its name; a tuple of records line after line."""
    if isinstance(step, tuple):
        return "\n".join(map(render_step, step))
    values = {f.name: getattr(step, f.name) for f in fields(step)}
    return _template(type(step).__name__).render(values).rstrip("\n")


def template_name(record: str) -> str:
    """``ThroughShared`` -> ``through_shared.cu.jinja``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", record).lower() + ".cu.jinja"


@cache
def _template(record: str) -> jinja2.Template:
    return environment().get_template(template_name(record))


@cache
def environment() -> jinja2.Environment:
    """Jinja with our one filter; a field that a template names and a record lacks is an error."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates_dir() / "steps"), undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False, bytecode_cache=_bytecode())
    env.filters["render"] = render_step
    return env


def _bytecode() -> jinja2.BytecodeCache | None:
    """Templates that a process before this one read, which halves the time of a first call."""
    folder = cache_dir() / f"templates-{jinja2.__version__}"
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return None
    return jinja2.FileSystemBytecodeCache(str(folder))


def _entry(plan: Plan, one: Pass) -> Entry:
    params = tuple(_param(plan, a, name) for a, name in zip(one.arguments, one.parameters, strict=True))
    return Entry(one.entry, one.threads, params, one.dynamic_bytes)


def _param(plan: Plan, argument: Argument, name: str) -> Param:
    inputs = {t.name: "u8" if t.type == BOOL else t.type.name for t in plan.kernel.inputs}
    outputs = {t.name: t.type.name for t in plan.kernel.outputs}
    match argument:
        case TensorArgument(tensor):
            return ArrayParam(name, (inputs | outputs)[tensor], tensor in outputs)
        case ConstantArgument(tensor, count):
            return ConstantParam(name, inputs[tensor], count)
        case MapArgument(tensor, made):
            return MapParam(name, inputs[tensor], made.box, made.windows, made.low, made.step, made.is_panel)
        case WorkspaceArgument(workspace):
            return ArrayParam(name, workspace.type.name, True)
    return ScalarParam(name, "i64" if plan.signature.wide else "i32")

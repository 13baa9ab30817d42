"""The options that commands share, and the words that options take."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import click

from layoutc.commands.settings import Settings


def constants(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, int]:
    """``NAME=INT``, repeated; the last of a name counts."""
    constants: dict[str, int] = {}
    for words in value:
        found = re.fullmatch(r"\s*(\w+)\s*=\s*([-+]?[0-9]{1,30})\s*", words)
        if found is None or not -(2**63) <= int(found[2]) < 2**63:
            raise click.BadParameter(f"{words!r} is not NAME=INT, an integer of 64 bits", ctx, param)
        constants[found[1]] = int(found[2])
    return constants


def pairs(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
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


def extents(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, int]:
    """``H=1080,W=1920``, perhaps in parts."""
    extents: dict[str, int] = {}
    for words in ",".join(value).split(",") if value else ():
        found = re.fullmatch(r"\s*(\w+)\s*=\s*([0-9]{1,18})\s*", words)
        if found is None:
            raise click.BadParameter(f"{words!r} is not NAME=EXTENT, an extent from 0 on", ctx, param)
        if extents.setdefault(found[1], int(found[2])) != int(found[2]):
            raise click.BadParameter(f"{found[1]} is given twice", ctx, param)
    return extents


def architecture(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """``sm_90``."""
    if value is not None and not re.fullmatch(r"sm_[0-9]{2,3}[af]?", value):
        raise click.BadParameter(f"{value!r} is no architecture; write one as sm_90", ctx, param)
    if value is not None:
        from layoutc.backend.cuda import OLDEST

        if int(re.sub(r"\D", "", value)) < OLDEST:
            raise click.BadParameter(f"{value!r} is older than sm_{OLDEST}, the oldest there is code for", ctx, param)
    return value


class Expression(click.Command):
    """A command whose argument may begin with a minus sign: ``-7//2`` is no option, ``-x`` needs ``--`` before it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words, those that look like expressions after all options."""
        negative = [word for word in args if re.match(r"-[^-a-zA-Z]", word)]
        if negative and "--" not in args:
            args = [*(word for word in args if word not in negative), "--", *negative]
        return super().parse_args(ctx, args)


_COMMON = (
    click.option("-D", "defines", multiple=True, callback=constants, metavar="NAME=INT", help="Set a constant."),
    click.option("--schedule", metavar="NAME", help="The schedule to use; the unnamed one if left out."),
    click.option("--device", type=click.Choice(("auto", "cpu", "cuda")), help="Where kernels run."),
    click.option("--arch", metavar="sm_90", callback=architecture, help="The GPU's architecture."),
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

"""The plan in a few lines, as the head comment of the text."""

from __future__ import annotations

from layoutc.plan.nodes import THROUGH, Pass, Storage
from layoutc.plan.redistributions.redistributed import DealtAccess
from layoutc.resolve.program import Kernel, Schedule, title_of


def head(kernel: Kernel, schedule: Schedule | None, passes: tuple[Pass, ...]) -> tuple[str, ...]:
    """Which kernel and schedule, then for each pass its tile, threads, and where each tensor waits."""
    title = title_of(schedule) if schedule is None else plain(title_of(schedule))
    lines = [f"{plain(kernel.name)}, schedule: {title}"]
    for one in passes:
        tile = ", ".join(f"{_together(i)} {size}" for i, size in one.sizes.items()) or "one output"
        lines.append(f"{', '.join(map(plain, one.outputs))}: tile {tile}; {one.threads} threads, "
                     f"{one.items} output{'s' if one.items > 1 else ''} each, {one.layout}")
        lines += one.notes
        if one.fusing is not None:
            halo = ", ".join(f"{plain(i)} [{low}, {high}]"
                             for i, (low, high) in zip(one.indices, one.fusing.halo, strict=True))
            lines.append(f"{one.fusing.steps} steps a launch{'; halo of a step ' + halo if halo else ''}")
        held = {s.tensor: s for s in one.storage}
        for f in one.footprints:
            halo = ", ".join(f"{plain(a.index)} [{-a.low}, {a.high}]" for a in f.axes or () if a.index is not None)
            passing = one.fusing is not None and one.fusing.made and f.tensor in one.fusing.stepped
            nowhere = "registers, row after row" if passing else "global memory"
            where = _where(held[f.tensor]) if f.tensor in held else nowhere
            lines.append(f"{plain(f.tensor)}: {where}{'; halo ' + halo if halo else ''}")
        lines += [_dealt(a) for a in one.accesses]
        if one.shared_bytes:
            lines.append(f"shared memory: {one.shared_bytes} bytes")
    return tuple(lines)


def _where(s: Storage) -> str:
    box = " x ".join(map(str, s.extents))
    rest = ", twice" if s.copies == 2 else f", {s.copies} times" if s.copies > 2 else ""
    rest += f", by way of {' x '.join(map(str, s.ring.extents))} in shared memory" if s.ring is not None else ""
    rest += ", halo from global memory" if s.halo_global else ""
    return f"{box} in {s.where}{' memory' if s.where != 'registers' else ''}{rest}"


def _dealt(access: DealtAccess) -> str:
    after = "" if access.move is None else f", {'then by' if access.verb == 'load' else 'after'} {access.function.name}"
    done = "loaded" if access.verb == "load" else "stored"
    return f"{plain(access.tensor)}: {done} as {access.layout}{after}"


def _together(name: str) -> str:
    return f" {THROUGH} ".join(map(plain, name.split(THROUGH)))


def plain(name: str) -> str:
    """A name that cannot end or continue a comment."""
    return name if name.isidentifier() and name.isascii() else "?"

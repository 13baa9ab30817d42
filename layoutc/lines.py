"""Long lines of C folded at their outermost operators."""

from __future__ import annotations

import re

WIDTH = 110
BREAKS = re.compile(r" (?=(\?|:|\|\||&&|[-+]|[*/]) )|(?<=(,)) (?!\w+>)|(?<= (=)) ")    # not within Pack<float, 4>
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
LOOSEST = (",", "=", "?", ":", "||", "&&", "+", "-", "*", "/")


def fold_lines(text: str, width: int = WIDTH) -> str:
    """The text with every longer line folded; comments stay whole."""
    return "\n".join("\n".join(_fold(line, width)) for line in text.split("\n"))


def _fold(line: str, width: int) -> list[str]:
    stripped = line.lstrip()
    indent = " " * (len(line) - len(stripped))
    if len(line) <= width or stripped.startswith(("//", "#")):
        return [line]
    out, rest, room = [], stripped, width - len(indent)
    while len(rest) > room:
        at = _best_break(rest, room)
        if at is None:
            break
        out.append(rest[:at])
        rest = rest[at + 1:]
        room = width - len(indent) - 4
    out.append(rest)
    return [indent + out[0], *(f"{indent}    {part}" for part in out[1:])]


def _best_break(text: str, room: int) -> int | None:
    """The blank of the shallowest nesting, before the loosest operator, furthest to the right within ``room``."""
    depths = []
    depth = 0
    for character in text:
        depth += {"(": 1, "{": 1, "[": 9, ")": -1, "}": -1, "]": -9}.get(character, 0)
        depths.append(depth)
    quoted = {at for m in QUOTED.finditer(text) for at in range(*m.span())}
    places = []
    for m in (m for m in BREAKS.finditer(text) if m.start() not in quoted):
        sign = m[1] or m[2] or m[3]
        depth = depths[m.start()] + (sign == "=")       # a call is broken between its arguments before it stands alone
        places.append((depth, LOOSEST.index(sign), -m.start()))
    places = [one for one in places if 20 < -one[2] <= room]
    return -min(places)[2] if places else None

"""An explanation for the terminal: plain text, aligned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from layoutc.resolve.program import CHOSEN

Facts = Mapping[str, Any]
Row = Sequence[str]
Section = tuple[str, list[str]]
UNKNOWN = "?"


def explain_text(facts: Facts) -> str:
    """The object of ``explain`` for a person to read, without a final newline; ``?`` is what is not known.

    A kernel with several passes shows each pass by itself.
    """
    if facts["kind"] == "redistribute":
        return "\n".join([f"{facts['name']}, a redistribution, for {facts['arch']}", *_aligned(_moved(facts))])
    schedule = CHOSEN if facts["schedule"] is None else facts["schedule"]
    head = f"{facts['name']}, schedule: {schedule}, for {facts['arch']}"
    parts = facts.get("passes")
    bits = ("same bits", _columns((name, _same(same)) for name, same in facts["same_bits"].items()))
    if parts is None:
        return "\n".join([head, *_aligned([*_sections(facts), bits])])
    lines = [head, *_aligned([bits])]
    for number, one in enumerate(parts, 1):
        lines += ["", f"pass {number} of {len(parts)}: {', '.join(one['outputs'])}", *_aligned(_sections(one))]
    return "\n".join(lines)


def _same(same: Mapping[str, bool]) -> str:
    if not same["schedules"]:
        return "the compiler chooses an order of arithmetic for each schedule"
    return "under every schedule, " + ("on every device" if same["devices"] else "on one device")


def _sections(facts: Facts) -> list[Section]:
    """A title, which stands at the left, and the rows beside it."""
    return [
        ("strategy", _strategy(facts["strategy"])),
        ("tile", [", ".join(f"{i} {n}" for i, n in facts["tile"].items()) or "one output"]),
        ("threads", [_threads(facts["threads"])]),
        ("launch", [_launch(facts["launch"])]),
        *([("fuse", [_fuse(facts["fuse"])])] if "fuse" in facts else []),
        ("halo", _columns((t, _halo(h)) for t, h in facts["halo"].items())),
        ("footprint", _columns((t, _box(b)) for t, b in facts["footprint"].items())),
        ("masks", _columns((m["tensor"], f"axis {m['axis']}", m["side"], m["kind"], m["test"])
                           for m in facts["masks"])),
        ("storage", _storage(facts["storage"])),
        ("traffic", _traffic(facts["traffic"])),
        ("intensity", [_intensity(facts["intensity"])]),
        *([("redistribute", _columns((m["name"], f"{m['from']} -> {m['to']}", _means(m))
                                     for m in facts["redistribute"]))] if facts["redistribute"] else []),
    ]


def _strategy(strategy: Facts) -> list[str]:
    """What was taken, and of the others why not."""
    rows = [(strategy["name"], _cost(strategy["cost"]), "")]
    rows += [(f"not {r['strategy']}", _cost(r["cost"]), r["why"]) for r in strategy["rejected"]]
    return [*_columns(rows), *strategy["notes"]]


def _cost(cost: float | None) -> str:
    return "" if cost is None else f"cost {cost:.3g}"


def _aligned(sections: Sequence[Section]) -> list[str]:
    """The lines of sections."""
    width = max(len(title) for title, _ in sections) + 2
    lines = []
    for title, rows in sections:
        for number, row in enumerate(rows or ["none"]):
            lines.append(f"  {title if number == 0 else '':<{width}}{row}".rstrip())
    return lines


def _moved(facts: Facts) -> list[Section]:
    """The sections of a redistribution."""
    move, = facts["redistribute"]
    rejected = [(r["via"], r["why"], "" if r["cost"] is None else f"{r['cost']:.3g} ps an item")
                for r in move["rejected"]]
    return [("from", [move["from"]]), ("to", [move["to"]]), ("via", [_means(move)]),
            ("rejected", _columns(rejected) if rejected else [])]


def _means(move: Facts) -> str:
    selects = f"{move['selects']} select{_s(move['selects'])} a thread"
    match move["via"]:
        case "registers":
            return f"registers: {selects if move['selects'] else 'renamed, nothing is executed'}"
        case "shuffle":
            return f"shuffle: {move['rounds']} shuffle{_s(move['rounds'])} and {selects}"
        case "shared":
            write, read = ("?" if n is None else str(n) for n in (move["write_wavefronts"], move["read_wavefronts"]))
            ranks = "; ? is as the ranks decide" if "?" in (write, read) else ""
            shuffles = f", {move['rounds']} shuffle{_s(move['rounds'])} a thread" if move["rounds"] else ""
            return (f"shared: {move['shared_bytes']} bytes, a barrier of the {move['barrier']}, {write} wavefronts to "
                    f"write and {read} to read (ideal {move['ideal_wavefronts']}{ranks}){shuffles}")
    return "none: every thread holds its items already"


def _columns(rows: Iterable[Row], right: frozenset[int] = frozenset()) -> list[str]:
    """Rows with their columns aligned; those of ``right`` at their right ends."""
    table = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(cell.rjust(w) if n in right else cell.ljust(w)
                      for n, (cell, w) in enumerate(zip(row, widths, strict=True))).rstrip() for row in table]


def _threads(threads: Facts) -> str:
    how = threads["layout"] or f"one for each element of the box of {threads['over']}"
    return f"{threads['count']} a block, {how}"


def _launch(launch: Facts) -> str:
    if launch["blocks"] is None:
        return f"{UNKNOWN} blocks of {launch['block'][0]} threads; give the extents with --shape"
    grid = " x ".join(map(str, launch["grid"]))
    blocks = f"{grid} = {launch['blocks']}" if len(launch["grid"]) > 1 else str(launch["blocks"])
    threads = f"{launch['threads']} thread{_s(launch['threads'])}"
    return (f"{blocks} block{_s(launch['blocks'])}, {threads}: {launch['idle_threads']} idle, "
            f"{launch['active_in_last_block']} active in the last block")


def _fuse(fuse: Facts) -> str:
    halo = _halo(fuse["halo"])
    return (f"{fuse['steps']} steps a launch, each with a halo of {halo}: a tile computes {fuse['evaluations']} places "
            f"for {fuse['outputs']}, {100 * fuse['redundant']:.4g} % more")


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _halo(halo: Mapping[str, Sequence[int]] | None) -> str:
    if halo is None:
        return UNKNOWN
    return ", ".join(f"{i} [{low}, {high}]" for i, (low, high) in halo.items()) or "none"


def _box(box: Sequence[int] | None) -> str:
    if box is None:
        return "no box"
    return " x ".join(map(str, box)) or "1"


def _storage(storage: Facts) -> list[str]:
    rows = [(i["name"], i["where"], str(i["bytes"]), "bytes" + (f" x {i['copies']}" if i["copies"] > 1 else ""))
            for i in storage["items"]]
    total = (f"shared {storage['shared_bytes']}, registers {storage['register_bytes']}, "
             f"together {storage['total_bytes']} bytes")
    return [*_columns(rows, frozenset({2})), total]


def _traffic(traffic: Mapping[str, Facts]) -> list[str]:
    size = next((t["transaction_bytes"] for t in traffic.values()), 32)
    head = ("", "unique bytes", "loaded bytes", "reads untiled", f"{size}-byte sectors a warp", "used")
    rows = [(name, _number(t["unique_bytes"]), _number(t["loaded_bytes"]), _number(t["reads_untiled"]),
             _number(t["transactions_per_warp"]),
             UNKNOWN if t["utilization"] is None else f"{100 * t['utilization']:.4g} %") for name, t in traffic.items()]
    return _columns([head, *rows], frozenset(range(1, len(head))))


def _number(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)


def _intensity(intensity: Facts) -> str:
    ops, bytes, ratio, bound = (intensity[k] for k in ("ops", "bytes", "ops_per_byte", "upper_bound"))
    text = f"{_number(ops)} operations over {_number(bytes)} bytes a tile"
    if ratio is not None:
        text += f" = {ratio:.4g} a byte"
    return text + (f"; {bound:.4g} in an infinite tile" if bound is not None else "")

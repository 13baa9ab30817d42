"""What a block of a stream holds: columns of a lane, rows of a warp, warps beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from layoutc.index import Name
from layoutc.plan.machine import REGISTERS, WARP
from layoutc.plan.ownership import Ownership, thread_and_item
from layoutc.plan.reads.accesses import Accesses
from layoutc.plan.reads.fusing import Fusing
from layoutc.plan.work import Work
from layoutc.resolve.program import Schedule

WALK = {2: 96, 3: 74}           # rows that a block makes along the walk, by rank; of 64 to 128 the fastest at 512³
AHEAD = 1                       # turns that a tensor's row is on its way longer than it must
MOST_REGISTERS = 128            # of a thread, for the rows of all steps
OTHER_REGISTERS = 40            # of a thread, for all else


@dataclass(frozen=True, slots=True)
class Warps:
    """Which part of a row a block's warps hold; columns are of 4 bytes."""

    columns: int    # of a lane
    rows: int       # of a warp, along the index between
    across: int     # warps beside each other along the last index
    stacked: int    # and along the index between


FORMS = {
    2: (Warps(4, 1, 4, 1), Warps(2, 1, 4, 1), Warps(1, 1, 4, 1)),
    3: (Warps(2, 4, 1, 16), Warps(2, 4, 1, 8), Warps(2, 2, 1, 16), Warps(1, 4, 1, 16), Warps(1, 2, 1, 16)),
}   # by rank, the fastest first
COLUMNS = (4, 2, 1)             # of a lane, where the schedule has a tile
OF_LANE = 8                     # columns of all rows that a lane makes at a step, at best


@dataclass(frozen=True, slots=True)
class Shape:
    """A block: its warps, and what they hold of each step."""

    tile: tuple[int, ...]
    warps: Warps                    # columns of the tensors' own type
    window: int                     # rows along the walk that the next step reads
    ahead: int                      # turns that a tensor's row waits before it is read
    beside: tuple[int, int]         # rows of the index between that a step reads around its own: low, high
    ready: int                      # of the window the newest row around which the next step reads such rows
    first: int                      # columns of a warp before those that it makes in the end
    outputs: int                    # columns that it makes

    @property
    def threads(self) -> int:
        """Of a block."""
        return WARP * self.warps.across * self.warps.stacked

    @property
    def sides(self) -> int:
        """Rows of the index between in registers, those of the warps beside counted."""
        return self.warps.rows + sum(self.beside)

    @property
    def row(self) -> int:
        """Elements of a lane in one row of the walk."""
        return self.sides * self.warps.columns

    @property
    def exchanges(self) -> bool:
        """Whether warps read each other's rows."""
        return self.warps.stacked > 1 and any(self.beside)

    @property
    def reaches(self) -> bool:
        """Whether the rows that a step reads around its own are all in the warp or in those right beside it."""
        return not self.exchanges or max(self.beside) <= self.warps.rows

    def turns(self, fusing: Fusing) -> int:
        """Rows that a block takes until its last output: each step is one row and its halo behind the one before."""
        low, high = fusing.halo[0]
        return self.tile[0] + fusing.steps * (low + high + 1) + self.ahead

    @property
    def made_of_row(self) -> int:
        """Values that a lane makes of a row."""
        return self.warps.rows * self.warps.columns

    def held(self, steps: int) -> int:
        """Elements of a lane in the rows of all steps of one tensor."""
        return (steps * self.window + self.ahead) * self.row

    def made(self, fusing: Fusing) -> tuple[int, ...]:
        """Places that each step computes, per index."""
        between = (self.warps.rows * self.warps.stacked,) * (len(self.tile) - 2)
        return (self.turns(fusing), *between, WARP * self.warps.columns * self.warps.across)


def shapes(work: Work, fusing: Fusing, schedule: Schedule) -> Iterator[Shape]:
    """The shapes that a block may have, the best first."""
    types = [t.type.bytes for t in work.kernel.inputs if t.name in fusing.stepped]
    most = work.target.shared_bytes
    room = most if schedule.shared_budget is None else min(schedule.shared_budget, most)
    for tile, warps, outputs in _candidates(work, fusing, schedule, max(types)):
        beside = fusing.halo[1] if len(tile) > 2 else (0, 0)
        first = -(-fusing.steps * fusing.halo[-1][0] // warps.columns) * warps.columns
        if outputs % warps.columns or first + outputs + fusing.steps * fusing.halo[-1][1] > WARP * warps.columns:
            first = fusing.steps * fusing.halo[-1][0]
        shape = Shape(tile, warps, sum(fusing.halo[0]) + 1, AHEAD, beside, _ready(work, fusing), first, outputs)
        shared = shared_elements(shape, fusing.steps) * sum(types)
        if not 0 < shape.threads <= work.target.block_threads or shared > room:
            continue
        if shape.reaches and _fits(shape, fusing, max(types)):
            yield shape


def shared_elements(shape: Shape, steps: int) -> int:
    """Elements of one tensor that the warps of a block exchange, of all steps, twice."""
    if not shape.exchanges:
        return 0
    warps = shape.warps
    return steps * 2 * warps.stacked * warps.across * sum(shape.beside) * WARP * warps.columns


def _fits(shape: Shape, fusing: Fusing, bytes: int) -> bool:
    """Whether a thread has registers for the rows of all steps."""
    words, count, warps = max(bytes // 4, 1), len(fusing.stepped), shape.warps
    rows = (fusing.steps * shape.window + shape.ahead) * warps.rows * warps.columns
    from_beside = sum(shape.beside) * warps.columns * (1 if shape.ready == fusing.halo[0][0] else
                                                       fusing.steps * (shape.ready + 1))
    most = min(MOST_REGISTERS, REGISTERS // shape.threads - OTHER_REGISTERS)
    return count * words * (rows + from_beside) <= most


def _candidates(
    work: Work, fusing: Fusing, schedule: Schedule, bytes: int
) -> Iterator[tuple[tuple[int, ...], Warps, int]]:
    """(tile, warps, columns that a warp makes)."""
    rank, steps = len(work.indices), fusing.steps
    between = [steps * (low + high) for low, high in fusing.halo[1:-1]]
    count = None if schedule.threads is None else schedule.threads.count
    if schedule.tile is not None:
        told = dict(schedule.tile)
        tile = tuple(told.get(i, 1) for i in work.indices)
        for warps, outputs in _told(tile, fusing, between):
            if count is None or warps.across * warps.stacked * WARP == count:
                yield tile, warps, outputs
        return
    for form in FORMS[rank]:
        columns = max(form.columns * 4 // max(bytes, 4), 1)
        across, stacked = form.across, form.stacked
        if count is not None:
            across, stacked = (count // WARP, 1) if rank == 2 else (1, count // WARP)
        outputs = _outputs(columns, fusing)[0]
        made = [form.rows * stacked - lost for lost in between]
        if min([outputs, *made]) > 0:
            yield (WALK[rank], *made, across * outputs), Warps(columns, form.rows, across, stacked), outputs


def _outputs(columns: int, fusing: Fusing) -> tuple[int, int]:
    """Columns that a warp makes: whole lanes, and as many as can be right."""
    lost = [fusing.steps * halo for halo in fusing.halo[-1]]
    return WARP * columns - sum(-(-n // columns) * columns for n in lost), WARP * columns - sum(lost)


def _told(tile: tuple[int, ...], fusing: Fusing, between: list[int]) -> Iterator[tuple[Warps, int]]:
    """Warps that make just this tile."""
    rows = [n + lost for n, lost in zip(tile[1:-1], between, strict=True)]
    for columns in COLUMNS:
        for across in (n for n in range(1, WARP + 1) if tile[-1] % n == 0):
            outputs = tile[-1] // across
            if outputs not in _outputs(columns, fusing):
                continue
            for of_warp in sorted(range(1, prod(rows) + 1), key=lambda n: abs(n * columns - OF_LANE)):
                stacked, rest = divmod(prod(rows), of_warp)
                if rest == 0:
                    yield Warps(columns, of_warp, across, stacked), outputs


def _ready(work: Work, fusing: Fusing) -> int:
    """The newest row around which a step reads rows of other places along the index between."""
    low, high = fusing.halo[0]
    if len(work.indices) < 3:
        return low
    walk, between = work.indices[:2]
    newest = -low
    accesses = Accesses(work.kernel)
    for equation in work.equations:
        for access, _ in accesses.of(equation):
            if access.tensor not in fusing.stepped:
                continue
            row, side = access.indices[:2]
            if row is None or side is None:
                return low + high
            if (side - Name(between)).interval != (0, 0):
                last = (row - Name(walk)).interval[1]
                newest = max(newest, high if last is None else last)
    return low + newest


def owner_of(shape: Shape, fusing: Fusing) -> Ownership:
    """Per index the place that an item makes; what a warp loses at its edges is moved out of the tile."""
    warps, tile = shape.warps, shape.tile
    items = tile[0] * warps.rows * warps.columns
    thread, item = thread_and_item(shape.threads, items)
    warp = thread // WARP
    in_warp = thread % WARP * warps.columns + item % warps.columns - shape.first
    beyond = (in_warp + shape.outputs) // shape.outputs - 1
    column = warp % warps.across * shape.outputs + in_warp + beyond * (beyond * (2 * tile[-1]))
    places = [column]
    rest = item // warps.columns
    if len(tile) > 2:
        side = warp // warps.across * warps.rows + rest % warps.rows - fusing.steps * shape.beside[0]
        beyond = (side + tile[1]) // tile[1] - 1
        places.append(side + beyond * (beyond * (2 * tile[1])))
        rest = rest // warps.rows
    layout = f"{warps.columns} column{'s' if warps.columns > 1 else ''} a lane, row after row"
    return Ownership(shape.threads, items, layout, (rest, *reversed(places)), True)

"""Strategy: a block makes a tile of outputs, each thread some of them; inputs wait where the schedule says.

Direct (nothing staged), shared tile, registers and constant memory are one shape: they differ only in where a read
finds its element.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Self

from layoutc.index import Expr, Int, Name
from layoutc.plan.cost import cost_of, nominal_outputs
from layoutc.plan.kernel.boxes import declare_shared, fill_registers, fill_shared
from layoutc.plan.kernel.dealt import begin_stores, finish_stores
from layoutc.plan.kernel.frame import Choice, Frame
from layoutc.plan.kernel.items import ItemPlace, place_of_item
from layoutc.plan.kernel.loading import emit_when
from layoutc.plan.kernel.outputs import emit_run, emit_values
from layoutc.plan.names import Names
from layoutc.plan.nodes import Pass, Signature
from layoutc.plan.reads.chunks import CannotChunkError
from layoutc.plan.redistributions.redistributed import with_moves
from layoutc.plan.steps import Function, Loop
from layoutc.plan.tiles.choose import Chooser
from layoutc.plan.tiles.chunk_loop import emit_chunks
from layoutc.plan.tiles.nearest import nearest_tile
from layoutc.plan.work import Made, Work
from layoutc.resolve.program import Kernel, Schedule

UNROLLED_ITEMS = 16     # outputs of a thread that are written out


@dataclass(frozen=True, slots=True)
class Tile:
    """Whole outputs, each made by one thread."""

    work: Work
    chooser: Chooser
    choice: Choice
    cost: float

    @classmethod
    def try_plan(cls, work: Work) -> Self:
        """The tile, its owners and the storage.

        Raises LayoutcError where a clause of the schedule cannot be honoured.
        """
        chooser = Chooser(work.program, work.kernel, work.equations, work.schedule, work.target)
        choice = chooser.choose()
        tile = prod(choice.tile)
        made = max(nominal_outputs(work.kernel, e) for e in work.equations)
        at_work = max(min(choice.owner.threads, tile) * made / tile, 1.0)
        along = work.indices[-1] if work.indices and choice.tile[-1] > 1 else None
        return cls(work, chooser, choice, cost_of(work.kernel, work.equations, along, at_work))

    def plan(self, names: Names, entry: str) -> Made:
        """The pass under its name in the text."""
        made = self._made(names, entry)
        self.chooser.staging.check_budget(made.passes[0].shared_bytes, lambda: self._what_fits(made.passes[0]))
        return made

    def _made(self, names: Names, entry: str) -> Made:
        """The pass, whatever it needs."""
        work, staging = self.work, self.chooser.staging
        room = staging.budget - sum(s.bytes * s.copies for s in self.choice.storage if s.where == "shared")
        choice = replace(self.choice, accesses=with_moves(self.choice.accesses, entry, names, work.target, room))
        try:
            made, function = plan_tile(work.kernel, choice, work.signature, names.copy(), entry)
        except CannotChunkError as error:
            raise self.chooser.refuse_chunks(error) from None
        return Made((made,), (*(a.function for a in choice.accesses if a.move), function))

    def _what_fits(self, one: Pass) -> str:
        """The nearest tile that stays within the budget."""
        def needed(schedule: Schedule) -> int:
            other = Tile.try_plan(replace(self.work, schedule=schedule))
            return other._made(Names(), one.entry).passes[0].shared_bytes
        return nearest_tile(self.chooser.schedule, one, self.chooser.staging.budget, needed)


def plan_tile(kernel: Kernel, choice: Choice, signature: Signature, names: Names, entry: str) -> tuple[Pass, Function]:
    """The pass and its function.

    Raises CannotChunkError where a reduction cannot be made in the chunks that the schedule asks for.
    """
    frame = Frame(kernel, choice, signature, names, entry)
    with frame.lowering.block() as body:
        frame.emit_thread_and_block()
        frame.name_chunks()
        boxes = declare_shared(frame)
        chunked = [s for s in choice.storage if s.in_chunks(choice.chunked)]
        still = [s for s in choice.storage if s not in chunked]
        fill_shared(frame, [s for s in still if s.where == "shared"], boxes)
        fill_registers(frame, [s for s in still if s.where == "registers"])
        emit_outputs(frame, emit_chunks(frame, chunked, boxes) if choice.chunks else None)
    return frame.record(), frame.function(body)


def emit_outputs(frame: Frame, known: ItemPlace | None = None) -> None:
    """A loop over the thread's items: where each lies, whether it is valid, its value; ``known``: of a lone item."""
    vector = frame.choice.owner.vector
    element: Expr = Name(frame.names.take("element"), 0, vector - 1) if vector > 1 else Int(0)
    rounds = frame.choice.owner.items // vector
    run: Expr = Name("item", 0, rounds - 1) if rounds > 1 else Int(0)
    place = known or place_of_item(frame, {"item": run * vector} if vector > 1 else {})
    begin_stores(frame, run)
    sums = frame.lowering.sums
    if sums is not None:
        sums.item = run * vector + element
    with frame.lowering.block() as body:
        frame.lowering.emit(*(place.steps if known is None else ()))
        if vector > 1:
            emit_run(frame, place.at, place.tests, element, vector)
        else:
            with frame.lowering.block() as made:
                emit_values(frame, place.at)
            emit_when(frame, place.valid, made)
    if rounds > 1:
        in_registers = any(s.where == "registers" for s in frame.choice.storage) or bool(frame.stores)
        told = any(i in frame.choice.unroll for i in frame.indices)
        unroll = rounds * vector <= UNROLLED_ITEMS or in_registers or sums is not None
        frame.lowering.emit(Loop("told" if told else unroll, "int", "item", Int(0), Int(rounds), tuple(body)))
    else:
        frame.lowering.emit(*body)
    finish_stores(frame)

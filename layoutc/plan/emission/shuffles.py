"""The steps of a move by shuffles: publish and take, round after round, with selects before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutc.index import Expr, Int
from layoutc.plan.emission.by_thread import number_of
from layoutc.plan.emission.frame import Frame, assigned
from layoutc.plan.emission.registers import selected
from layoutc.plan.machine import WARP
from layoutc.plan.moves.nodes import Layer, Round, Shuffle
from layoutc.plan.steps import Let, Step, Steps
from layoutc.plan.values import Aggregate, Element, Function, Text, Variable


@dataclass(frozen=True, slots=True)
class _Value:
    """A register's value, and the items of ``before`` that its text reads."""

    text: Text
    reads: frozenset[int] = frozenset()


def shuffle_steps(frame: Frame, move: Shuffle) -> Steps:
    """Every round's shuffle, then every item from the round or the register that its thread names."""
    return _Shuffles(frame, move).steps()


class _Shuffles:
    """A move's registers while its steps are made."""

    def __init__(self, frame: Frame, move: Shuffle) -> None:
        self.frame, self.move = frame, move
        self.type = "unsigned" if move.packed > 1 else frame.type
        self.done: list[Step] = []

    def steps(self) -> Steps:
        """All of them."""
        words = self.words()
        for layer in self.move.before:
            words = self.rearranged(words, layer)
        words = self.received(words)
        for layer in self.move.after:
            words = self.rearranged(words, layer)
        items = [self.part(words[word], part) for word, part in self.move.parts]
        return (*self.done, *assigned(self.frame, tuple((k, v.text, v.reads) for k, v in enumerate(items))))

    def words(self) -> list[_Value]:
        """The source's items, several in a word where they are small."""
        before = self.frame.before
        if self.move.packed == 1:
            return [_Value(Element(before, Int(item)), frozenset({item})) for (item,) in self.move.words]
        made = []
        for items in self.move.words:
            pack = Aggregate(f"Pack<{self.frame.type}, {len(items)}>", tuple(Element(before, Int(k)) for k in items))
            made.append(self.named("word", _Value(Function("word_of", (pack,)))))
        return made

    def part(self, word: _Value, part: int) -> _Value:
        """An item of the destination."""
        if self.move.packed == 1:
            return word
        return _Value(Function(f"part_of<{self.frame.type}>", (word.text, Int(part))))

    def rearranged(self, words: list[_Value], layer: Layer) -> list[_Value]:
        """Each word from the one that its thread names; a select's result has a name."""
        return [words[row[0]] if len(set(row)) == 1 else self.named("turned", self.choice(words, row)) for row in layer]

    def received(self, words: list[_Value]) -> list[_Value]:
        """The words that came in rounds or stayed."""
        lanes = self.frame.lanes_mask() or "0xffffffffu"
        if self.move.rounds and "?" in lanes:
            name = self.frame.names.take("lanes")
            self.done.append(Let("unsigned", name, Variable(lanes)))
            lanes = name
        came = [self.named("came", self.round(words, one, lanes)) for one in self.move.rounds]
        sources = [*came, *words]
        out = []
        for word, own in enumerate(self.move.own):
            which = [self.round_of(word, thread) if kept < 0 else len(came) + kept for thread, kept in enumerate(own)]
            out.append(self.choice(sources, which))
        return [self.named("kept", v) for v in out] if self.move.after else out

    def round_of(self, word: int, thread: int) -> int:
        """The round that brings a thread's word."""
        return next(n for n, one in enumerate(self.move.rounds) if one.receive[thread] == word)

    def round(self, words: list[_Value], one: Round, lanes: str) -> _Value:
        """One shuffle."""
        width = self.frame.exchange.warp
        wanted = [lane if word >= 0 else None for lane, word in zip(one.lane, one.receive, strict=True)]
        plain = self.frame.thread % width
        lane = number_of(self.frame, wanted, "lanes", plain)
        if not self.exists(lane):
            lane = number_of(self.frame, one.lane, "lanes", plain)
        return _Value(Function("shuffle", (Variable(lanes), self.choice(words, one.send).text, lane, Int(width))))

    def exists(self, lane: Expr) -> bool:
        """Whether every thread names a lane of its warp that exists, whatever it does with what comes."""
        exchange = self.frame.exchange
        return all(t // exchange.warp * exchange.warp + lane.at({"thread": t, "lane": t % WARP}) < exchange.threads
                   for t in range(exchange.threads))

    def choice(self, values: Sequence[_Value], which: Sequence[int]) -> _Value:
        """``values[which[thread]]``."""
        text = selected(self.frame, [v.text for v in values], which)
        return _Value(text, frozenset[int]().union(*(values[k].reads for k in set(which))))

    def named(self, wanted: str, value: _Value) -> _Value:
        """The value under a name of its own."""
        if isinstance(value.text, Variable):
            return value
        name = self.frame.names.take(wanted)
        self.done.append(Let(self.type, name, value.text))
        return _Value(Variable(name))

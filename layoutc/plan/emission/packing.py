"""Bytes packed for wide stores out of words of neighbours: what compilers make of single bytes is dearer."""

from __future__ import annotations

from layoutc.index import Int
from layoutc.plan.emission.frame import Frame
from layoutc.plan.moves.placement import Groups
from layoutc.plan.steps import Let, Step, Steps
from layoutc.plan.values import Aggregate, Function, Operation, Text, Variable

EACH = 4            # bytes of a word


def permuted(frame: Frame, groups: Groups) -> tuple[Steps, tuple[Text, ...]] | None:
    """The words of neighbours in ``before``, and a pack of words for each group, by permutations of their bytes.

    None where the items are no bytes, lie in such words already, or would take more than a permutation a word.
    """
    exchange = frame.exchange
    chunks = [group[k:k + EACH] for group in groups for k in range(0, len(group), EACH)]
    if exchange.bytes > 1 or exchange.items_before % EACH or len(groups[0]) % EACH:
        return None
    sources = [sorted({item // EACH for item in chunk}) for chunk in chunks]
    if max(map(len, sources)) > 2 or all(map(_is_word, chunks)):
        return None
    names = {word: frame.names.take("word") for word in sorted({word for pair in sources for word in pair})}
    made: list[Step] = []
    for word, name in names.items():
        first = Operation("+", Variable(frame.before), Int(word * EACH))
        made.append(Let("unsigned", name, Function("word_at", (first,))))
    texts = (_permutation(chunk, pair, names) for chunk, pair in zip(chunks, sources, strict=True))
    count = len(groups[0]) // EACH
    packs = (Aggregate(f"Pack<unsigned, {count}>", tuple(next(texts) for _ in range(count))) for _ in groups)
    return tuple(made), tuple(packs)


def neighbours(items: tuple[int, ...]) -> bool:
    """Whether items follow one another."""
    return items == tuple(range(items[0], items[0] + len(items)))


def _is_word(chunk: tuple[int, ...]) -> bool:
    return chunk[0] % EACH == 0 and neighbours(chunk)


def _permutation(chunk: tuple[int, ...], sources: list[int], names: dict[int, str]) -> Text:
    if _is_word(chunk):
        return Variable(names[sources[0]])
    selector = sum((sources.index(item // EACH) * EACH + item % EACH) << 4 * k for k, item in enumerate(chunk))
    first, second = names[sources[0]], names[sources[-1]]
    return Function("__byte_perm", (Variable(first), Variable(second), Variable(f"{selector:#06x}")))

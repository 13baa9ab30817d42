"""Items of 1 and 2 bytes packed into words: what compilers make of wider accesses to single ones is dearer."""

from __future__ import annotations

from layoutc.index import Int
from layoutc.plan.emission.frame import Frame
from layoutc.plan.moves.placement import Groups
from layoutc.plan.steps import Let, Step, Steps
from layoutc.plan.values import Aggregate, Element, Function, Operation, Text, Variable

WORD = 4            # bytes
Chunk = tuple[int, ...]     # the items of a word


def in_words(frame: Frame, groups: Groups) -> tuple[Steps, tuple[Text, ...]] | None:
    """What the packs need, and for each group of ``before``'s items a pack of words that holds them.

    Bytes are taken in words of neighbours, whose bytes are then permuted; None where that would take more than one
    permutation a word, or where the groups are no whole words of narrow items.
    """
    bytes = frame.exchange.bytes
    if bytes > WORD // 2 or len(groups[0]) * bytes % WORD:
        return None
    each = WORD // bytes
    chunks = [group[k:k + each] for group in groups for k in range(0, len(group), each)]
    found = _bytes(frame, chunks) if bytes == 1 else ((), [_pair(frame, chunk) for chunk in chunks])
    if found is None:
        return None
    made, words = found
    count = len(groups[0]) // each
    packs = (tuple(words[k:k + count]) for k in range(0, len(words), count))
    return made, tuple(Aggregate(f"Pack<unsigned, {count}>", pack) for pack in packs)


def neighbours(items: Chunk) -> bool:
    """Whether items follow one another."""
    return items == tuple(range(items[0], items[0] + len(items)))


def _pair(frame: Frame, chunk: Chunk) -> Text:
    items = tuple(Element(frame.before, Int(item)) for item in chunk)
    return Function("word_of", (Aggregate(f"Pack<{frame.type}, {len(chunk)}>", items),))


def _bytes(frame: Frame, chunks: list[Chunk]) -> tuple[Steps, list[Text]] | None:
    """The words of neighbours, which have names where they are used more than once, and the chunks'."""
    if all(map(neighbours, chunks)):
        return (), [_word_at(frame, chunk[0]) for chunk in chunks]
    sources = [sorted({item // WORD for item in chunk}) for chunk in chunks]
    if frame.exchange.items_before % WORD or max(map(len, sources)) > 2:
        return None
    names = {word: frame.names.take("word") for word in sorted({word for pair in sources for word in pair})}
    made: list[Step] = [Let("unsigned", name, _word_at(frame, word * WORD)) for word, name in names.items()]
    return tuple(made), [_permutation(*pair, names) for pair in zip(chunks, sources, strict=True)]


def _word_at(frame: Frame, first: int) -> Text:
    return Function("word_at", (Operation("+", Variable(frame.before), Int(first)),))


def _permutation(chunk: Chunk, sources: list[int], names: dict[int, str]) -> Text:
    """The bytes of one word or two."""
    if chunk[0] % WORD == 0 and neighbours(chunk):
        return Variable(names[sources[0]])
    selector = sum((sources.index(item // WORD) * WORD + item % WORD) << 4 * k for k, item in enumerate(chunk))
    first, second = names[sources[0]], names[sources[-1]]
    return Function("__byte_perm", (Variable(first), Variable(second), Variable(f"{selector:#06x}")))

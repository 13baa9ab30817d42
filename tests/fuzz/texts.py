"""The texts of a run: the same for the same seed and number."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from tests.fuzz.growth import NAMES, Grower
from tests.fuzz.valid import valid_file
from tests.parse_examples import TEXTS

_TOKEN = re.compile(r"\s+|#[^\n]*|[A-Za-z_]\w*|[0-9.]+|\*\*|//|->|\.\.=?|[=!<>]=|.", re.S)
_NOISE = "".join(map(chr, range(32, 127))) + "\n\t\r\x00\x1b\u00a0\u200b\u202e\ufeff\ud800é漢→×≤∑\U0001f600"
_SIGNS = (*"()[]{}:;,=+-*/%<>!.#", "**", "//", "->", "..", "..=", "==", "and", "or", "not", "\n")


def text_of(seed: int, number: int) -> str:
    """Text ``number`` of the run with this seed."""
    random = Random(f"{seed}:{number}")
    kind = random.random()
    if kind < 0.3:
        return valid_file(random)
    if kind < 0.45:
        return Grower(random).file()
    if kind < 0.55:
        return _mutated(random, valid_file(random))
    if kind < 0.9:
        return _mutated(random, Grower(random).file() if kind < 0.7 else random.choice(_examples()))
    return random.choice((_token_soup, _character_soup, _deep, _long, _numbers))(random)


@cache
def _examples() -> tuple[str, ...]:
    folder = Path(__file__).parent.parent.parent / "examples"
    return (*TEXTS, *(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.layout"))))


def _mutated(random: Random, text: str) -> str:
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        text = random.choice(_MUTATIONS)(random, text)
    return text


def _tokens(random: Random, text: str, change: Callable[[list[str], int], None]) -> str:
    tokens = _TOKEN.findall(text)
    if tokens:
        change(tokens, random.randrange(len(tokens)))
    return "".join(tokens)


def _delete(random: Random, text: str) -> str:
    def change(tokens: list[str], at: int) -> None:
        del tokens[at]
    return _tokens(random, text, change)


def _duplicate(random: Random, text: str) -> str:
    return _tokens(random, text, lambda tokens, at: tokens.insert(at, tokens[at]))


def _swap(random: Random, text: str) -> str:
    def change(tokens: list[str], at: int) -> None:
        other = random.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]
    return _tokens(random, text, change)


def _replace(random: Random, text: str) -> str:
    def change(tokens: list[str], at: int) -> None:
        tokens[at] = random.choice((*NAMES, *_SIGNS, "0", "1", "99", "2.5", "1e9"))
    return _tokens(random, text, change)


def _rename(random: Random, text: str) -> str:
    """One name for another, everywhere."""
    def change(tokens: list[str], at: int) -> None:
        old, new = tokens[at], random.choice(NAMES)
        if old.isidentifier():
            tokens[:] = [new if token == old else token for token in tokens]
    return _tokens(random, text, change)


def _flip(random: Random, text: str) -> str:
    """Bits of the text's bytes."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(random.randint(1, 3)):
        if data:
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return data.decode("utf-8", "replace")


def _insert(random: Random, text: str) -> str:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(_NOISE) + text[at:]


def _cut(random: Random, text: str) -> str:
    return text[:random.randint(0, len(text))]


def _splice(random: Random, text: str) -> str:
    other = random.choice(_examples())
    return text[:random.randint(0, len(text))] + other[random.randint(0, len(other)):]


def _number(random: Random, text: str) -> str:
    """One number for another, perhaps absurd."""
    found = list(re.finditer(r"[0-9]+", text))
    if not found:
        return text
    start, end = random.choice(found).span()
    new = random.choice((
        "0", "1", "-1", "2147483648", "9223372036854775807", "18446744073709551616", "1" * 400, "1e400", "0.1"))
    return text[:start] + new + text[end:]


_MUTATIONS = (_delete, _duplicate, _swap, _replace, _rename, _flip, _insert, _cut, _splice, _number)


def _token_soup(random: Random) -> str:
    return " ".join(random.choice((*NAMES, *_SIGNS, "0", "2.5")) for _ in range(random.randint(1, 80)))


def _character_soup(random: Random) -> str:
    return "".join(random.choice(_NOISE) for _ in range(random.randint(0, 120)))


def _deep(random: Random) -> str:
    depth = random.choice((50, 190, 199, 200, 201, 400, 5000))
    before, middle, after = random.choice((
        ("(", "1", ")"), ("f(", "1", ")"), ("(", "1", ",)"), ("-", "1", ""), ("not ", "a", ""), ("2**", "1", ""),
        ("1 + ", "1", ""), ("x[", "0", "]"), ("sum(i in 0..3) ", "1", ""), ("(1, ", "1", ")"),
        ("coalesce(", "4:2", ")"), ("abs(", "1", ")"), ("sum(i in 0..", "1", ") i"),
    ))
    value = before * depth + middle + after * (depth - random.choice((0, 0, 0, 1)))
    return random.choice((
        f"const a = {value}", f"layout a = {value}", f"assert {value} == 1",
        f"kernel k(x: f32[H]) -> (y: f32[H]) {{ y[i] = {value} }}"))


_LENGTHS = (*(10,) * 8, *(100,) * 4, *(300,) * 3, 1500)        # lines; the longest cost as much as a hundred others


def _long(random: Random) -> str:
    piece = random.choice((
        "const a{} = {}\n", "assert size(4:{}) == {}\n", "layout a{0} = ({1}, 4):(4, {0})\n", "# {} {}\n", "{} {} "))
    return "".join(piece.format(k, k % 7) for k in range(random.choice(_LENGTHS)))


def _numbers(random: Random) -> str:
    digits = "".join(random.choice("0123456789") for _ in range(random.choice((1, 19, 20, 21, 500, 5000))))
    number = random.choice((
        digits, f"{digits}.{digits}", f"{digits}e{digits[:3]}", f"{digits}.", f".{digits}", f"0x{digits}"))
    return random.choice((
        f"const a = {number}", f"layout a = ({number}, 2):(1, {number})", f"assert {number}..{number}"))

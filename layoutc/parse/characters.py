"""What to say of a character that begins no word, number or sign of the language."""

from __future__ import annotations

import re
import unicodedata

from layoutc.diagnostics import Diagnostic
from layoutc.parse.builder import RefusedError
from layoutc.source import Span

_INSTEAD = {
    "→": "`->`", "×": "`*`", "·": "`*`", "÷": "`/` or `//`", "−": "`-`", "–": "`-`", "—": "`-`",
    "≤": "`<=`", "≥": "`>=`", "≠": "`!=`", "∧": "`and`", "∨": "`or`", "¬": "`not`", "∞": "`inf`", "π": "`pi`",
    "∑": "`sum(u in 0..3) …`", "Σ": "`sum(u in 0..3) …`", "∈": "`in`", "…": "`..`",
    "!": "`not`", "&": "`and`", "|": "`or`", "^": "`**` for a power", "~": "`not`",
    "“": "no quotes", "”": "no quotes", '"': "no quotes: the language has no strings",
    "'": "no quotes: the language has no strings", "@": "`*` in a sum", "?": "`where(condition, a, b)`",
}

_NUMBER = re.compile(r"[0-9][0-9A-Za-z_]*(?:\.(?!\.)[0-9A-Za-z_]*)*|\.[0-9][0-9A-Za-z_]*")


def explain_character(text: str, at: int) -> RefusedError:
    """The diagnostic of the character at ``at``."""
    character = text[at]
    if character == "." and text[max(at - 2, 0):at] == "..":
        return _refused("unknown-character", "`...` has no meaning here", "three points", Span(at - 2, at + 1),
                        "a range is written `0..4`, or `0..=4` with its end")
    before = re.search(r"(?:[0-9A-Za-z_]|(?<!\.)\.(?!\.))*\Z", text[max(0, at - 80):at])
    start = at - len(before[0]) if before else at
    if character == "." and (start == at or not text[start].isdigit()) and not text[at + 1:at + 2].isdigit():
        return _refused("unknown-character", "`.` has no meaning here", "not in the language", Span(at, at + 1),
                        "a range is written `0..4`; names have no attributes")
    if character.isascii() and (character.isdigit() or character == "."):
        return _number(text, start if character == "." and text[start].isdigit() else at)
    if character.isalpha() or character.isdigit():
        return _foreign_name(text, at)
    return _sign(character, at)


def _refused(
    slug: str, message: str, label: str, span: Span, help: str, notes: tuple[str, ...] = (),
) -> RefusedError:
    return RefusedError(Diagnostic(slug, message, label=label, notes=notes, help=help), span)


def _number(text: str, start: int) -> RefusedError:
    found = _NUMBER.match(text, start)
    word = found[0] if found else text[start]
    span = Span(start, start + len(word))
    if word.count(".") > 1:
        return _refused("bad-number", "a number has one point", "several points", span, "a range is written `0..4`")
    if word.startswith("."):
        return _refused("bad-number", "a float has digits on both sides of its point", "no digit before the point",
                        span, f"write `0{_short(word)}`")
    if word.endswith("."):
        return _refused("bad-number", "a float has digits on both sides of its point", "no digit after the point",
                        span, f"write `{_short(word)}0`; a range has two points: `0..4`")
    if re.fullmatch(r"0[xXbBoO][0-9A-Fa-f_]{1,16}", word):
        value = int(word.replace("_", "") if word[-1] != "_" else word.rstrip("_"), 0) if _is_based(word) else None
        return _refused("bad-number", "integers are decimal", "another base", span,
                        f"write `{value}`" if value is not None else "write the value in decimal")
    if re.fullmatch(r"[0-9]+(?:_[0-9]+)+", word):
        return _refused("bad-number", "a number holds no `_`", "digits and a name", span,
                        f"write `{_short(word.replace('_', ''))}`")
    digits = re.match(r"[0-9.]+", word)
    head = digits[0].rstrip(".") if digits else word
    tail = word[len(head):].lstrip(".") or "x"
    return _refused("bad-number", f"`{_short(word)}` is neither a number nor a name", "a number and a name in one",
                    span, f"put a sign between them: `{_short(head)} * {_short(tail)}`",
                    ("numbers have no suffix; a cast gives the type: `f32(2.5)`",))


def _is_based(word: str) -> bool:
    try:
        int(word.replace("_", ""), 0)
    except ValueError:
        return False
    return True


def _foreign_name(text: str, at: int) -> RefusedError:
    before = re.search(r"\w*\Z", text[max(0, at - 80):at])
    after = re.match(r"\w{1,80}", text[at:at + 80])
    span = Span(at - len(before[0]) if before else at, at + len(after[0]) if after else at + 1)
    if text[at] in _INSTEAD:
        return _sign(text[at], at)
    return _refused("unknown-character", f"a name has only the letters a-z and A-Z, digits and `_`; "
                    f"`{text[at]}` is {_named(text[at])}", "not a name", span, "spell it in ASCII")


def _sign(character: str, at: int) -> RefusedError:
    span = Span(at, at + 1)
    if character in _INSTEAD:
        return _refused("unknown-character", f"`{character}` has no meaning here", "not in the language", span,
                        f"write {_INSTEAD[character]}")
    if character.isspace() or unicodedata.category(character) in ("Zs", "Cf"):
        return _refused("unknown-character", f"{_named(character)} is no white space of the language", "remove it",
                        span, "white space is blanks, tabs and line ends")
    name = f"`{character}`" if character.isascii() and character.isprintable() else _named(character)
    return _refused("unknown-character", f"{name} has no meaning here", "not in the language", span, "remove it")


def _named(character: str) -> str:
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X}" + (f" ({name.lower()})" if name else "")


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:20]}…"

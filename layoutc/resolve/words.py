"""The closed sets of words and signs of the language, and which of them a text has written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, TypeVar

Sign: TypeAlias = Literal["-", "not"]
Arithmetic: TypeAlias = Literal["+", "-", "*", "/", "//", "%", "**"]
Comparison: TypeAlias = Literal["<", "<=", ">", ">=", "==", "!="]
Connective: TypeAlias = Literal["and", "or"]
Reduction: TypeAlias = Literal["sum", "prod", "min", "max", "any", "all", "count", "argmin", "argmax", "median"]
Rule: TypeAlias = Literal["constant", "nearest", "reflect", "mirror", "wrap"]
Place: TypeAlias = Literal["shared", "global", "constant", "registers"]
Copies: TypeAlias = Literal["boxes", "threads"]
Means: TypeAlias = Literal["registers", "shuffle", "shared"]

ARITHMETIC: tuple[Arithmetic, ...] = ("+", "-", "*", "/", "//", "%", "**")
COMPARISONS: tuple[Comparison, ...] = ("<", "<=", ">", ">=", "==", "!=")
CONNECTIVES: tuple[Connective, ...] = ("and", "or")
REDUCTIONS: tuple[Reduction, ...] = (
    "sum", "prod", "min", "max", "any", "all", "count", "argmin", "argmax", "median")
RULES: tuple[Rule, ...] = ("constant", "nearest", "reflect", "mirror", "wrap")
PLACES: tuple[Place, ...] = ("shared", "registers", "global", "constant")
COPIES: tuple[Copies, ...] = ("boxes", "threads")
MEANS: tuple[Means, ...] = ("registers", "shuffle", "shared")

Word = TypeVar("Word", bound=str)


def one_of(words: Iterable[Word], written: str) -> Word | None:
    """The word that is written, if it is one of these."""
    return next((word for word in words if word == written), None)


def certainly(words: Iterable[Word], written: str) -> Word:
    """The word that is written, where the grammar has no other."""
    found = one_of(words, written)
    assert found is not None, written
    return found

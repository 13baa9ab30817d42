"""Random kernels under random schedules against the NumPy meaning; ``python -m tests.random_kernels 1000`` runs more.

A failing text is reduced to a small one that fails alike.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any

from layoutc.calling.calls import Caller
from layoutc.diagnostics import LayoutcError
from layoutc.module import compile
from layoutc.parse import syntax
from layoutc.parse.parser import parse
from layoutc.parse.printer import print_spec
from layoutc.source import Source
from layoutc.testing.extents import extents_worth_testing
from layoutc.testing.forms import form_choices
from layoutc.testing.report import command
from layoutc.testing.search import Search
from layoutc.testing.strategies import Prepared
from layoutc.testing.ways import random_ways, subject_of, written_ways
from tests.random_families import random_family_text
from tests.random_texts import random_text

RANDOM_WAYS = 2         # beside the default
CALLS = 16              # under all ways together


def problem_of(text: str, seed: int, device: str = "cpu", *, calls: int = CALLS) -> str:
    """What is wrong with a text's kernels; nothing if all is well. A text that is refused raises LayoutcError."""
    module = compile(text, name=f"random_{seed}.layout")
    for kernel in (module[name] for name in module):
        search = Search(device, seed, False, Caller)
        subject, random = subject_of(kernel), Random(seed)
        prepared = []
        for way in (*written_ways(subject, Caller), *random_ways(subject, RANDOM_WAYS, random, Caller)):
            extents = extents_worth_testing(way.kernel, way.plan, random)
            prepared.append(Prepared(way, tuple(extents), (random.choice(form_choices(way.kernel, 2, random)),)))
        search.run(prepared, calls)
        if search.failure is not None:
            report = search.report(kernel.meaning, [p.way for p in prepared])
            return f"{search.failure.what.split(':')[0]}\n{text}\n{report.text()}\n{command(search.failure, device)}"
    return ""


def outcome_of(text: str, seed: int, device: str = "cpu", *, calls: int = CALLS) -> tuple[str, str]:
    """In a word, and at length: ``well``, ``refused: slug``, a failure, or a crash."""
    try:
        problem = problem_of(text, seed, device, calls=calls)
        return (problem.split("\n")[0], problem) if problem else ("well", "")
    except LayoutcError as error:
        return f"refused: {error.diagnostics[0].slug}", f"{text}\n{error}"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {where.name}", f"{text}\n{traceback.format_exc()}"


# ---- reducing


def reduced(text: str, seed: int, word: str, device: str, tries: int = 400) -> str:
    """A smaller text with the same outcome."""
    smaller = True
    while smaller and tries > 0:
        smaller = False
        for spec in smaller_specs(parse(Source("<text>", text))):
            try:
                other = print_spec(spec)
            except Exception:       # a tree that no text has
                continue
            if len(other) >= len(text):
                continue
            tries -= 1
            if outcome_of(other, seed, device, calls=2 * CALLS)[0] == word:
                text, smaller = other, True
                break
            if tries <= 0:
                break
    return text


def smaller_specs(node: Any) -> Iterator[Any]:
    """The same tree with one part left out, or replaced by a part of itself, large parts first."""
    if isinstance(node, tuple):
        for k in range(len(node)):
            yield (*node[:k], *node[k + 1:])
        for k, item in enumerate(node):
            yield from ((*node[:k], other, *node[k + 1:]) for other in smaller_specs(item))
        return
    if not is_dataclass(node) or isinstance(node, type):
        return
    if isinstance(node, syntax.Unary | syntax.Binary | syntax.Call | syntax.Reduction | syntax.Subscript):
        yield from _operands(node)
    for f in fields(node):
        if f.name not in ("span", "name", "function", "op", "type"):
            yield from (replace(node, **{f.name: other}) for other in smaller_specs(getattr(node, f.name)))


def _operands(node: Any) -> tuple[Any, ...]:
    match node:
        case syntax.Unary(_, a) | syntax.Reduction(_, _, a):
            return (a,)
        case syntax.Binary(_, a, b):
            return (a, b)
        case syntax.Call(_, arguments):
            return arguments
    return ()


# ---- more of them than a test run takes


def main() -> None:
    """Texts of the seeds from ``first`` on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="how many texts")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--families", action="store_true", help="of the families that have strategies of their own")
    parser.add_argument("--keep", action="store_true", help="do not reduce what fails")
    words = parser.parse_args()
    counts: dict[str, int] = {}
    for seed in range(words.first, words.first + words.count):
        text = random_family_text(seed) if words.families else random_text(seed)
        word, problem = outcome_of(text, seed, words.device)
        counts[word] = counts.get(word, 0) + 1
        if word != "well":
            small = text if words.keep or counts[word] > 3 else reduced(text, seed, word, words.device)
            again = outcome_of(small, seed, words.device, calls=2 * CALLS)[1]
            print(f"==== seed {seed}: {again or problem}", flush=True)
    print(counts)
    sys.exit(set(counts) != {"well"})


if __name__ == "__main__":
    main()

"""``python -m tests.fuzz 100000 --seed 1 --check resolve``: exits 1 where a text is not answered as it must be."""

from __future__ import annotations

import argparse
import faulthandler
import sys

from tests.fuzz.checks import CHECKS
from tests.fuzz.compilation import Compilation
from tests.fuzz.runner import Report, run
from tests.fuzz.texts import text_of

_BATCH = 1000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("count", type=int, help="texts to try")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first text")
    parser.add_argument("--check", choices=CHECKS, default="parse")
    parser.add_argument("--limit", type=float, default=2.0, help="seconds that a text may take")
    parser.add_argument("--show", action="store_true", help="print the texts instead of checking them")
    words = parser.parse_args()
    total = Report()
    compilation = Compilation() if words.check == "compile" else None
    for start in range(words.start, words.start + words.count, _BATCH):
        count = min(_BATCH, words.start + words.count - start)
        if words.show:
            for number in range(start, start + count):
                print(f"{number}: {text_of(words.seed, number)!r}")
            continue
        faulthandler.dump_traceback_later(600, exit=True)      # a hang that no clock in Python would see
        part = run(CHECKS[words.check], count, words.seed, start, words.limit, compilation)
        total.add(part)
        for finding in part.findings:
            where = f"--- number {finding.number} of seed {words.seed}"
            print(f"{where}\n{finding.text[:4000]!r}\n{finding.what}", flush=True)
        print(f"{start + count - words.start} texts: {total}", file=sys.stderr, flush=True)
    print(total)
    return 1 if total.findings else 0


if __name__ == "__main__":
    sys.exit(main())

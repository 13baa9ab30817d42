"""Everything in one run: ``python benchmarks --markdown table.md --json figures.json``; needs a GPU.

Kernels beside CuPy, PyTorch and Triton, redistributions beside CUB, and what a call costs on the host. A peer that is
not installed has no figure. The exit status is 1 where a result is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

import kernels
import launch
import redistribute
from peers import PEERS

from layoutc.backend.cuda import cuda_problem
from layoutc.tuning.bench import device_name


def main() -> None:
    parser = argparse.ArgumentParser(prog="python benchmarks", description="All benchmarks, on this machine's GPU.")
    parser.add_argument("--markdown", type=Path, default=Path("benchmarks.md"), help="where the tables go")
    parser.add_argument("--json", type=Path, default=Path("benchmarks.json"), help="where the figures go")
    words = parser.parse_args()
    problem = cuda_problem()
    if problem:
        sys.exit(str(problem))
    lines, figures, costs = kernels.lines_of("", PEERS), redistribute.figures_of(""), launch.costs()
    table = "\n\n".join([
        f"# {device_name()}", "## Kernels without a schedule", kernels.as_markdown(lines),
        f"## Redistributions: {redistribute.CAPTION}", redistribute.as_markdown(figures),
        "## Calls", "\n".join(f"- {line}" for line in str(costs).split("\n"))])
    print(table)
    words.markdown.write_text(table + "\n", encoding="utf-8")
    words.json.write_text(json.dumps({
        "device": device_name(), "kernels": [asdict(line) for line in lines],
        "redistributions": [asdict(f) for f in figures], "calls": asdict(costs)}, indent=1), encoding="utf-8")
    if any(line.wrong for line in lines):
        sys.exit("some results are wrong")


if __name__ == "__main__":
    main()

"""Commands run in this process or in one of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from click.testing import CliRunner, Result

from layoutc.cli import main

BLUR = """\
const R = 1
const K = 2*R + 1
kernel blur(x: f32[H, W], w: f32[K, K]) -> (y: f32[H, W]) {
    edge x = nearest
    y[i, j] = sum(u in 0..K, v in 0..K) w[u, v] * x[i + u - R, j + v - R]
}
schedule blur { tile (i: 16, j: 64)  stage x in shared }
schedule blur as naive { tile (i: 16, j: 16)  stage x in global }
assert K == 3
"""

TWO = """\
kernel half(x: i32[N]) -> (y: i32[N]) { y[i] = x[i] // 2 }
kernel sums(x: f32[N]) -> (s: f32[], p: f32[N]) { s[] = sum(i) x[i]  p[i] = x[i] + 1.0 }
schedule half as wide { tile (i: 64) }
"""

CENTRE = "w=[[0,0,0],[0,1,0],[0,0,0]]"       # a blur with it changes nothing


def invoke(*words: str, text: str | None = None) -> Result:
    """The command in this process; nothing but an exit may leave it."""
    result = CliRunner().invoke(main, words, input=text, catch_exceptions=False)
    assert "Traceback" not in result.stderr
    return result


def spawn(
    *words: str, env: Mapping[str, str] | None = None, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "layoutc", *words], input=stdin, capture_output=True, text=True, timeout=60,
        env={**os.environ, **(env or {})}, check=False)

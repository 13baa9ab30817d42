"""Texts through NVRTC, each in a process of its own that may take so much processor time and no more."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

from layoutc.cuda_source import CudaSource

SECONDS = 10        # of the processor, however busy the machine; most texts take a third of one

_COMPILE_EACH = f"""
import json, os, resource, sys
from layoutc.backend.cuda import compile_cubin
from layoutc.cuda_source import CudaSource

for number, (name, text, arch) in enumerate(json.load(sys.stdin)):
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        compile_cubin(CudaSource(name, text, ()), arch)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        print(number)
"""


def unfinished(sources: Sequence[CudaSource], arch: str) -> list[str]:
    """The texts that NVRTC does not compile for an architecture in that time."""
    words = json.dumps([(source.name, source.text, arch) for source in sources])
    done = subprocess.run(
        [sys.executable, "-c", _COMPILE_EACH], input=words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [sources[int(line)].text for line in done.stdout.split()]

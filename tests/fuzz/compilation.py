"""CUDA texts through compilers, many at a time."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from layoutc.backend.compilers import COMMON, find_compiler
from layoutc.backend.cpu import host_text
from layoutc.backend.cuda import architectures, compile_ptx
from layoutc.backend.errors import BuildError
from layoutc.backend.headers import runtime_dir
from layoutc.cuda_source import CudaSource

BATCH = 400             # texts that one process of the host's compiler gets
EVERY = 50              # accepted texts of which one goes through NVRTC
_TOP = re.compile(r"^(?:KERNEL\(\d+\)|DEVICE \S+(?: \S+)*?) (\w+)\(", re.M)


@dataclass(slots=True)
class Compilation:
    """Collects texts; what a compiler says against one comes with the number that it was given with."""

    waiting: list[tuple[int, CudaSource]] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)             # hashes of texts
    seen_names: set[str] = field(default_factory=set)       # that stood at file scope in a file of its own
    accepted: int = 0                                       # that gave a CUDA text not seen before
    made: Counter[str] = field(default_factory=Counter)

    def add(self, number: int, sources: tuple[CudaSource, ...]) -> list[tuple[int, str]]:
        """Take the CUDA texts of a text; problems of those that were waiting."""
        fresh = [s for s in sources if hash(s.text) not in self.seen]
        problems = []
        if fresh:
            self.accepted += 1
            if self.accepted % EVERY == 0:
                problems += [(number, what) for what in self._device(fresh[self.accepted // EVERY % len(fresh)])]
        for source in fresh:
            self.seen.add(hash(source.text))
            self.made["distinct, by the host's compiler"] += 1
            names = {m for m in _TOP.findall(source.text) if m not in self.seen_names}
            if names:
                self.seen_names |= names
                problems += [(number, what) for what in self._alone(source)]
            else:
                self.waiting.append((number, source))
        return problems + (self.flush() if len(self.waiting) >= BATCH else [])

    def counts(self) -> Counter[str]:
        """How many texts went through which compiler since this was last asked."""
        made, self.made = self.made, Counter()
        return made

    def flush(self) -> list[tuple[int, str]]:
        """Compile what waits: together, each in a namespace, and by itself what is to blame where that fails."""
        batch, self.waiting = self.waiting, []
        together = '#include "layoutc.cuh"\n' + "".join(
            f'#line 1 "text_{k}"\nnamespace text_{k} {{\n{source.text}}}\n' for k, (_, source) in enumerate(batch))
        said = refused(together) if batch else ""
        if not said:
            return []
        accused = sorted({int(k) for k in re.findall(r"\btext_(\d+):\d+:\d+: (?:fatal )?error", said)})
        found = [(batch[k][0], what) for k in accused for what in self._alone(batch[k][1])]
        return found or [(batch[0][0], f"{len(batch)} texts from here on do not compile together:\n{said[:2000]}")]

    def _alone(self, source: CudaSource) -> list[str]:
        """As a backend gives it to the compiler: a kernel's name meets all that the headers declare."""
        self.made["in a file of their own"] += 1
        said = refused(host_text(source))
        return [f"{said[:2000]}\n{source.text}"] if said else []

    def _device(self, source: CudaSource) -> list[str]:
        self.made["by NVRTC for two architectures"] += 1
        problems = []
        for arch in architectures():
            try:
                said = compile_ptx(source, arch)[1]
            except BuildError as error:
                said = str(error)
            if said.strip("\0 \n"):
                problems.append(f"NVRTC for {arch}: {said[:2000]}\n{source.text}")
        return problems


def refused(text: str) -> str:
    """What the host's compiler says against a C++ text; it makes nothing of it."""
    flags = [flag for flag in COMMON if flag != "-shared"]
    with tempfile.TemporaryDirectory(prefix="layoutc-") as folder:
        path = Path(folder) / "texts.cpp"
        path.write_text(text, encoding="utf-8")
        command = [*find_compiler().command, *flags, "-fsyntax-only", f"-I{runtime_dir() / 'cpu'}", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return done.stderr or "no reason given" if done.returncode else ""

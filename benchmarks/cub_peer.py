"""The peer of redistributions: CUB's exchanges in the same loop, compiled by nvcc."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEAD = """\
#include <cub/cub.cuh>
"""

KERNEL = """\
extern "C" __global__ void __launch_bounds__({threads}) {name}(const {type}* in, {type}* out, int rounds) {{
    using Exchange = {exchange};
    __shared__ typename Exchange::TempStorage storage{array};
    {type} v[{items}];
#pragma unroll
    for (int i = 0; i < {items}; ++i) v[i] = in[(blockIdx.x * {threads} + threadIdx.x) * {items} + i];
    for (int r = 0; r < rounds; ++r) {{
        Exchange(storage{element}).{member}(v, v);
        {barrier}();
{change}
    }}
#pragma unroll
    for (int i = 0; i < {items}; ++i) out[(blockIdx.x * {threads} + threadIdx.x) * {items} + i] = v[i];
}}
"""


BY_ITEMS = """\
#pragma unroll
        for (int i = 0; i < {items}; ++i) v[i] ^= static_cast<{type}>(r);"""
BY_WORDS = """\
#pragma unroll
        for (int i = 0; i < {items}; i += {each}) {{
            unsigned word;
            memcpy(&word, v + i, 4);
            word ^= (r & {mask:#x}u) * {ones:#x}u;
            memcpy(v + i, &word, 4);
        }}"""


def change_text(type: str, items: int, bytes: int, by_words: bool) -> str:
    """What a round does besides the conversion: an exclusive or with its number, item by item or 32 bits at once."""
    if not by_words:
        return BY_ITEMS.format(items=items, type=type)
    ones = sum(1 << bit for bit in range(0, 32, 8 * bytes))
    return BY_WORDS.format(items=items, each=4 // bytes, mask=(1 << 8 * bytes) - 1, ones=ones)


@dataclass(frozen=True, slots=True)
class Peer:
    """One kernel; ``form`` is block, block-to-warp-striped, warp or warp-shuffle."""

    name: str
    form: str
    type: str       # in C
    items: int
    threads: int
    change: str     # what a round does besides

    @property
    def text(self) -> str:
        """Its text."""
        block = self.form.startswith("block")
        if block:
            exchange = f"cub::BlockExchange<{self.type}, {self.threads}, {self.items}>"
        else:
            how = "SHUFFLE" if self.form == "warp-shuffle" else "SMEM"
            exchange = f"cub::WarpExchange<{self.type}, {self.items}, 32, cub::WARP_EXCHANGE_{how}>"
        return KERNEL.format(
            name=self.name, type=self.type, items=self.items, threads=self.threads, exchange=exchange,
            change=self.change, array="" if block else f"[{self.threads // 32}]",
            element="" if block else "[threadIdx.x / 32]",
            member="BlockedToWarpStriped" if self.form == "block-to-warp-striped" else "BlockedToStriped",
            barrier="__syncthreads" if block else "__syncwarp")


def load_peers(peers: Sequence[Peer], arch: str) -> dict[str, Any]:
    """CuPy's kernels by name; none where nvcc is not on the path or does not find CUB."""
    import cupy

    nvcc = shutil.which("nvcc")
    if nvcc is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        text, code = Path(folder) / "peers.cu", Path(folder) / "peers.cubin"
        text.write_text(HEAD + "".join(peer.text for peer in peers))
        words = [nvcc, "-cubin", f"-arch={arch}", "-std=c++17", "-O3", "-o", str(code), str(text)]
        if subprocess.run(words, check=False).returncode != 0:
            return {}
        module = cupy.RawModule(path=str(code))
        return {peer.name: module.get_function(peer.name) for peer in peers}

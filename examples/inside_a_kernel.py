"""A hand-written CuPy kernel with two functions of layoutc in it: running sums of each thread's own neighbours.

Memory likes stripes (a warp reads 32 neighbours at once), the sum wants blocks (a thread holds neighbours). The kernel
reads and writes by stripes and turns the values in between; each function comes as text that stands alone, and both
synchronise what they need, so they may be called one after the other and for tile after tile.

    python examples/inside_a_kernel.py        # needs CuPy and a GPU
"""

from __future__ import annotations

import layoutc

THREADS, ITEMS = 128, 6

LAYOUTS = """
const T = 128
const I = 6
redistribute to_blocks: f32 = striped(T, I) -> blocked(T, I)
redistribute to_stripes: f32 = blocked(T, I) -> striped(T, I)
"""

KERNEL = r"""
extern "C" __global__ void __launch_bounds__(THREADS)
running_sums(const float* x, float* y, long long tiles) {
    for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        float items[ITEMS];
        for (int i = 0; i < ITEMS; ++i) items[i] = x[(tile * ITEMS + i) * THREADS + threadIdx.x];
        to_blocks(items, items);                // before and after may be one array
        for (int i = 1; i < ITEMS; ++i) items[i] += items[i - 1];
        to_stripes(items, items);
        for (int i = 0; i < ITEMS; ++i) y[(tile * ITEMS + i) * THREADS + threadIdx.x] = items[i];
    }
}
"""


def text() -> str:
    """The kernel with the two functions above it: CUDA C++ that includes nothing."""
    module = layoutc.compile(LAYOUTS)
    constants = f"constexpr int THREADS = {THREADS}, ITEMS = {ITEMS};\n"
    return module.to_blocks.header + module.to_stripes.header + constants + KERNEL


def main() -> None:
    """Run it on a million rows of ITEMS and compare with CuPy."""
    import cupy

    kernel = cupy.RawKernel(text(), "running_sums", options=("-std=c++17",))
    tiles = 1_000_000 // THREADS
    x = cupy.random.default_rng(0).random((tiles * THREADS, ITEMS), cupy.float32)
    y = cupy.empty_like(x)
    kernel((min(tiles, 1000),), (THREADS,), (x, y, cupy.int64(tiles)))
    cupy.testing.assert_allclose(y, cupy.cumsum(x, axis=1), rtol=1e-6)
    print(f"{tiles} tiles of {THREADS} x {ITEMS}: as cupy.cumsum")


if __name__ == "__main__":
    main()

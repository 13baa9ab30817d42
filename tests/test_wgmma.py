"""Sums of products by warpgroups: chosen on their one architecture, right whatever is ragged, each misuse caught."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from layoutc.backend import load_cpu
from layoutc.backend.cuda import architectures, compile_ptx
from layoutc.calling.launches import block_count
from layoutc.compiler import default_signature, plan_kernel
from layoutc.index import Int
from layoutc.layout import Layout
from layoutc.module import Kernel
from layoutc.plan.machine import REGISTERS
from layoutc.plan.matrix.product import product_of
from layoutc.plan.matrix.tiling import Panel
from layoutc.plan.matrix.warpgroups import GROUP_ROWS, tiles
from layoutc.plan.nodes import Target
from layoutc.plan.strategies import wgmma
from layoutc.plan.work import Work
from layoutc.resolve.types import BF16
from layoutc.testing import assert_matches_numpy
from tests.backend_support import kernels, source_of
from tests.test_backend_faults import symptom
from tests.test_backend_kernels import warpgroup
from tests.test_mma import ZERO, compile, layer, product_text, strategy_of, values

HERE = Target()         # sm_90


# ---- what the CPU run finds


def without(text: str) -> Callable[[str], str]:
    return changed(text, "")


def changed(*pairs: str) -> Callable[[str], str]:
    """Texts that stand once, each replaced by the next."""
    def change(text: str) -> str:
        for old, new in zip(pairs[::2], pairs[1::2], strict=True):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text
    return change


def two_buffers(text: str) -> str:
    """The products before the last still read where the next chunk goes."""
    return text.replace("% 4", "% 2").replace("(chunk + 3)", "(chunk + 1)")


FAULTS: dict[str, tuple[Callable[[str], str], str]] = {
    "copies not shown": (without("        copy_async_show();\n"), "was not shown to it"),
    "copies shown after the barrier": (
        changed("copy_async_show();\n        __syncthreads();", "__syncthreads();\n        copy_async_show();"),
        "with no barrier between"),
    "copies shown before they land": (
        changed("copy_async_wait<1>();\n        copy_async_show();",
                "copy_async_show();\n        copy_async_wait<1>();"),
        "was not shown to it"),
    "copies not waited for": (without("        copy_async_wait<1>();\n"), "asynchronous copy to it is on its way"),
    "one group too few": (changed("copy_async_wait<1>", "copy_async_wait<2>"), "asynchronous copy to it is on its way"),
    "no barrier": (without("        __syncthreads();\n"), "on its way|race|never written|not shown"),
    "not begun": (without("            wgmma_begin<32>(sums);\n"), "without wgmma_begin()"),
    "not committed": (without("            wgmma_commit();\n"), "never waited for"),
    "read too early": (without("    wgmma_end<32>(sums);\n"), "never waited for"),
    "waited for all but one": (changed("wgmma_end<32>(sums)", "wgmma_wait<1>()"), "never waited for"),
    "two buffers too few": (two_buffers, "while wgmma reads it|which a thread of another warp reads"),
    "never waited for in the loop": (without("            wgmma_wait<1>();\n"), "while wgmma reads it"),
    "vectors where they lie": (changed("(vector ^ line % 8)", "vector"), "wrong: c"),
    "half a step": (lambda text: text.replace("step * 16", "step * 8"), "begins at 32 bytes of a line"),
    "panel between lines": (changed("b_chunks, 32768", "b_chunks, 32256"), "begins at 32 bytes of a line"),
    "no panel": (changed("PANEL_AT(f16, b", "SHARED_AT(f16, b"), "b_chunks is no panel"),
    "past the end": (changed("b_chunks + (buffer", "b_chunks + (12800 + buffer"), "wgmma reads 64 lines from byte"),
    "a buffer too late": (changed("(chunk + 3)", "(chunk + 2)"), "never written|not shown|wrong"),
    "warps apart": (changed("wgmma<64>(sums, a_chunks + (", "wgmma<64>(sums, a_chunks + (thread / 64 * 16 + "),
                    "the warps of a warpgroup multiply different panels"),
    "lanes apart": (changed("wgmma<64>(sums, a_chunks + (", "wgmma<64>(sums, a_chunks + (thread % 2 * 16 + "),
                    "lanes of a warp multiply different panels"),
    "half a warpgroup": (changed("if (chunk > 0)", "if (chunk > 0 && thread < 64)"), "not all warps"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_misuse_is_caught(fault: str) -> None:
    change, expected = FAULTS[fault]
    source = kernels("warpgroup")
    module = load_cpu(source_of(source.name, change(source.text)))
    found = symptom(module, warpgroup())
    assert any(fragment in found for fragment in expected.split("|")), found


def test_unfinished_sums_are_poison() -> None:
    """What is stored before the products are waited for is no number."""
    source = kernels("warpgroup")
    text = source.text.replace("    wgmma_end<32>(sums);\n", "").rstrip().removesuffix("}")
    module = load_cpu(source_of(source.name, text + "    wgmma_end<32>(sums);\n}\n"))
    a, b = values(1, (64, 128), "f16"), values(2, (64, 128), "f16")
    c = np.zeros((64, 64), np.float32)
    module.launch("warpgroup", 1, [a, b, c, 128])
    assert np.isnan(c).all()


def test_without_checks_too() -> None:
    source, case = kernels("warpgroup"), warpgroup()
    load_cpu(source, checked=False).launch("warpgroup", 1, case.args)
    np.testing.assert_array_equal(case.args[2], case.wanted[0])


# ---- the compiler


def test_the_device_multiplies_by_wgmma_and_others_by_threads() -> None:
    """On sm_90 in the background; a text that another architecture gets is right there too. No warning anywhere."""
    kernel = compile(product_text("bf16", "ik", "jk", "schedule f { mma  tile (i: 64, j: 64) }"), target=HERE)
    meaning = kernel.meaning
    source = plan_kernel(kernel.program, meaning, meaning.schedule(None), default_signature(meaning), HERE)[1]
    for arch in ("sm_90", *architectures()):
        ptx, log = compile_ptx(source, arch)
        assert log.strip("\0 \n") == ""
        assert ptx.count("wgmma.mma_async") == (4 if arch == "sm_90" else 0)


# ---- what is made


@pytest.mark.parametrize("type", ["f16", "bf16", "i8"])
def test_matrix_products(type: str, device: str) -> None:
    """Ragged in all three, of one output, of nothing; integers are exact."""
    kernel = compile(product_text(type, "ik", "jk"), target=HERE)
    assert strategy_of(kernel) == "wgmma"
    for m, k, n in [(8, 48, 8), (197, 80, 263), (1, 16, 1), (64, 0, 8), (0, 16, 8)]:
        assert_matches_numpy(kernel, values(1, (m, k), type), values(2, (n, k), type), device=device)


def test_bytes_of_both_signs(device: str) -> None:
    kernel = compile("kernel f(a: u8[M, K], b: i8[N, K]) -> (c: i32[M, N]) {"
                     " c[i, j] = sum(k) i32(a[i, k]) * i32(b[j, k]) }", target=HERE)
    assert strategy_of(kernel) == "wgmma"
    a, b = values(1, (20, 144), "u8"), values(2, (33, 144), "i8")
    np.testing.assert_array_equal(kernel(a, b, device=device), a.astype(np.int64) @ b.astype(np.int64).T)


def test_what_is_not_finite(device: str) -> None:
    """Made-up rows and columns, and zeros past the last product, are never seen."""
    kernel = compile(product_text("f16", "ik", "jk"), target=HERE)
    a, b = values(1, (17, 24), "f16"), values(2, (20, 24), "f16")
    a[16, 3], a[4, 5], b[19, 7], a[2, 23] = np.inf, np.nan, -np.inf, 65504
    assert_matches_numpy(kernel, a, b, device=device)


LAYERS = [
    ("i8", "(H - 1)//2 + 1", "(W - 1)//3 + 1", "edge x = constant(0)", "2*i + u - 1, 3*j + v - 1"),
    ("bf16", "H + 1", "W + 3", ZERO, "i + u - 3, j + 2*v - 2"),
    ("f16", "H", "W", "edge x[1] = reflect  edge x[2] = (wrap, constant(0))  require H > 0, W > 0",
     "i + u - 2, j + 2*v - 1"),
    ("f16", "H - 2", "W - 2", "require H >= 3, W >= 3", "i + u, j + v"),
]


@pytest.mark.parametrize("text", LAYERS, ids=str)
def test_a_layer(text: tuple[str, str, str, str, str], device: str) -> None:
    """Strides, dilations, paddings that differ from side to side, edges; extents that no tile divides."""
    kernel = layer(*text, target=HERE)
    assert strategy_of(kernel) == "wgmma"
    type = text[0]
    for n, h, w, c, m in [(3, 7, 11, 48, 29)]:
        x, weights = values(1, (n, h, w, c), type), values(2, (m, 3, 3, c), type)
        b = np.arange(m).astype(np.int32 if type == "i8" else np.float32)
        assert_matches_numpy(kernel, x, weights, b, device=device)


def test_groups_and_batches_are_one_a_block(device: str) -> None:
    kernel = compile(
        "kernel f(a: f16[B, G, M, K], b: f16[B, G, N, K], p: f32[N]) -> (c: f16[B, G, M, N]) {"
        " c[n, g, i, j] = f16(max(p[j] + f32(n) + sum(k) f32(a[n, g, i, k]) * f32(b[n, g, j, k]), 0)) }", target=HERE)
    assert (strategy_of(kernel), kernel.plan.passes[0].tile[:2]) == ("wgmma", (1, 1))
    a, b = values(1, (2, 2, 9, 24), "f16"), values(2, (2, 2, 17, 24), "f16")
    assert_matches_numpy(kernel, a, b, np.arange(17, dtype=np.float32), device=device)


# ---- which tile


def constant_layer(n: int, h: int, c: int, m: int) -> Kernel:
    return compile(f"""
    kernel f(x: bf16[{n}, {h}, {h}, {c}], w: bf16[{m}, 3, 3, {c}]) -> (y: bf16[{n}, {h}, {h}, {m}]) {{
        edge x = constant(0)
        y[n, i, j, m] = bf16(sum(u, v, c) f32(w[m, u, v, c]) * f32(x[n, i + u - 1, j + v - 1, c])) }}""", target=HERE)


@pytest.mark.parametrize(("kernel", "tile"), [
    (constant_layer(32, 28, 256, 256), (192, 256)),         # 131 blocks for 132 multiprocessors
    (constant_layer(32, 56, 64, 64), (192, 64)),            # two blocks share a multiprocessor
    (compile(product_text("f16", "ik", "jk"), target=HERE), (192, 256)),
], ids=["28 x 28", "64 channels", "product"])
def test_the_tile_is_the_models(kernel: Kernel, tile: tuple[int, int]) -> None:
    assert (strategy_of(kernel), kernel.plan.passes[0].tile) == ("wgmma", tile)


@pytest.mark.parametrize(("rows", "columns", "tile"), [
    (8192, 8192, (128, 256)), (4096, 4096, (128, 256)), (2048, 2048, (128, 256)), (16384, 1024, (128, 256)),
    (25088, 256, (192, 256)), (1024, 1024, (128, 64)), (128, 8192, (128, 64)), (1, 1, (128, 64)),
])
def test_the_tile_follows_the_extents_of_the_call(rows: int, columns: int, tile: tuple[int, int]) -> None:
    """One H200, several runs: of those that are made these were the fastest, or within 3 % of it."""
    kernel = compile(product_text("bf16", "ik", "jk"), target=HERE)
    extents = {"M": rows, "N": columns, "K": 512}
    assert [one.tile for one in kernel.plan.passes if block_count(one, extents)] == [tile]
    assert kernel.explain(extents)["tile"] == dict(zip("ij", tile, strict=True)) | {"k": 64}


def test_whichever_tile_is_taken_the_product_is_right(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    text = product_text("f16", "ik", "jk")
    count = len(compile(text, target=HERE).plan.passes)
    assert count > 1
    a, b = values(1, (70, 72), "f16"), values(2, (130, 72), "f16")
    for number in range(count):
        monkeypatch.setattr(wgmma, "taken", lambda times, outputs, n=number: [Int(n == k) for k in range(len(times))])
        assert_matches_numpy(compile(text, target=HERE), a, b, device=device)


@pytest.mark.parametrize("wide", [False, True])
def test_tiles_fit_the_machine(wide: bool) -> None:
    """Registers of all threads, shared memory of all blocks that are to be resident, three buffers at least."""
    kernel = compile(product_text("bf16", "ik", "jk"), target=HERE)
    one = kernel.plan.passes[0]
    assert one.threads * (one.items + 28) <= REGISTERS
    assert one.dynamic_bytes <= 227 << 10
    work = Work(kernel.program, kernel.meaning, kernel.meaning.equations, None, default_signature(kernel.meaning), HERE)
    for tiling in tiles(product_of(work), 227 << 10, wide):
        assert tiling.buffers >= 3
        assert tiling.threads * tiling.columns // 2 < REGISTERS
        assert tiling.rows == GROUP_ROWS * tiling.threads // 128


@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (128, 256), (192, 128)])
def test_every_output_is_one_threads(rows: int, columns: int, device: str) -> None:
    kernel = compile(product_text("f16", "ik", "jk", f"schedule f {{ mma  tile (i: {rows}, j: {columns}, k: 64) }}"),
                     target=HERE)
    assert (strategy_of(kernel), kernel.plan.passes[0].tile) == ("wgmma", (rows, columns))
    layout = Layout.parse(kernel.plan.passes[0].layout)
    threads, items = range(layout[0].size), range(layout[1].size)
    assert sorted(layout(t, i) for t in threads for i in items) == [*range(rows * columns)]
    a, b = values(1, (rows + 3, 24), "f16"), values(2, (columns + 5, 24), "f16")
    assert_matches_numpy(kernel, a, b, device=device)


@pytest.mark.parametrize(("text", "target", "why"), [
    (product_text("f16", "ik", "kj"), HERE, "`b` does not lie along the sum"),
    (product_text("f16", "ik", "jk"), Target("sm_89"), "has no `wgmma`"),
    (product_text("f16", "ik", "jk"), Target("sm_100"), "has no `wgmma`"),
    (product_text("f16", "ik", "jk", "schedule f { mma  tile (i: 32) }"), HERE, "as the schedule says"),
    (product_text("f16", "ik", "jk", "schedule f { mma  budget shared 64 KiB  tile (i: 192, j: 256) }"), HERE,
     "as the schedule says"),
])
def test_what_mma_makes_instead(text: str, target: Target, why: str) -> None:
    one = compile(text, target=target).plan.passes[0]
    assert one.strategy == "mma"
    assert why in next(r.why for r in one.rejected if r.strategy == "wgmma")


def test_panels_are_what_the_instruction_reads() -> None:
    """PTX's swizzle of 128 bytes: vector v of line l at v xor l % 8, in every buffer that begins at 1024 bytes."""
    for rows in (64, 192, 256):
        panel = Panel(BF16, rows, 64)
        assert (panel.vectors, panel.permuted, panel.period, panel.elements * 2 % 1024) == (8, 8, 1, 0)

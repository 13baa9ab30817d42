"""Layouts by name: compact ones, thread/value layouts, and the fragments of mma.sync."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import tensor_layouts.atoms_nv
from hypothesis import given
from hypothesis import strategies as st

from layoutc.layout import (
    Layout,
    LayoutError,
    blocked,
    col_major,
    mma_a,
    mma_b,
    mma_c,
    right_inverse,
    row_major,
    striped,
    warp_striped,
)
from tests.layout_support import unhurried

counts = st.integers(1, 40)


def held(layout: Layout) -> list[list[int]]:
    """The positions that each thread holds, item by item."""
    threads, items = layout
    return [[layout(t, r) for r in range(items.size)] for t in range(threads.size)]


@unhurried
@given(counts, counts)
def test_blocked_and_striped_are_their_table(threads: int, items: int) -> None:
    assert held(blocked(threads, items)) == [[t * items + r for r in range(items)] for t in range(threads)]
    assert held(striped(threads, items)) == [[t + r * threads for r in range(items)] for t in range(threads)]


@unhurried
@given(st.integers(1, 6), counts, st.integers(1, 32))
def test_warp_striped_is_its_table(warps: int, items: int, lanes: int) -> None:
    layout, threads = warp_striped(warps * lanes, items, lanes), warps * lanes
    truth = [[(t // lanes) * lanes * items + t % lanes + r * lanes for r in range(items)] for t in range(threads)]
    assert held(layout) == truth
    assert str(warp_striped(64, 8, 32)) == "((32,2),8):((1,256),32)"


@unhurried
@given(counts, counts)
def test_thread_layouts_hold_every_position_once(threads: int, items: int) -> None:
    for layout in (blocked(threads, items), striped(threads, items), warp_striped(threads, items, threads)):
        assert layout.image == tuple(range(threads * items))


def test_the_worked_redistributions() -> None:
    assert blocked(4, 3) == Layout.parse("(4,3):(3,1)")
    assert striped(4, 3) == Layout.parse("(4,3):(1,4)")
    assert held(blocked(4, 3)) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert held(striped(4, 3)) == [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]
    two_warps = [[0, 4], [1, 5], [2, 6], [3, 7], [8, 12], [9, 13], [10, 14], [11, 15]]
    assert held(warp_striped(8, 2, 4)) == two_warps
    # A slip often printed: (4,1):(3,4) has 4 values only, and striding threads by 4 leaves a tile of 12.
    assert Layout.parse("(4,1):(3,4)").image == (0, 3, 6, 9)
    assert max(Layout.parse("(4,3):(4,1)").image) == 14
    # From a position to the slot t + T*r that holds it when blocked: a transpose.
    assert right_inverse(blocked(4, 3)) == Layout.parse("(3,4):(4,1)")


def test_blocked_to_warp_striped_never_leaves_a_warp() -> None:
    for warp in range(2):
        lanes = slice(4 * warp, 4 * warp + 4)
        before, after = held(blocked(8, 2))[lanes], held(warp_striped(8, 2, 4))[lanes]
        assert sorted(itertools.chain(*before)) == sorted(itertools.chain(*after))


def test_compact_layouts() -> None:
    assert row_major(4, 3) == row_major((4, 3)) == Layout.parse("(4,3):(3,1)")
    assert col_major(4, 3) == col_major((4, 3)) == Layout.parse("(4,3):(1,4)")
    assert row_major((2, 2), 3) == Layout.parse("((2,2),3):((6,3),1)")
    assert col_major((2, 2), 3) == Layout.parse("((2,2),3):((1,2),4)")
    assert row_major(8) == col_major(8) == Layout(8, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        row_major, lambda: col_major(0), lambda: row_major(2, -1), lambda: blocked(0, 4), lambda: striped(4, -1),
        lambda: warp_striped(48, 2, 32), lambda: warp_striped(32, 2, 0), lambda: blocked(2**40, 2**40),
        lambda: mma_a(16, 8, 15, "f16"), lambda: mma_a(16, 8, 16, "i32"), lambda: mma_c(16, 8, 32, "f32"),
        lambda: mma_b(16, 8, 16, "F16"), lambda: mma_c(16, 8, 16, ""),
    ],
)
def test_what_they_cannot_be_is_refused(wrong: Callable[[], Layout]) -> None:
    with pytest.raises(LayoutError):
        wrong()


ATOMS = [
    (atom.shape_mnk, own, atom)
    for name, atom in vars(tensor_layouts.atoms_nv).items()
    for theirs, own in {
        "F16F16F16F16": "f16", "F32F16F16F32": "f16", "F32BF16BF16F32": "bf16", "F32TF32TF32F32": "tf32",
        "F64F64F64F64": "f64", "S32S8S8S32": "i8",
    }.items()
    if name.startswith(("SM75", "SM80", "SM90")) and name.endswith(f"_{theirs}_TN") and atom.shape_mnk[1] == 8
]


def test_every_shape_of_the_instruction_is_known_to_the_oracle() -> None:
    known = {(shape, own) for shape, own, _ in ATOMS}
    assert {
        ((16, 8, 8), "f16"), ((16, 8, 16), "f16"), ((16, 8, 8), "bf16"), ((16, 8, 16), "bf16"),
        ((16, 8, 4), "tf32"), ((16, 8, 8), "tf32"), ((8, 8, 16), "i8"), ((16, 8, 16), "i8"), ((16, 8, 32), "i8"),
        ((8, 8, 4), "f64"), ((16, 8, 4), "f64"), ((16, 8, 8), "f64"), ((16, 8, 16), "f64"),
    } == known


@pytest.mark.parametrize(("shape", "type_", "atom"), ATOMS, ids=lambda value: str(getattr(value, "name", "")))
def test_fragments_are_the_oracle_s_which_counts_column_major(
    shape: tuple[int, int, int], type_: str, atom: tensor_layouts.MMAAtom
) -> None:
    M, N, K = shape
    cases = [
        (mma_a(M, N, K, type_), atom.a_layout, M, K, False),
        (mma_b(M, N, K, type_), atom.b_layout, N, K, True),       # the oracle's B is N by K
        (mma_c(M, N, K, type_), atom.c_layout, M, N, False),
    ]
    for own, theirs, rows, columns, turned in cases:
        lanes, values = own
        assert lanes.size == 32
        for lane, item in itertools.product(range(32), range(values.size)):
            column, row = divmod(theirs(lane, item), rows)
            assert own(lane, item) == (column * rows + row if turned else row * columns + column)
        assert own.image == tuple(range(rows * columns))


def test_fragments_of_m16n8k16_as_the_ptx_manual_has_them() -> None:
    for lane in range(32):
        group, in_group = lane >> 2, lane % 4
        for i in range(8):
            row = group if i < 2 or 4 <= i < 6 else group + 8
            column = in_group * 2 + (i & 1) + (8 if i >= 4 else 0)
            assert mma_a(16, 8, 16, "bf16")(lane, i) == row * 16 + column
        for i in range(4):
            assert mma_b(16, 8, 16, "f16")(lane, i) == (in_group * 2 + (i & 1) + (8 if i >= 2 else 0)) * 8 + group
            row = group if i < 2 else group + 8
            for type_ in ("f32", "f16", "bf16", "i32"):
                assert mma_c(16, 8, 16, type_)(lane, i) == row * 8 + in_group * 2 + (i & 1)


def test_fragments_of_m16n8k32_as_the_ptx_manual_has_them() -> None:
    for lane in range(32):
        group, in_group = lane >> 2, lane % 4
        for i in range(16):
            row = group if i < 4 or 8 <= i < 12 else group + 8
            column = in_group * 4 + (i & 3) + (0 if i < 8 else 16)
            assert mma_a(16, 8, 32, "u8")(lane, i) == row * 32 + column
        for i in range(8):
            assert mma_b(16, 8, 32, "i8")(lane, i) == (in_group * 4 + (i & 3) + (0 if i < 4 else 16)) * 8 + group


def test_fragments_of_m16n8k8_in_tf32_as_the_ptx_manual_has_them() -> None:
    for lane in range(32):
        group, in_group = lane >> 2, lane % 4
        for i in range(4):
            row, column = group + (8 if i % 2 else 0), in_group + (4 if i >= 2 else 0)
            assert mma_a(16, 8, 8, "tf32")(lane, i) == row * 8 + column
        for i in range(2):
            assert mma_b(16, 8, 8, "tf32")(lane, i) == (in_group + 4 * i) * 8 + group

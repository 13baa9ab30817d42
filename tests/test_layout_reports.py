"""Public reports on other layout algebras, each with its right answer."""

from __future__ import annotations

import pytest

from layoutc.layout import (
    Layout,
    LayoutError,
    blocked_product,
    coalesce,
    complement,
    composition,
    cosize,
    left_inverse,
    logical_divide,
    logical_product,
    raked_product,
    right_inverse,
    swizzle,
    zipped_divide,
)

L = Layout.parse


def refused(left: str, right: str) -> object:
    """The witness of a composition that is no layout."""
    with pytest.raises(LayoutError) as caught:
        composition(L(left), L(right))
    return caught.value.witness


def test_cutlass_2955_the_truth_is_no_layout() -> None:
    assert refused("(6,2):(1,7)", "(3,2):(2,3)") == (2, 1)      # 0,2,4,3,5,8: a layout would go on 7


@pytest.mark.parametrize("strides", ["(1,7)", "(5,2)", "(0,1)"])
def test_cutlass_2633_left_distributivity_does_not_hold(strides: str) -> None:
    refused(f"(6,2):{strides}", "(3,4):(2,3)")


def test_cutlass_3177_accepted_there() -> None:
    assert refused("(4,6,8):(2,3,5)", "6:3") == 3               # 0,6,7,8,9,15


def test_cutlass_2113_rejected_there() -> None:
    assert composition(L("(10,2):(16,4)"), L("(3,4):(1,5)")) == L("(3,(2,2)):(16,(80,4))")


def test_cutlass_1353_coalesces_the_left_side_first() -> None:
    assert composition(L("(2,3):(1,2)"), L("(2,3):(3,1)")) == L("(2,3):(3,1)")


def test_cutlass_3485_left_inverse_as_in_cute() -> None:
    assert left_inverse(L("4:2")) == L("(2,4):(0,1)")
    assert left_inverse(L("(4,3):(1,5)")) == L("(5,3):(1,4)")


def test_cutlass_3513_a_tile_that_does_not_divide_is_an_error() -> None:
    with pytest.raises(LayoutError) as caught:
        zipped_divide(L("(12,(4,8)):(7,(1,30))"), 128)
    assert caught.value.witness == (12, 0)                      # 84 is next in the tile, and 1 comes


def test_cutlass_1230_tiles_that_stick_out_are_counted_up() -> None:
    assert logical_divide(L("(8,3):(3,1)"), (3, 2)) == L("((3,3),(2,2)):((3,9),(1,2))")
    assert logical_divide(L("10:1"), 4) == L("(4,3):(1,4)")


@pytest.mark.parametrize("n", [1, 2, 3, 100])
def test_cutlass_3469_3470_3471_the_same_for_every_extent(n: int) -> None:
    assert coalesce(Layout((16, n), (8, 128))) == Layout(16 * n, 8)
    assert right_inverse(Layout((16, n), (1, 16))) == Layout(16 * n, 1)
    assert composition(Layout((16, 4), (1, 32)), Layout((8, n), (1, 0))) == Layout((8, n), (1, 0))


def test_cutlass_1497_cosize_of_negative_strides_and_swizzles() -> None:
    assert cosize(L("4:-1")) == 4
    assert cosize(L("(4,3):(-3,1)")) == 12
    swizzled = composition(swizzle(1, 0, 2), L("3:2"))          # 0, 2, 5: L(size-1)+1 without the swizzle is 5
    assert cosize(swizzled) == 6


def test_cutlass_1531_swizzles_of_two_shifts_compose() -> None:
    both = composition(swizzle(3, 0, 3), swizzle(1, 2, 1))
    for number in range(4096):
        inner = number ^ (number & 0b1000) >> 1
        assert both(number) == inner ^ (inner & 0b111000) >> 3


def test_cutlass_2450_a_swizzle_that_only_moves_strides_leaves_a_plain_layout() -> None:
    assert composition(swizzle(3, 0, 3), L("(2,2,2):(8,16,32)")) == L("(2,2,2):(9,18,36)")
    assert isinstance(composition(swizzle(3, 0, 3), L("(2,2,2):(8,16,32)")), Layout)


def test_cutlass_1359_and_3058_complements() -> None:
    assert complement(L("4:2"), 24) == L("(2,3):(1,8)")
    assert complement(L("4:2"), 8) == L("2:1")


@pytest.mark.parametrize(("bytes_", "base"), [(2, 3), (4, 2), (1, 4)])
def test_flydsl_634_a_swizzle_of_bytes_is_one_of_elements_with_a_smaller_base(bytes_: int, base: int) -> None:
    in_bytes = composition(swizzle(3, 4, 3), Layout(4096 // bytes_, bytes_))
    in_elements = composition(swizzle(3, base, 3), Layout(4096 // bytes_, 1))
    assert [in_bytes(k) for k in range(4096 // bytes_)] == [bytes_ * in_elements(k) for k in range(4096 // bytes_)]


def test_the_study_of_the_python_peers() -> None:
    assert refused("(4,3):(3,1)", "6:1") == 4                   # 0,3,6,9,1,4
    assert composition(L("(8,8):(3,97)"), L("3:3")) == L("3:9")
    assert logical_product(L("4:1"), 3) == L("(4,3):(1,4)")
    assert right_inverse(L("(4,3):(3,1)")) == L("(3,4):(4,1)")


def test_the_language_s_own_examples() -> None:
    assert composition(L("(6,2):(8,2)"), L("(4,3):(3,1)")) == L("((2,2),3):((24,2),8)")
    assert logical_product(4, L("3:2")) == L("(4,3):(1,8)")


def test_the_examples_of_cute_s_documentation() -> None:
    assert coalesce(L("(2,(1,6)):(1,(6,2))")) == L("12:1")
    assert composition(L("20:2"), L("(5,4):(4,1)")) == L("(5,4):(8,2)")
    assert composition(L("(10,2):(16,4)"), L("(5,4):(1,5)")) == L("(5,(2,2)):(16,(80,4))")
    assert complement(L("4:1"), 24) == L("6:4")
    assert complement(L("6:4"), 24) == L("4:1")
    assert complement(L("(4,6):(1,4)"), 24) == L("1:0")
    assert complement(L("(2,4):(1,6)"), 24) == L("3:2")
    assert complement(L("(2,2):(1,6)"), 24) == L("(3,2):(2,12)")
    assert logical_divide(L("(4,2,3):(2,1,8)"), L("4:2")) == L("((2,2),(2,3)):((4,1),(2,8))")
    tiler = (L("3:3"), L("(2,4):(1,8)"))
    assert logical_divide(L("(9,(4,8)):(59,(13,1))"), tiler) == L(
        "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))"
    )
    assert zipped_divide(L("(9,(4,8)):(59,(13,1))"), tiler) == L(
        "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"
    )
    assert logical_product(L("(2,2):(4,1)"), L("6:1")) == L("((2,2),(2,3)):((4,1),(2,8))")
    assert logical_product(L("(2,2):(4,1)"), L("(4,2):(2,1)")) == L("((2,2),(4,2)):((4,1),(8,2))")
    assert blocked_product(L("(2,5):(5,1)"), L("(3,4):(1,3)")) == L("((2,3),(5,4)):((5,10),(1,30))")
    assert raked_product(L("(2,5):(5,1)"), L("(3,4):(1,3)")) == L("((3,2),(4,5)):((10,5),(30,1))")

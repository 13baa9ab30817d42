"""Known answers, checked by hand: what explain derives, what kernels give, and what the NumPy meaning gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc import load
from layoutc.compiler import read_program
from layoutc.diagnostics import LayoutcError
from layoutc.explain import explain
from layoutc.module import compile as compile_text
from layoutc.plan.nodes import Target
from layoutc.source import Source

EXAMPLES = Path(__file__).parent.parent / "examples"
Array = NDArray[Any]


def facts_of(name: str, kernel: str, schedule: str | None = None, extents: dict[str, int] | None = None) -> Any:
    return load(EXAMPLES / f"{name}.layout")[kernel].explain(extents, schedule=schedule)


def gives(device: str, name: str, kernel: str, inputs: tuple[Array, ...], wanted: Any) -> None:
    """Both executions, under every schedule, to a few units in the last place of f32."""
    module = load(EXAMPLES / f"{name}.layout")
    np.testing.assert_allclose(module[kernel].reference(*inputs), wanted, rtol=1e-6)
    for schedule in module[kernel].schedules:
        np.testing.assert_allclose(module[kernel](*inputs, schedule=schedule, device=device), wanted, rtol=1e-6)


def row(*values: float) -> Array:
    return np.array(values, np.float32)


SQUARE = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
CROSS = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]], np.float32)


class TestConvolutionAcrossBlocks:
    INPUTS = (np.arange(1, 13, dtype=np.float32), np.full(3, 1 / 3, np.float32))

    def test_values(self, device: str) -> None:
        gives(device, "02_conv1d", "conv", self.INPUTS, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 23 / 3, 4])

    def test_the_box_is_the_tile_and_its_halo(self) -> None:
        facts = facts_of("02_conv1d", "conv", extents={"N": 12})
        assert facts["halo"]["a"] == {"i": [0, 2]}
        assert facts["footprint"]["a"] == [4 + 3 - 1]
        assert facts["launch"]["blocks"] == 3
        assert facts["storage"]["shared_bytes"] == 6 * 4

    def test_blocks_stage_what_lies_inside(self) -> None:
        """1..6, 5..10, and 9..12 with two zeros that are not loaded."""
        traffic = facts_of("02_conv1d", "conv", extents={"N": 12})["traffic"]["a"]
        assert traffic["loaded_bytes"] == (6 + 6 + 4) * 4
        assert traffic["unique_bytes"] == 12 * 4
        assert traffic["reads_untiled"] == 10 * 3 + 2 + 1


def test_centred(device: str) -> None:
    gives(device, "03_centred", "centred", (row(4, 1, 3, 2, 3), row(2, 1, 4)), [8, 21, 13, 20, 7])


class TestTwoDimensions:
    def test_valid(self, device: str) -> None:
        gives(device, "04_valid", "valid", (SQUARE, CROSS), [[30, 35], [50, 55]])

    def test_same_size(self, device: str) -> None:
        wanted = [[7, 14, 17, 11], [17, 30, 35, 22], [29, 50, 55, 34], [23, 34, 37, 27]]
        gives(device, "05_same", "same", (SQUARE, CROSS), wanted)

    def test_a_tile_stages_sixteen_values_of_thirty_six_reads(self) -> None:
        facts = facts_of("04_valid", "valid", extents={"H": 4, "W": 4})
        assert facts["traffic"]["x"]["reads_untiled"] == 36
        assert facts["footprint"]["x"] == [4, 4]
        assert facts["traffic"]["x"]["unique_bytes"] == facts["traffic"]["x"]["loaded_bytes"] == 16 * 4
        untiled = facts_of("04_valid", "valid", "untiled", {"H": 4, "W": 4})
        assert untiled["traffic"]["x"]["loaded_bytes"] == 36 * 4


@pytest.mark.parametrize(
    ("n", "threads", "wanted"),
    [(1_000_000, 256, (3907, 1_000_192, 192, 64)), (10_000, 128, (79, 10_112, 112, 16)),
     (5_000, 512, (10, 5_120, 120, 392))],
)
def test_launch(n: int, threads: int, wanted: tuple[int, ...]) -> None:
    module = compile_text(
        "kernel copy(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] } "
        f"schedule copy {{ tile (i: {threads}) threads {threads} }}")
    launch: Any = module.copy.explain(N=n)["launch"]
    assert (launch["blocks"], launch["threads"], launch["idle_threads"], launch["active_in_last_block"]) == wanted


class TestTransactions:
    @staticmethod
    def of(text: str, lanes: int, transaction: int, extents: dict[str, int] | None = None) -> Any:
        program = read_program(Source("records.layout", text))
        facts: Any = explain(program, program.kernels[0], None, Target(), extents, lanes, transaction)
        traffic = facts["traffic"]["z"]
        return traffic["transactions_per_warp"], traffic["utilization"], traffic["transaction_bytes"]

    RECORDS = "kernel f(z: f32[N, 8]) -> (y: f32[N]) {{ y[i] = z[i, {field}] }}"
    FIELDS = "kernel f(z: f32[8, N]) -> (y: f32[N]) {{ y[i] = z[{field}, i] }}"

    @pytest.mark.parametrize("extents", [None, {"N": 4}, {"N": 1024}])
    @pytest.mark.parametrize("field", range(8))
    def test_toy_warp(self, field: int, extents: dict[str, int] | None) -> None:
        assert self.of(self.RECORDS.format(field=field), 4, 16, extents) == (4, 0.25, 16)
        assert self.of(self.FIELDS.format(field=field), 4, 16, extents) == (1, 1.0, 16)

    def test_real_warp(self) -> None:
        assert self.of(self.RECORDS.format(field=2), 32, 32) == (32, 0.125, 32)
        assert self.of(self.FIELDS.format(field=2), 32, 32) == (4, 1.0, 32)

    def test_example(self) -> None:
        assert facts_of("28_records", "by_record")["traffic"]["z"]["transactions_per_warp"] == 32
        assert facts_of("28_records", "by_field")["traffic"]["z"]["transactions_per_warp"] == 4


class TestConvolutionLayer:
    EXTENTS = {"H": 8, "W": 8}      # noqa: RUF012

    def test_storage(self) -> None:
        storage = facts_of("26_conv_layer", "layer", extents=self.EXTENTS)["storage"]
        assert {i["name"]: (i["bytes"], i["copies"]) for i in storage["items"]} == {
            "x": (32, 1), "w": (36, 1), "y": (32, 1), "b": (8, 1)}
        assert storage["total_bytes"] == 108
        assert storage["shared_bytes"] == 32 + 36

    @pytest.mark.parametrize(("s", "d", "box"), [(1, 1, 4), (2, 1, 5), (1, 2, 6), (3, 2, 8)])
    def test_footprint(self, s: int, d: int, box: int) -> None:
        """(T - 1) S + (R - 1) D + 1."""
        assert box == (2 - 1) * s + (3 - 1) * d + 1
        module = load(EXAMPLES / "26_conv_layer.layout", S=s, D=d)
        facts: Any = module.layer.explain()
        assert facts["footprint"]["x"] == [2, box, box]

    def test_last_block_has_one_channel(self) -> None:
        """M = 5 with two channels a block: loads of weights and stores are masked, so are ragged rows and columns."""
        facts = facts_of("26_conv_layer", "layer", extents=self.EXTENTS)
        assert facts["launch"]["grid"] == [3, 4, 4]
        assert facts["launch"]["active_in_last_block"] == 4
        ragged = {(m["tensor"], m["axis"], m["test"]) for m in facts["masks"] if m["kind"] == "ragged"}
        assert ragged == {("y", 0, "m < 5"), ("y", 1, "i < H"), ("y", 2, "j < W"), ("w", 0, "m < 5")}

    def test_two_buffers_take_176_bytes(self) -> None:
        storage = facts_of("45_channel_blocks", "layer", "double")["storage"]
        assert {i["name"]: (i["where"], i["bytes"], i["copies"]) for i in storage["items"]} == {
            "x": ("shared", 32, 2), "w": ("shared", 36, 2), "y": ("registers", 32, 1), "b": ("registers", 8, 1)}
        assert storage["total_bytes"] == 2 * (32 + 36) + 32 + 8 == 176
        assert storage["shared_bytes"] == 136

    def test_one_channel_in_two_buffers_takes_108(self) -> None:
        storage = facts_of("45_channel_blocks", "layer", "narrow")["storage"]
        assert storage["total_bytes"] == 2 * (16 + 18) + 32 + 8 == 108
        assert storage["shared_bytes"] == 68

    def test_136_bytes_are_over_128(self) -> None:
        text = (EXAMPLES / "45_channel_blocks.layout").read_text()
        module = compile_text(text.replace("c: 1)", "c: 2)"))
        with pytest.raises(LayoutcError) as caught:
            module.layer.explain(schedule="narrow")
        diagnostic, = caught.value.diagnostics
        assert diagnostic.slug == "over-budget"
        assert "136" in diagnostic.message
        assert "128" in diagnostic.message
        assert "`tile (m: 2, i: 2, j: 2, c: 1)`, with 68 bytes" in diagnostic.help

    @pytest.mark.parametrize("schedule", [None, "double", "narrow"])
    def test_chunks(self, schedule: str | None) -> None:
        """A stride of 2 reads 5 x 5; C = 3 in chunks of 2 masks the last channel of inputs and weights."""
        size = 1 if schedule == "narrow" else 2
        module = load(EXAMPLES / "45_channel_blocks.layout", S=2, C=3) if size == 2 else load(
            EXAMPLES / "45_channel_blocks.layout", C=3)
        facts: Any = module.layer.explain(self.EXTENTS, schedule=schedule)
        assert facts["tile"] == {"m": 2, "i": 2, "j": 2, "c": size}
        assert facts["footprint"]["x"] == ([2, 5, 5] if size == 2 else [1, 4, 4])
        ragged = {(m["tensor"], m["axis"], m["test"]) for m in facts["masks"] if "c <" in m["test"]}
        assert ragged == ({("x", 0, "c < 3"), ("w", 1, "c < 3")} if size == 2 else set())

    def test_chunks_load_what_the_whole_does(self) -> None:
        """Every element once for each block that needs it, in however many chunks: 48 blocks of 2 x 2 outputs."""
        for schedule in (None, "double", "narrow"):
            traffic = facts_of("45_channel_blocks", "layer", schedule, self.EXTENTS)["traffic"]
            assert traffic["x"]["unique_bytes"] == 4 * 8 * 8
            assert traffic["x"]["loaded_bytes"] == 3 * 4 * (3 + 4 + 4 + 3) ** 2
            assert traffic["w"]["unique_bytes"] == 5 * 4 * 9
            assert traffic["w"]["loaded_bytes"] == 16 * 5 * 4 * 9

    def test_sums_stay_in_32_bits(self, device: str) -> None:
        module = load(EXAMPLES / "26_conv_layer.layout")
        x = np.full((2, 5, 7), -128, np.int8)
        w = np.full((5, 2, 3, 3), -128, np.int8)
        b = np.arange(5, dtype=np.int32)
        y = module.layer(x, w, b, device=device)
        inner = b + 2 * 9 * 128 * 128
        np.testing.assert_array_equal(y[:, 1:-1, 1:-1], np.broadcast_to(inner[:, None, None], (5, 3, 5)))
        np.testing.assert_array_equal(y, module.layer.reference(x, w, b))


@pytest.mark.parametrize(
    ("schedule", "intensity"),
    [(None, 28**2 * 25 * 2 / (32**2 * 4)), ("small", 3.125), ("cached", 0.5), ("memory", 0.25)],
)
def test_intensity(schedule: str | None, intensity: float) -> None:
    facts = facts_of("29_intensity", "filter", schedule)["intensity"]
    assert facts["ops_per_byte"] == pytest.approx(intensity, rel=1e-12)
    if schedule in (None, "small"):
        assert facts["upper_bound"] == 12.5


def test_intensity_of_the_large_tile() -> None:
    facts = facts_of("29_intensity", "filter")
    assert round(facts["intensity"]["ops_per_byte"], 2) == 9.57
    assert facts["footprint"]["x"] == [32, 32]


def test_blocked_and_striped_differ_in_their_layouts_only(device: str) -> None:
    """(4,3):(3,1) holds 3t + r, (4,3):(1,4) holds t + 4r: two owners of the same outputs."""
    module = load(EXAMPLES / "19_layouts.layout")
    x = np.arange(-12, 13, dtype=np.int32)
    for schedule in (None, "dealt"):
        np.testing.assert_array_equal(module.negate(x, schedule=schedule, device=device), -x)
    plain: Any = module.negate.explain(N=12)["threads"]
    dealt: Any = module.negate.explain(N=12, schedule="dealt")["threads"]
    assert (plain, dealt) == ({"count": 4, "layout": "(4,3):(3,1)"}, {"count": 4, "layout": "(4,3):(1,4)"})

"""The tests that users run: what they draw, what they compare, and the commands that show a failure again."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from random import Random

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutc.backend.types import numpy_dtype
from layoutc.calling.calls import Caller
from layoutc.compare import expected
from layoutc.cuda_source import CudaSource
from layoutc.diagnostics import LayoutcError
from layoutc.module import Kernel, compile, load
from layoutc.plan.nodes import Plan, Signature, Target
from layoutc.resolve.binding import check_call
from layoutc.resolve.types import TYPES
from layoutc.testing import arrays_for, assert_matches_numpy, check_case, check_kernel, extents_for
from layoutc.testing.cases import Case, arguments_of
from layoutc.testing.exactness import compared
from layoutc.testing.fills import KINDS, Fill
from layoutc.testing.forms import form_choices
from layoutc.testing.memory import Form, place
from layoutc.testing.strategies import Prepared, calls_of
from layoutc.testing.ways import other_subjects, random_ways, subject_of, with_constants, written_ways
from tests.cli_support import invoke

TEXT = """
const R = 1
const K = 2*R + 1
kernel blur(x: f32[H, W], w: f32[K, K]) -> (y: f32[H, W]) {
    edge x = nearest
    y[i, j] = sum(u in 0..K, v in 0..K) w[u, v] * x[i + u - R, j + v - R]
}
schedule blur { tile (i: 4, j: 8)  stage x in shared }
schedule blur as plain { tile (i: 2, j: 4)  stage x in global }
"""
BLUR = compile(TEXT).blur
SQUARE = compile("""
kernel square(x: f64[H, W]) -> (y: f64[H]) {
    require H == W, H >= 2
    y[i] = sum(j) exp(x[i, j])
}
""").square


# ---- checking a kernel


def test_a_right_kernel_passes(device: str) -> None:
    report = check_kernel(BLUR, examples=60, seed=1, device=device)
    assert report.ok
    assert report.examples == 60
    assert {"default", "plain"} <= set(report.schedules)
    assert any(name.startswith("{") for name in report.schedules)       # random ones
    assert any("R = " in name for name in report.schedules)             # other constants
    assert "60 examples" in report.text()
    assert f"seed {report.seed}" in report.text()


def test_the_same_seed_tests_the_same(device: str) -> None:
    one, other = (check_kernel(BLUR, examples=30, seed=7, device=device) for _ in range(2))
    assert one == other


def test_one_schedule_alone(device: str) -> None:
    assert check_kernel(BLUR, examples=10, seed=1, schedule="plain", device=device).schedules == ("plain",)


def test_every_schedule_has_its_own_examples(device: str) -> None:
    report = check_kernel(BLUR, examples=20, seed=1, all_schedules=True, device=device)
    assert report.examples == 40


def test_a_report_says_what_is_exact() -> None:
    report = check_kernel(SQUARE, examples=5, seed=1, device="cpu")
    assert report.bounded == ("sum of f64 over extents (any order)", "exp of f64 (1 ulp)")
    assert check_kernel(BLUR, examples=5, seed=1, device="cpu").bounded == ()


def test_an_unknown_schedule_is_refused() -> None:
    with pytest.raises(LayoutcError, match="no schedule `fast`"):
        check_kernel(BLUR, schedule="fast", device="cpu")


@pytest.mark.parametrize("test", ["K >= 40", "K >= 100", "K % 64 == 0, K > 0", "K > 77, K < 80", "2*K == 262"])
def test_extents_are_tried_where_requirements_admit_them(test: str, device: str) -> None:
    kernel = compile(f"kernel k(x: i32[K]) -> (y: i32[K]) {{ require {test}  y[i] = x[i] + 1 }}").k
    report = check_kernel(kernel, seed=1, device=device, examples=8)
    assert report.ok, report.text()
    assert report.examples == 8


def test_what_no_extents_satisfy_is_refused() -> None:
    kernel = compile("kernel k(x: f32[H]) -> (y: f32[H]) { require H > 4, H < 4 + H % 2  y[i] = x[i] }").k
    with pytest.raises(LayoutcError, match="requires"):
        check_kernel(kernel, device="cpu")


# ---- a failure and its command


@pytest.fixture
def flipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every text reads the window flipped."""
    honest = Caller.text

    def text(
        self: Caller, signature: Signature, fused: int | None = None, target: Target | None = None
    ) -> tuple[Plan, CudaSource]:
        plan, cuda = honest(self, signature, fused, target)
        return plan, replace(cuda, text=cuda.text.replace("w[u * ", "w[(2 - u) * "))

    monkeypatch.setattr(Caller, "text", text)


def test_a_failure_shrinks(flipped: None) -> None:
    report = check_kernel(compile(TEXT).blur, seed=3, device="cpu")
    assert not report.ok
    assert report.failure is not None
    extents = dict(report.failure.case.extents)
    assert extents == {"H": 2, "W": 1}
    assert report.failure.case.schedule is None
    assert {f.kind for f in report.failure.case.fills} == {"count"}
    assert set(report.failure.case.forms) == {Form()}
    assert "y[0, 0] is " in report.text()


def test_the_printed_command_shows_the_failure_again(
    tmp_path: Path, flipped: None
) -> None:
    path = tmp_path / "it's blur.layout"
    path.write_text(TEXT)
    found = invoke("test", str(path), "--device", "cpu", "--seed", "3", "-D", "R=1")
    assert found.exit_code == 1
    words = shlex.split(found.stdout.splitlines()[-1])
    assert words[:3] == ["layoutc", "test", str(path)]
    again = invoke(*words[1:])
    assert again.exit_code == 1
    shown = [line for line in found.stdout.splitlines() if " is " in line]
    assert shown
    assert shown == [line for line in again.stdout.splitlines() if " is " in line]


def test_a_command_of_other_constants_and_a_random_schedule() -> None:
    clauses = "{ tile (i: 3)  threads 2 }"
    case = Case((("H", 3), ("W", 2)), (Fill(), Fill("special", 4)), (Form(), Form(), Form()), schedule=clauses)
    subject = with_constants(subject_of(BLUR), {"R": 2})
    assert subject is not None
    kernel = compile(TEXT, R=2).blur
    report = check_case(kernel, case.to_json(kernel.meaning), device="cpu")
    assert report.ok
    assert report.schedules == (f"{clauses}, R = 2",)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"extents": {"H": 3}}', '{"extents": {"H": 1, "W": "x"}}',
                                  '{"extents": {"H": 1, "W": 2}, "fills": {"x": "lots"}}'])
def test_a_wrong_case_is_refused(text: str) -> None:
    with pytest.raises(LayoutcError, match="bad-case"):
        check_case(BLUR, text, device="cpu")


# ---- what is drawn


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_cases_survive_their_text(data: st.DataObject) -> None:
    (way, *_) = written_ways(subject_of(BLUR), Caller)
    extents = ({"H": 3, "W": 5}, {"H": 0, "W": 1})
    prepared = Prepared(way, extents, form_choices(way.kernel, 2, Random(1)))
    _, case = data.draw(calls_of([prepared]))
    assert Case.from_json(case.to_json(way.kernel), way.kernel) == case


def test_extents_lie_around_tiles_and_halos() -> None:
    (default, _) = written_ways(subject_of(BLUR), Caller)
    seen: list[dict[str, int]] = []

    @settings(max_examples=300, deadline=None, database=None)
    @given(extents_for(BLUR))
    def look(extents: dict[str, int]) -> None:
        check_call(BLUR.meaning, extents)
        seen.append(extents)

    look()
    assert default.plan.passes[0].tile == (4, 8)
    assert {1, 3, 4, 5, 9} <= {e["H"] for e in seen}
    assert {1, 7, 8, 9, 17} <= {e["W"] for e in seen}


@settings(max_examples=30, deadline=None)
@given(arrays_for(SQUARE))
def test_requirements_are_respected(arrays: tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], ...]) -> None:
    (x,) = arrays
    assert x.dtype == np.float64
    assert x.shape[0] == x.shape[1] >= 2


def test_random_schedules_can_be_honoured() -> None:
    ways = random_ways(subject_of(BLUR), 24, Random(5), Caller)
    assert len({w.schedule for w in ways}) == len(ways) > 20
    assert any("shared" in str(w) for w in ways)
    assert any("threads (" in str(w) or "threads over" in str(w) for w in ways)
    assert any("load x as" in str(w) for w in ways)
    assert any("store y as" in str(w) for w in ways)


def test_other_constants_follow_the_file() -> None:
    others = other_subjects(subject_of(BLUR), 2, Random(0))
    assert others
    for other in others:
        constants = dict(other.program.constants)
        if "R" in dict(other.constants):
            assert constants["K"] == 2 * constants["R"] + 1


def test_constants_set_from_outside_are_known() -> None:
    assert dict(subject_of(compile(TEXT, R=3).blur).constants) == {"R": 3}
    assert subject_of(BLUR).constants == ()


# ---- fills and forms


@pytest.mark.parametrize("type", TYPES.values(), ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_fills(kind: str, type: object) -> None:
    element = TYPES[str(type)]
    fill = Fill(kind, 0 if kind in ("count", "down") else 3)
    values = fill.values((5, 30), element)
    assert values.shape == (5, 30)
    assert values.dtype == numpy_dtype(element.name)
    assert (values.view(np.uint8) == Fill.parse(str(fill)).values((5, 30), element).view(np.uint8)).all()
    if kind in ("count", "down") and element.name != "bool":
        assert len(np.unique(values.astype(np.float64) if element.is_float else values)) == 150
    if kind == "special" and element.is_float:
        wide = fill.values((50, 50), element).astype(np.float64)
        assert np.isnan(wide).any()
        assert np.isinf(wide).any()
        assert (np.signbit(wide) & (wide == 0)).any()
        least = float(ml_dtypes.finfo(values.dtype).smallest_subnormal)  # type: ignore[no-untyped-call]
        assert (wide == least).any()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.tuples(st.integers(0, 4), st.integers(0, 4)))
def test_forms_keep_elements_apart(seed: int, shape: tuple[int, int]) -> None:
    kernel = compile("kernel k(x: i32[H, W]) -> (y: i32[H, W]) { y[i, j] = x[i, j] }").k.meaning
    values = Fill().values(shape, TYPES["i32"])
    for choices in form_choices(kernel, 2, Random(seed)):
        for form in choices[1]:
            assert not form.repeat
            placed = place(values, form.strides(shape), form.offset)
            assert (placed.view() == values).all()
            before = placed.surroundings()
            placed.view()[...] = -1
            assert placed.surroundings() == before


def test_an_overlapping_output_lies_over_its_input() -> None:
    case = Case.from_json('{"extents": {"H": 3, "W": 4}, "out": {"over": "x", "shift": 2}}', BLUR.meaning)
    made = arguments_of(BLUR.meaning, case)
    assert made.outputs is not None
    assert np.shares_memory(made.inputs[0].view(), made.outputs[0].view())
    assert (made.inputs[0].view() == np.arange(1, 13).reshape(3, 4)).all()


# ---- a user's assertion


def test_matching_arrays(device: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((9, 11)).astype(np.float32)
    for schedule in BLUR.schedules:
        assert_matches_numpy(BLUR, x[::-1], [[1, 2, 3], [4, 5, 6], [7, 8, 9]], schedule=schedule, device=device)


def test_differing_arrays_are_named(flipped: None) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    with pytest.raises(AssertionError, match=r"y\[0, 0\] is .*, expected "):
        assert_matches_numpy(compile(TEXT).blur, x, np.arange(9, dtype=np.float32).reshape(3, 3), device="cpu")


def test_from_a_file(tmp_path: Path, device: str) -> None:
    path = tmp_path / "blur.layout"
    path.write_text(TEXT)
    assert check_kernel(load(path, R=2).blur, examples=5, device=device).ok


@pytest.mark.parametrize(("type", "summed", "bits"), [
    ("f16", "f32", False), ("bf16", "f32", False), ("f32", "f32", True), ("i8", "i32", True)])
def test_sums_that_tensor_cores_may_make_are_not_said_to_agree_bit_for_bit(type: str, summed: str, bits: bool) -> None:
    kernel = compile(f"""kernel f(a: {type}[M, 64], b: {type}[N, 64]) -> (c: {summed}[M, N]) {{
        c[i, j] = sum(k in 0..64) {summed}(a[i, k]) * {summed}(b[j, k])
    }}""").f
    assert isinstance(kernel, Kernel)
    exact, bounded = compared(kernel.meaning)
    assert any(name.startswith("sum") for name in (exact if bits else bounded))
    assert not any(name.startswith("sum") for name in (bounded if bits else exact))


@pytest.mark.parametrize("type", ["f16", "f32", "f64"])
def test_squares_are_products_and_other_powers_functions(type: str) -> None:
    kernel = compile(f"kernel f(x: {type}[N]) -> (y: {type}[N], z: {type}[N]) {{ y[i] = x[i]**2  z[i] = x[i]**3 }}").f
    assert isinstance(kernel, Kernel)
    exact, bounded = compared(kernel.meaning)
    assert len(exact) >= 1
    assert len(bounded) == 1
    x = np.linspace(-3, 3, 101).astype(numpy_dtype(type))
    square, _ = expected(kernel.meaning, (x,))
    np.testing.assert_array_equal(square.low, square.high)

"""What a reader of a text stumbles over is not in it."""

from __future__ import annotations

import re

import pytest

from layoutc.compiler import default_signature, plan_kernel, read_program
from layoutc.index import Int, Name
from layoutc.plan.aliases import without_aliases
from layoutc.plan.known import without_known
from layoutc.plan.names import CPP, CUDA, RUNTIME, Names
from layoutc.plan.nodes import Target
from layoutc.plan.numbered import numbered_anew
from layoutc.plan.steps import Assign, Function, Let, Loop, When
from layoutc.plan.values import Element, Variable
from layoutc.source import Source
from tests.golden_texts import GOLDEN

TEXTS = {path.name: path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob("*.cu"))}


def text_of(kernel: str) -> str:
    program = read_program(Source("<text>", kernel))
    one = program.kernels[0]
    return plan_kernel(program, one, one.schedule(None), default_signature(one), Target())[1].text


def function_of(*body: Let | Loop | Assign | When) -> Function:
    return Function(32, "k", ("Index H",), (Let("Index", "i", Name("blockIdx.x")), *body))


@pytest.mark.parametrize("name", TEXTS)
def test_only_the_names_of_the_spec_are_other_names_of_something(name: str) -> None:
    for alias in re.findall(r"const (?:int|Index) (\w+) = [A-Za-z]\w*;", TEXTS[name]):
        assert "_" not in alias, f"{alias} says nothing"


@pytest.mark.parametrize("name", TEXTS)
def test_and_beside_or_stands_in_parentheses(name: str) -> None:
    for line in TEXTS[name].replace("\n", " ").split(";"):
        while "(" in line:      # innermost parentheses first
            line, before = re.sub(r"\(([^()]*)\)", "", line), line
            for inner in re.findall(r"\(([^()]*)\)", before):
                assert not ("||" in inner and "&&" in inner), inner
            if line == before:
                break
        assert not ("||" in line and "&&" in line), line


def test_sums_that_are_the_outputs_are_stored_from_where_they_are() -> None:
    text = text_of("""kernel k(x: f32[H, W], w: f32[3, 3]) -> (y: f32[H, W]) {
        edge x = nearest
        y[i, j] = sum(u in 0..3, v in 0..3) w[u, v] * x[i + u - 1, j + v - 1]
    }""")
    assert "y_sum" in text
    assert "y_row" not in text
    assert "y_made" not in text


@pytest.mark.parametrize("name", TEXTS)
def test_numbers_tell_apart_what_is_in_sight_at_once(name: str) -> None:
    for function in TEXTS[name].split("\n}\n"):
        for variable, base in re.findall(r"(?:float|int|Index|double|f16|i64|>) ((\w+)_2)\b(?: =|\[|;)", function):
            ours = base.split("_")[-1] not in CPP | CUDA | RUNTIME
            assert not ours or re.search(rf"\b{base}\b", function), f"{variable} beside no {base}"


def test_what_was_made_twice_for_one_purpose_is_there_once() -> None:
    names = Names()
    whole, again, other = names.take("j_whole"), names.take("j_whole"), names.take("j_end")
    value = Name("H") // 4
    use = Assign(Element("y", Name(again)), Name(other))
    lets = [Let("Index", name, value) for name in (whole, again, other)]
    (made,) = without_aliases((function_of(*lets, use),), frozenset(), False, names)
    assert made == function_of(lets[0], lets[2], Assign(Element("y", Name(whole)), Name(other)))


def test_a_number_goes_where_nothing_else_has_the_name() -> None:
    names = Names()
    first, second, third = (names.take("pack") for _ in range(3))
    lets = [Let("int", name, Name("i") + n) for n, name in enumerate((first, second, third))]
    body = (When(Name("i"), (lets[0], Assign(Element("y", Name(first)), Int(0)))),
            When(Name("i"), (lets[1], lets[2], Assign(Element("y", Name(second)), Name(third)))))
    (made,) = numbered_anew((function_of(*body),), names)
    again = (Let("int", "pack", lets[1].value), Let("int", "pack_2", lets[2].value),
             Assign(Element("y", Name("pack")), Name("pack_2")))
    assert made == function_of(body[0], When(Name("i"), again))


@pytest.mark.parametrize("name", TEXTS)
def test_zeros_are_written_in_their_type(name: str) -> None:
    arrays = re.findall(r"^ +(?:float|double) (\w+)\[", TEXTS[name], re.MULTILINE)
    for array in arrays:
        assert not re.search(rf"\b{array}\[[^\]]+\] = (?:-?\d+|float\(\)|double\(\));", TEXTS[name]), array


@pytest.mark.parametrize("name", TEXTS)
def test_no_variable_is_a_number(name: str) -> None:
    text = TEXTS[name]
    assert not re.search(r"const (?:int|Index) \w+ = \d+;", text)


def test_what_a_single_turn_declares_is_told_from_what_is_declared_beside_it() -> None:
    let = Let("float", "part", Name("i"))
    loop = Loop(True, "int", "u", Int(2), Int(3), (let, Assign(Element("y", Name("u")), Variable("part"))))
    again = Let("float", "part_2", Name("i"))
    for kept, steps, made in (
            ("", (loop,), (let, Assign(Element("y", Int(2)), Variable("part")))),
            ("", (loop, let), (again, Assign(Element("y", Int(2)), Variable("part_2")), let)),
            ("part", (loop, let), (loop, let))):
        names = Names()
        names.take("part")
        assert without_known((function_of(*steps),), {kept}, False, names) == (function_of(*made),)


def test_an_alias_goes_wherever_it_is_used() -> None:
    use = Assign(Element("y", Name("x_i") * 2), Variable("x_i"))
    function = function_of(Let("Index", "x_i", Name("i")), Loop(True, "int", "u", Int(0), Int(3), (use,)))
    (made,) = without_aliases((function,), frozenset(), False, Names())
    assert made == function_of(
        Loop(True, "int", "u", Int(0), Int(3), (Assign(Element("y", Name("i") * 2), Variable("i")),)))


def test_an_alias_stays_where_the_other_name_means_something_else() -> None:
    use = Assign(Element("y", Name("i")), Variable("x_i"))
    hidden = function_of(Let("Index", "x_i", Name("i")), Loop(True, "int", "i", Int(0), Int(3), (use,)))
    changed = function_of(Let("Index", "x_i", Name("i")), Assign(Variable("i"), Int(0)), use)
    beside = function_of(Let("Index", "x_i", Name("i")), Loop(True, "int", "u", Int(0), Int(3), (
        Let("Index", "i", Name("u") * 2), use)))
    named = function_of(Let("Index", "n", Name("i")), use)
    narrow = function_of(Loop(True, "int", "at", Int(0), Int(3), (Let("Index", "w_0", Name("at")), use)))
    for function, kept, wide in (
            (hidden, "", False), (changed, "", False), (beside, "", False), (named, "n", False), (narrow, "", True)):
        assert without_aliases((function,), frozenset(kept), wide, Names()) == (function,)


@pytest.mark.parametrize("name", TEXTS)
def test_the_lesser_of_two_is_called_so(name: str) -> None:
    assert not re.search(r"= (?:.* )?(\w+) [<>]=? ([^?]+) \? (?:\1 : \2|\2 : \1);", TEXTS[name])


@pytest.mark.parametrize("name", TEXTS)
def test_empty_lines_stand_where_declarations_follow_what_is_done(name: str) -> None:
    for function in TEXTS[name].split("\n}\n"):
        body = function.partition(") {\n")[2]
        assert not re.search(r"^    (?:\}|__syncthreads\(\);)\n    const ", body, re.MULTILINE)
        for after in re.findall(r"\n\n(.*)", body):
            assert re.match(r"    \w+[^=(]* \w+(?:\[\w+\])?(?: =|;)|    (?:SHARED|PANEL)", after), after

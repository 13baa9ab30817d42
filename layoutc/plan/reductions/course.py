"""The walk of a team over a box of points: every worker takes every so many-th run of elements side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from layoutc.index import TRUE, Call, Expr, Int, Name, compare, multiply, select
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.steps import Assign, Step, Strided, Variable, When
from layoutc.plan.values import Operation
from layoutc.plan.values import Variable as Held

Body = Callable[[tuple[Expr, ...]], None]


@dataclass(frozen=True, slots=True)
class Digit:
    """A range that is walked."""

    name: str       # as its variable would like to be called
    low: Expr
    count: Expr     # not negative
    limit: Expr     # its places stay below

    @classmethod
    def of(cls, name: str, low: Expr, count: Expr) -> Digit:
        """All of a range."""
        return cls(name, low, count, low + count)


@dataclass(frozen=True, slots=True)
class Course:
    """How the runs are dealt out: to the workers of all blocks in turn."""

    part: Expr      # the block's number among those of one tile
    parts: Expr     # how many those are
    worker: Expr
    workers: int    # of a block
    valid: Expr     # false: nothing is taken

    @property
    def first(self) -> Expr:
        """A worker's first run."""
        return self.part * self.workers + self.worker

    @property
    def step(self) -> Expr:
        """From one run to the same worker's next."""
        return self.parts * self.workers

    @property
    def wide(self) -> Course:
        """Counted in 64 bits."""
        part, parts = (e if isinstance(e, Int) else Call("i64", (e,)) for e in (self.part, self.parts))
        return replace(self, part=part, parts=parts)


def walk(
    frame: Frame, course: Course, digits: Sequence[Digit], vector: int, unroll: int, body: Body, few: bool = False
) -> None:
    """The body at the first elements of all runs of ``vector`` elements along the last range; ranges end at whole runs.

    ``body`` emits its steps for the places that it is given, one a digit; ``few``: an index counts all runs of the box.
    """
    if len(digits) == 1:
        _walk_one(frame, course, digits[0], vector, unroll, body)
    else:
        _walk_many(frame, course, digits, vector, unroll, body, few)


def split(frame: Frame, digit: Digit, vector: int) -> tuple[Digit, Digit | None]:
    """The whole runs of a range and what is left after them."""
    if vector == 1 or (isinstance(digit.count, Int) and digit.count.value % vector == 0):
        return digit, None
    name = frame.lowering.let("Index", f"{digit.name}_whole", digit.count // vector * vector)
    whole = Name(name, 0)
    return replace(digit, count=whole), Digit.of(digit.name, digit.low + whole, digit.count - whole)


def _walk_one(frame: Frame, course: Course, digit: Digit, vector: int, unroll: int, body: Body) -> None:
    lowering = frame.lowering
    high = digit.low + digit.count
    end = high
    if course.valid != TRUE:
        wanted = f"{digit.name}_end"
        end = Name(lowering.let("Index", wanted, select(course.valid, high, digit.low)))
    name = frame.names.take(digit.name)
    lowering.limits[name] = digit.limit
    with lowering.block() as steps:
        body((Name(name, digit.low.interval[0]),))
    first = digit.low + multiply(course.first, Int(vector))
    lowering.emit(Strided(unroll, "Index", name, first, end, multiply(course.step, Int(vector)), tuple(steps)))
    lowering.limits.pop(name)
    frame.names.release(name)


def _walk_many(
    frame: Frame, course: Course, digits: Sequence[Digit], vector: int, unroll: int, body: Body, few: bool
) -> None:
    """One count of all runs, and every range's place advanced with carries: nothing is divided on the way."""
    lowering, names, type = frame.lowering, frame.names, "Index" if few else "i64"
    course = course if few else course.wide
    counts = [_named(frame, f"{d.name}_count", d.count // (vector if d is digits[-1] else 1)) for d in digits]
    total: Expr = counts[0] if few else Call("i64", (counts[0],))
    for n in counts[1:]:
        total = multiply(total, n)
    runs = Name(lowering.let(type, "runs", select(course.valid, total, Int(0))))
    first, step = (Name(lowering.let(type, wanted, e), 0)
                   for wanted, e in (("first", course.first), ("step", course.step)))
    firsts, steps = (_digits_of(e, counts) for e in (first, step))
    places = []
    strides = []
    for digit, begin, stride in zip(digits, firsts, steps, strict=True):
        suffix = "_run" if digit is digits[-1] and vector > 1 else "_place" if digit.low != Int(0) else ""
        place = names.take(f"{digit.name}{suffix}")
        lowering.emit(Variable("Index", place, begin))
        strides.append(lowering.let("Index", f"{place}_step", stride))
        places.append(place)
    run = names.take("run")
    with lowering.block() as inner:
        at = []
        for digit, place in zip(digits, places, strict=True):
            here: Expr = Name(place, 0)
            whole = digit.low + here * (vector if digit is digits[-1] else 1)
            if whole != here:
                here = Name(lowering.let("Index", digit.name, whole), digit.low.interval[0])
                names.release(str(here))
            lowering.limits[str(here)] = digit.limit
            at.append(here)
        body(tuple(at))
        lowering.emit(*_advanced(places, strides, counts))
    for here in at:
        lowering.limits.pop(str(here))
    lowering.emit(Strided(unroll, type, run, first, runs, step, tuple(inner)))
    names.release(run)


def _named(frame: Frame, wanted: str, e: Expr) -> Expr:
    return e if isinstance(e, Int | Name) else Name(frame.lowering.let("Index", wanted, e), 0)


def _digits_of(e: Expr, counts: Sequence[Expr]) -> list[Expr]:
    """The places of a run's number; the first is not reduced. A range of nothing is never walked."""
    out: list[Expr] = []
    rest = e
    for n in reversed(counts[1:]):
        n = n if isinstance(n, Int) else Call("maximum", (n, Int(1)))
        out.append(rest % n)
        rest = rest // n
    return [rest, *reversed(out)]


def _advanced(places: Sequence[str], strides: Sequence[str], counts: Sequence[Expr]) -> list[Step]:
    """Every place moved on, the carries from the last to the first."""
    out: list[Step] = [Assign(Held(p), Operation("+", Held(p), Held(s))) for p, s in zip(places, strides, strict=True)]
    for number in range(len(places) - 1, 0, -1):
        here, before = Held(places[number]), Held(places[number - 1])
        carry = (Assign(here, Operation("-", here, counts[number])), Assign(before, Operation("+", before, Int(1))))
        out.append(When(compare(">=", Name(places[number]), counts[number]), carry))
    return out



"""Values of a program -> steps and C values. A strategy says only where each tensor's elements are found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, assert_never

from layoutc.index import Call, Expr, Int, Name, dot, every, not_negative
from layoutc.plan.lowering.elements import in_box, in_parts, in_stream
from layoutc.plan.lowering.greatest import greatest
from layoutc.plan.lowering.loops import reduce_value
from layoutc.plan.lowering.medians import median
from layoutc.plan.lowering.places import (
    InBox,
    InConstant,
    InGlobal,
    InParts,
    InRows,
    InStream,
    Place,
    constants,
    fold,
    row_major,
)
from layoutc.plan.lowering.reduce import Key, key_of
from layoutc.plan.names import Names
from layoutc.plan.reads.subscripts import Env, as_index
from layoutc.plan.steps import Assign, Let, Step, Unroll, Variable, When
from layoutc.plan.values import (
    Choice,
    Element,
    Function,
    Literal,
    Operation,
    Prefix,
    Text,
    convert,
    load,
    register_type,
)
from layoutc.plan.values import Variable as Held
from layoutc.resolve import program as p
from layoutc.resolve.trees import children, parts
from layoutc.resolve.types import I64

if TYPE_CHECKING:
    from layoutc.plan.kernel.sums import Sums

INTEGER = {"+": "add", "-": "sub", "*": "mul", "//": "floor_div", "%": "floor_mod", "**": "power"}
FLOAT = {"//": "floor_div", "%": "floor_mod", "**": "pow"}
RENAMED = {
    "min": "minimum", "max": "maximum", "fmin": "minimum_number", "fmax": "maximum_number",
    "abs": "absolute", "round": "rint", "isnan": "is_nan", "isinf": "is_inf",
}
MOST_EVALUATIONS = 512  # of lets in one text; through lets that fold into their domains they multiply


class EvaluationsError(Exception):
    """A let that would be written out too often."""

    def __init__(self, stage: p.Stage) -> None:
        super().__init__(stage.name)
        self.stage = stage


class Lowering:
    """Builds the steps of one function; blocks nest, and a let computed in a block is known in the blocks inside."""

    def __init__(
        self, kernel: p.Kernel, names: Names, places: Mapping[str, Place], unroll: Mapping[str, Unroll]
    ) -> None:
        self.names = names
        self.places = dict(places)
        self.local: dict[str, Expr] = {}        # a variable of the text in terms of the tile's origin
        self.items: dict[str, Expr] = {}        # a place in the tile in terms of thread and item
        self.limits: dict[str, Expr] = {}       # a variable of the text -> the extent it stays below
        self.answers: dict[Key, Text] = {}      # reductions that are made already
        self.runs: dict[tuple[str, tuple[Expr, ...]], Element] = {}     # elements that lie in registers
        self.made: dict[p.Reduce, Text] = {}    # reductions whose values are there already
        self._stages = {s.name: s for s in kernel.stages}
        self.unroll = unroll
        self._blocks: list[list[Step]] = []
        self._known: list[dict[object, Text]] = []
        self._wide: set[str] = set()
        self._rows = True                       # whether rows hold what is read here: not at folded places
        self.sums: Sums | None = None           # reductions that are made elsewhere
        self._evaluated = 0                     # lets written out

    # ---- blocks

    @contextmanager
    def block(self) -> Iterator[list[Step]]:
        """The steps emitted inside go into the yielded list."""
        steps: list[Step] = []
        self._blocks.append(steps)
        self._known.append({})
        yield steps
        self._blocks.pop()
        self._known.pop()

    def emit(self, *steps: Step) -> None:
        """Append to the innermost block."""
        self._blocks[-1].extend(steps)

    def let(self, type: str, wanted: str, value: Text) -> str:
        """A constant variable of the innermost block; its name."""
        name = self.names.take(wanted)
        self.emit(Let(type, name, value))
        return name

    def named(self, value: Text, type: str, wanted: str) -> Text:
        """The value under a name, so that it can be used twice."""
        return value if isinstance(value, Held | Literal) else Held(self.let(type, wanted, value))

    def known(self, key: object) -> Text | None:
        """What this block or one around it has made under a key."""
        return next((known[key] for known in reversed(self._known) if key in known), None)

    def remember(self, key: object, value: Text) -> Text:
        """The value, known from here on in the innermost block."""
        self._known[-1][key] = value
        return value

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """What is emitted inside is dropped, and takes no names."""
        names, evaluated = self.names, self._evaluated
        self.names = names.copy()
        with self.block():
            yield
        self.names, self._evaluated = names, evaluated

    # ---- values

    def value(self, v: p.Value, env: Env) -> Text:  # noqa: C901
        """The value in its register type; what it needs first is emitted."""
        match v:
            case p.Const(value, type):
                return Literal(value, type)
            case p.Index(name):
                return Function("i64", (env[name],))
            case p.Extent(name, type):
                return Function(register_type(type), (env[name],))
            case p.Read():
                return self._read(v, env)
            case p.Unary(op, operand, type):
                inner = self.value(operand, env)
                if op == "not":
                    return Prefix("!", inner)
                return Prefix("-", inner) if type.is_float else Function("neg", (inner,))
            case p.Binary(op, left, right, type):
                if op == "**" and type.is_float and isinstance(right, p.Const) and right.value == 2:
                    square = self.named(self.value(left, env), register_type(type), "square_of")
                    return Operation("*", square, square)
                a, b = self.value(left, env), self.value(right, env)
                named = (FLOAT if type.is_float else INTEGER).get(op)
                return Function(named, (a, b)) if named else Operation(op, a, b)
            case p.Compare(op, left, right):
                return self._compare(op, left, right, env)
            case p.Logic(op, left, right):
                return Operation("&&" if op == "and" else "||", self.value(left, env), self.value(right, env))
            case p.Where(test, yes, no):
                return Choice(self.value(test, env), self.value(yes, env), self.value(no, env))
            case p.Call(function, arguments):
                return Function(RENAMED.get(function, function), tuple(self.value(a, env) for a in arguments))
            case p.Cast(operand, type):
                return convert(self.value(operand, env), operand.type, type)
            case p.Reduce(op="median"):
                return median(self, v, env)
            case p.Reduce():
                if self.made and v in self.made:
                    return self.made[v]
                made = self.answers.get(key_of(v, env)) if self.answers else None
                if made is None and self.sums is not None:
                    made = self.sums.value(v, env)
                return made if made is not None else reduce_value(self, v, env)
        assert_never(v)

    def _compare(self, op: str, left: p.Value, right: p.Value, env: Env) -> Text:
        plain = (p.Index, p.Extent, p.Const)
        if left.type == I64 and isinstance(left, plain) and isinstance(right, plain):
            a, b = as_index(left, env), as_index(right, env)
            if a is not None and b is not None and all(abs(x.value) < 2**30 for x in (a, b) if isinstance(x, Int)):
                return Operation(op, a, b)
        return Operation(op, self.value(left, env), self.value(right, env))

    # ---- reads

    def _read(self, read: p.Read, env: Env) -> Text:
        place = self.places.get(read.tensor)
        boxed = isinstance(place, InBox) or (isinstance(place, InRows) and (self._rows or not read.indices))
        expanded = read.tensor in self._stages and not boxed
        used = self._used(self._stages[read.tensor]) if expanded else (True,) * len(read.indices)
        subscripts = tuple(
            self._subscript(i, env) if use else Int(0) for i, use in zip(read.indices, used, strict=True))
        if expanded:
            return self._stage(self._stages[read.tensor], subscripts, env)
        if (read.tensor, subscripts) in self.runs:
            return load(self.runs[read.tensor, subscripts], read.type)
        match place:
            case InConstant(array, type, extents):
                return load(Element(array, row_major(subscripts, extents)), type)
            case InRows(array, origin, strides):
                at = (s.over(self.local) - o.over(self.local) for s, o in zip(subscripts, origin, strict=True))
                return Element(array, dot(at, map(Int, strides)))
            case InParts():
                return in_parts(self, place, subscripts)
            case InBox() if boxed:
                return in_box(self, place, subscripts, env)
            case InStream():
                return in_stream(self, place, subscripts)
            case InBox(source=source) | (InGlobal() as source):
                assert source is not None
                return self.in_global(source, subscripts, env)
        raise AssertionError(f"no place for {read.tensor}")

    def _used(self, stage: p.Stage) -> tuple[bool, ...]:
        """Which of its subscripts a let's value depends on."""
        if stage.edges:
            return (True,) * len(stage.indices)
        names = {v.name for v in parts(stage.value) if isinstance(v, p.Index)}
        return tuple(i in names for i in stage.indices)

    def _subscript(self, v: p.Value, env: Env) -> Expr:
        index = as_index(v, env)
        if index is not None and (isinstance(v, p.Index) or not self._holds_data(v, env)):
            return index
        return self._wide_name(self.value(v, env))

    def _wide_name(self, value: Text) -> Name:
        """A variable of 64 bits that data decide; arithmetic on it wraps, as index expressions do not."""
        name = self.let("i64", "at", value)
        self._wide.add(name)
        return Name(name)

    def _less(self, subscript: Expr, low: Expr) -> Expr:
        if not self._is_wide(subscript) or low == Int(0):
            return subscript - low
        return self._wide_name(Function("sub", (subscript, Function("i64", (low,)))))

    def _is_wide(self, e: Expr) -> bool:
        return isinstance(e, Name) and e.id in self._wide

    def _holds_data(self, v: p.Value, env: Env) -> bool:
        """Whether an index in it stands for a place that data decide."""
        if isinstance(v, p.Index):
            return self._is_wide(env[v.name])
        return any(self._holds_data(child, env) for child in children(v))

    def in_global(self, place: InGlobal, subscripts: tuple[Expr, ...], env: Env) -> Text:
        """An element of global memory, its edge rules applied: folds inside the subscript, values by selection."""
        at, outside = self.folded(place, subscripts)
        out = load(Element(place.array, at), place.type)
        for test, value in reversed(outside):
            out = Choice(test, out, self.value(value, env))
        return out

    def folded(self, place: InGlobal, subscripts: tuple[Expr, ...]) -> tuple[Expr, list[tuple[Expr, p.Value]]]:
        """The position in a tensor's array, and what stands there instead where a test fails, the lowest axis first."""
        folded, outside = self.edges(place.edges, subscripts, place.extents)
        return dot(folded, place.strides), outside

    def edges(
        self, edges: tuple[p.Sides, ...], subscripts: tuple[Expr, ...], extents: tuple[Expr, ...]
    ) -> tuple[list[Expr], list[tuple[Expr, p.Value]]]:
        """Folded subscripts, and what stands where a test fails: the lowest axis first."""
        folded: list[Expr] = []
        outside: list[tuple[Expr, p.Value]] = []
        for subscript, n, (low, high) in zip(subscripts, extents, edges, strict=True):
            n_here = Call("i64", (n,)) if self._is_wide(subscript) else n
            low, high = (None if safe else r for r, safe in zip((low, high), self.is_inside(subscript, n), strict=True))
            folded.append(fold(subscript, n_here, low, high))
            for test, value in constants(subscript, n_here, low, high):
                if outside and outside[-1][1] == value:
                    outside[-1] = (every((outside[-1][0], test)), value)
                else:
                    outside.append((test, value))
        return folded, outside

    def is_inside(self, subscript: Expr, n: Expr) -> tuple[bool, bool]:
        """Whether the subscript is known not to be below 0, and to be below n."""
        low = subscript.interval[0]
        room = (n - 1 - greatest(subscript, self.limits)).interval[0]
        return low is not None and low >= 0, room is not None and room >= 0

    # ---- lets

    def _stage(self, stage: p.Stage, subscripts: tuple[Expr, ...], env: Env) -> Text:
        key = (stage.name, subscripts, self._rows)
        if (known := self.known(key)) is not None:
            return known
        self._evaluated += 1
        if self._evaluated > MOST_EVALUATIONS:
            raise EvaluationsError(stage)
        value = self.extended(stage, subscripts, env) if stage.edges else self.formula(stage, subscripts, env)
        if not isinstance(value, Held):
            value = Held(self.let(register_type(stage.type), stage.name, value))
        return self.remember(key, value)

    def formula(self, stage: p.Stage, subscripts: tuple[Expr, ...], env: Env) -> Text:
        """The let's formula at these subscripts."""
        return self.value(stage.value, {**env, **dict(zip(stage.indices, subscripts, strict=True))})

    def extended(self, stage: p.Stage, subscripts: tuple[Expr, ...], env: Env) -> Text:
        """A let with edges: folded into its domain, or a value where it is outside."""
        assert stage.domain is not None
        bounds = [(as_index(a, env), as_index(b, env)) for a, b in stage.domain]
        lows, highs = [a for a, _ in bounds if a is not None], [b for _, b in bounds if b is not None]
        extents = tuple(not_negative(high - low) for low, high in zip(lows, highs, strict=True))
        from_low = tuple(self._less(s, low) for s, low in zip(subscripts, lows, strict=True))
        folded, outside = self.edges(stage.edges, from_low, extents)
        at = tuple(self._folded(stage, n, f + low, s, (low, high))
                   for n, (f, low, s, high) in enumerate(zip(folded, lows, subscripts, highs, strict=True)))
        before, self._rows = self._rows, self._rows and at == subscripts
        value = self._guarded(stage, at, outside, env)
        self._rows = before
        return value

    def _folded(self, stage: p.Stage, axis: int, folded: Expr, subscript: Expr, domain: tuple[Expr, Expr]) -> Expr:
        if folded == subscript:
            return subscript
        low, high = domain
        name = self.let("Index", f"{stage.name}_{stage.indices[axis]}", folded)
        self.limits[name] = high
        return Name(name, low.interval[0])

    def _guarded(
        self, stage: p.Stage, at: tuple[Expr, ...], outside: list[tuple[Expr, p.Value]], env: Env
    ) -> Text:
        if not outside:
            return self.formula(stage, at, env)
        name = self.names.take(stage.name)
        type = register_type(stage.type)
        value = self.value(outside[-1][1], env)
        for test, nearer in reversed(outside[:-1]):
            value = Choice(test, value, self.value(nearer, env))
        self.emit(Variable(type, name, value))
        with self.block() as steps:
            self.emit(Assign(Held(name), self.formula(stage, at, env)))
        self.emit(When(every(t for t, _ in outside), tuple(steps)))
        return Held(name)

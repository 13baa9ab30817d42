"""Spec -> text: the canonical form of a file, which parses to the same tree."""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.parse.expression_text import (
    INDENT,
    SUM,
    WIDTH,
    after_word,
    binder_text,
    lines,
    listed,
    text,
)
from layoutc.parse.syntax import (
    Access,
    Assertion,
    Budget,
    Clause,
    Constant,
    Declaration,
    Edge,
    EdgeRule,
    Equation,
    Expression,
    Fuse,
    Kernel,
    LayoutDeclaration,
    Let,
    March,
    Mma,
    Redistribute,
    Require,
    Schedule,
    ScheduleClause,
    Spec,
    Stage,
    Step,
    TensorDeclaration,
    Threads,
    ThreadsOver,
    Tile,
    Unroll,
    Vector,
)
from layoutc.source import Span

MOST_IN_KERNEL, MOST_IN_SCHEDULE = 2, 4     # clauses on one line with their head


@dataclass(frozen=True, slots=True)
class Piece:
    """The lines of a clause or of a declaration without a body, and where it was written."""

    lines: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Block:
    """A declaration with a body: its head without the brace, and its clauses."""

    head: Piece
    clauses: tuple[Piece, ...]
    span: Span
    most_on_a_line: int     # clauses that may share a line with the head
    broken: tuple[Piece, ...] = ()      # of a kernel: its head with a line a tensor, all but the closing one

    def one_line(self) -> str | None:
        """The block on one line, if it is short enough."""
        if any(len(piece.lines) > 1 for piece in (self.head, *self.clauses)) or len(self.clauses) > self.most_on_a_line:
            return None
        inner = "  ".join([piece.lines[0] for piece in self.clauses])
        line = f"{self.head.lines[0]} {{ {inner} }}" if inner else f"{self.head.lines[0]} {{}}"
        return line if len(line) <= WIDTH else None


def print_spec(spec: Spec) -> str:
    """The canonical text of a tree, ending in a line end; ``parse`` gives the tree back."""
    out: list[str] = []
    previous: tuple[type[Declaration], bool] | None = None
    for declaration in spec.declarations:
        shown = block_lines(piece(declaration))
        this = type(declaration), len(shown) > 1
        if previous is not None and (this[0] is not previous[0] or this[1] or previous[1]):
            out.append("")
        out += shown
        previous = this
    return "".join([f"{line}\n" for line in out])


def block_lines(shown: Piece | Block) -> list[str]:
    """The lines of a declaration."""
    if isinstance(shown, Piece):
        return list(shown.lines)
    if line := shown.one_line():
        return [line]
    body = [INDENT + line for clause in shown.clauses for line in clause.lines]
    return [*shown.head.lines[:-1], f"{shown.head.lines[-1]} {{", *body, "}"]


def piece(declaration: Declaration) -> Piece | Block:
    """A declaration's lines, its clauses apart."""
    match declaration:
        case Constant(name, value):
            return _defined(f"const {name.id}", value, declaration.span)
        case LayoutDeclaration(name, value):
            return _defined(f"layout {name.id}", value, declaration.span)
        case Assertion(condition):
            return Piece(_opened("assert ", condition, WIDTH), declaration.span)
        case Redistribute():
            return Piece((_redistribute(declaration),), declaration.span)
        case Kernel(_, inputs, outputs, clauses):
            end = (*inputs, *outputs)[-1].span.end
            head = Piece(_kernel_head(declaration), Span(declaration.span.start, end))
            return Block(head, tuple(_clause(c) for c in clauses), declaration.span, MOST_IN_KERNEL,
                         _broken_head(declaration))
        case Schedule(kernel, name, ways):
            line = f"schedule {kernel.id} as {name.id}" if name else f"schedule {kernel.id}"
            head = Piece((line,), Span(declaration.span.start, (name or kernel).span.end))
            return Block(head, tuple(Piece((_way(w),), w.span) for w in ways), declaration.span, MOST_IN_SCHEDULE)


def _opened(opening: str, value: Expression, width: int) -> tuple[str, ...]:
    first, *rest = lines(value, width - len(opening))
    return (opening + first, *rest)


def _defined(head: str, value: Expression, span: Span) -> Piece:
    return Piece(_opened(f"{head} = ", value, WIDTH), span)


def _redistribute(r: Redistribute) -> str:
    kind = "" if r.kind == "exchange" else f"{r.kind} "
    source = text(r.source) if kind else after_word(r.source, "scatter", "gather")
    via = f" via {r.via.id}" if r.via else ""
    warp = f" warp {text(r.warp)}" if r.warp else ""
    return f"redistribute {r.name.id}: {r.type.id} = {kind}{source} -> {text(r.destination)}{via}{warp}"


# ---- kernels


def _kernel_head(kernel: Kernel) -> tuple[str, ...]:
    inputs = [_tensor(t) for t in kernel.inputs]
    outputs = [_tensor(t) for t in kernel.outputs]
    line = f"kernel {kernel.name.id}({', '.join(inputs)}) -> ({', '.join(outputs)})"
    if len(line) + len(" {") <= WIDTH:
        return (line,)
    return (*[line for part in _broken_head(kernel) for line in part.lines], ")")


def _broken_head(kernel: Kernel) -> tuple[Piece, ...]:
    """A tensor a line; where what stands between them was written, its end is that of the tensor before."""
    first = f"kernel {kernel.name.id}(" if kernel.inputs else f"kernel {kernel.name.id}() -> ("
    opening = Piece((first,), Span(kernel.span.start, kernel.name.span.end))
    sides = kernel.inputs, kernel.outputs
    takes, gives = ([Piece((f"{INDENT}{_tensor(t)},",), t.span) for t in side] for side in sides)
    between = [Piece((") -> (",), Span(takes[-1].span.end, takes[-1].span.end))] if takes else []
    return (opening, *takes, *between, *gives)


def _tensor(t: TensorDeclaration) -> str:
    strides = f":{text(t.strides, SUM)}" if t.strides else ""
    return f"{t.name.id}: {t.type.id}[{listed(t.extents)}]{strides}"


def _clause(clause: Clause) -> Piece:
    width = WIDTH - len(INDENT)
    match clause:
        case Edge(tensor, axis, low, high):
            at = f"[{text(axis)}]" if axis else ""
            rules = f"({_rule(low)}, {_rule(high)})" if high else _rule(low)
            return Piece((f"edge {tensor.id}{at} = {rules}",), clause.span)
        case Require(conditions):
            return Piece((f"require {listed(conditions)}",), clause.span)
        case Let(name, binders, value):
            head = f"let {name.id}[{', '.join([binder_text(b) for b in binders])}] = "
            return Piece(_opened(head, value, width), clause.span)
        case Equation(output, indices, value):
            return Piece(_opened(f"{output.id}[{listed(indices)}] = ", value, width), clause.span)
        case Step(given, taken):
            return Piece((f"step {given.id} = {taken.id}",), clause.span)


def _rule(rule: EdgeRule) -> str:
    return f"{rule.name.id}({text(rule.value)})" if rule.value else rule.name.id


# ---- schedules


def _way(way: ScheduleClause) -> str:
    match way:
        case Tile(sizes):
            return f"tile ({', '.join([f'{index.id}: {text(size, SUM)}' for index, size in sizes])})"
        case Threads(value):
            return f"threads {after_word(value, 'over')}"
        case ThreadsOver(tensor):
            return f"threads over {tensor.id}"
        case Stage(tensor, where, halo_global, double):
            options = (" halo global" if halo_global else "") + (" double" if double else "")
            return f"stage {tensor.id} in {where.id}{options}"
        case Access(verb, tensor, layout):
            return f"{verb} {tensor.id} as {text(layout)}"
        case Vector(elements):
            return f"vector {text(elements)}"
        case Budget(memory, amount, unit):
            return f"budget {memory.id} {text(amount)}" + (f" {unit.id}" if unit else "")
        case March(index):
            return f"march {index.id}"
        case Fuse(steps):
            return f"fuse {text(steps)}"
        case Unroll(index):
            return f"unroll {index.id}"
        case Mma(via):
            return "mma" + (f" via {via.id}" if via else "")

"""What the parser's surprise means, in the language's words.

The slugs of this package, all of them: ``syntax``, ``unexpected-end``, ``unclosed``, ``unmatched-bracket``,
``comparison-chain``, ``reserved-name``, ``unknown-character``, ``bad-number``, ``number-too-large``,
``nesting-too-deep``, ``text-too-long``; of files, ``no-such-file``, ``not-a-file``, ``unreadable-file``, ``not-utf8``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lark import Token
from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from layoutc.diagnostics import Diagnostic, Label, did_you_mean
from layoutc.parse import syntax as tree
from layoutc.parse.builder import RefusedError, name_of, span_of
from layoutc.parse.characters import explain_character
from layoutc.parse.words import CLAUSES, DECLARATIONS, EXAMPLES, expected, keywords
from layoutc.source import Span

_CLOSING = {"(": ")", "[": "]", "{": "}"}


def explain(error: UnexpectedInput, parser: InteractiveParser, text: str) -> RefusedError:
    """The diagnostic of a surprise, and its place."""
    if not isinstance(error, UnexpectedToken):
        return explain_character(text, error.pos_in_stream or 0)
    state = parser.lexer_thread.state
    accepts: set[str] = parser.accepts()  # type: ignore[no-untyped-call]
    held = tuple(parser.parser_state.value_stack)
    surprise = _Surprise(error.token, held, frozenset(accepts), text, state.last_token if state else None)
    for case in _CASES:
        if found := case(surprise):
            return found
    return _generic(surprise)


@dataclass(frozen=True, slots=True)
class _Surprise:
    """A token that cannot stand where it does."""

    token: Token
    stack: tuple[object, ...]       # what the parser holds: finished nodes, and the tokens of unfinished forms
    accepts: frozenset[str]         # the tokens that could stand here
    text: str
    last: Token | None              # the token before it

    @property
    def span(self) -> Span:
        return span_of(self.token)

    @property
    def at_end(self) -> bool:
        return self.token.type == "$END"

    @property
    def wants_expression(self) -> bool:
        return {"INTEGER", "LPAR"} <= self.accepts

    def opener(self) -> Token | None:
        """The innermost bracket that is still open."""
        closed = 0
        for part in reversed(self.stack):
            if isinstance(part, Token) and part in _CLOSING.values():
                closed += 1
            elif isinstance(part, Token) and part in _CLOSING:
                if not closed:
                    return part
                closed -= 1
        return None

    def word_before(self) -> tree.Name | None:
        """The name that stands before, whether or not the parser has taken it for one."""
        before = self.stack[-1] if self.stack else None
        if isinstance(before, Token) and before.isidentifier():
            return name_of(before)
        return before if isinstance(before, tree.Name) else None

    def form(self) -> str:
        """The innermost unfinished form, a key of EXAMPLES or nothing."""
        for part in reversed(self.stack):
            if isinstance(part, Token):
                if part.type == "LBRACE" and self._declaration().type == "KERNEL":
                    return "equation"
                if part.type in EXAMPLES:
                    return "tensor" if part.type == "KERNEL" and self.opener() else part.type
        return ""

    def outermost(self) -> Span:
        """Where the unfinished declaration begins."""
        return span_of(self._declaration())

    def _declaration(self) -> Token:
        return next((t for t in self.stack if isinstance(t, Token) and t.type in DECLARATIONS), self.token)

    def indentation(self, offset: int) -> int:
        """Blanks at the head of the line of an offset."""
        line = self.text[self.text.rfind("\n", 0, offset) + 1:offset + 1]
        return len(line) - len(line.lstrip(" \t"))


def _refuse(slug: str, message: str, span: Span, label: str = "", help: str = "", *others: Label) -> RefusedError:
    return RefusedError(Diagnostic(slug, message, label=label, help=help, others=others), span)


def _example(surprise: _Surprise) -> str:
    return f"for example `{EXAMPLES[surprise.form() or 'KERNEL']}`"


def _found(token: Token) -> str:
    return f"`{token}`" if len(token) <= 40 else f"`{token[:37]}…`"


_BEGINNING = re.compile(r"(?:.*[{};])?[ \t]*(const|layout|kernel|schedule|redistribute)[ \t]+")


def _next_begins(s: _Surprise) -> RefusedError | None:
    """A declaration begins a line, and the one before it is unfinished."""
    line = s.text.rfind("\n", 0, s.span.start) + 1
    begins = _BEGINNING.fullmatch(s.text, line, s.span.start)
    if begins:
        span = Span(*begins.span(1))
    elif s.token.type in DECLARATIONS:
        span = s.span
    else:
        return None
    opener = s.opener()
    word = s.text[span.start:span.end]
    if opener == "{" and s.indentation(span.start) > s.indentation(s.outermost().start):
        diagnostic = Diagnostic("syntax", f"`{word}` stands inside a body; a declaration stands outside",
                                help="move it before the declaration around it")
        return RefusedError(diagnostic, span, resume=span.end)
    if opener is not None:
        return _refuse("unclosed", f"a declaration begins, but `{opener}` is still open", span, "begins here",
                       f"close it with `{_CLOSING[opener]}`", Label(span_of(opener), "still open"))
    if begins and s.token.type == "NAME" and "NAME" not in s.accepts:
        return _refuse("syntax", f"expected an expression, found `{word}`", span, "a declaration begins here",
                       _example(s))
    return None


def _end_of_text(s: _Surprise) -> RefusedError | None:
    if not s.at_end:
        return None
    end = (s.last.end_pos or 0) if s.last else 0
    opener = s.opener()
    if opener is None:
        return _refuse("unexpected-end", f"the text ends where {expected(s.accepts)} is expected", Span(end, end + 1),
                       "ends here", _example(s))
    return _refuse("unclosed", f"the text ends inside `{opener}`", Span(end, end + 1), "ends here",
                   f"close it with `{_CLOSING[opener]}`", Label(span_of(opener), "still open"))


def _bracket(s: _Surprise) -> RefusedError | None:
    if s.token not in _CLOSING.values():
        return None
    opener = s.opener()
    if opener is None:
        return _refuse("unmatched-bracket", f"`{s.token}` closes nothing", s.span, "nothing is open", "remove it")
    if _CLOSING[opener] != s.token and not s.wants_expression:
        return _refuse("unmatched-bracket", f"`{opener}` is closed by `{s.token}`", s.span,
                       f"`{_CLOSING[opener]}` is expected", f"close it with `{_CLOSING[opener]}`",
                       Label(span_of(opener), "opened here"))
    return None


def _chain(s: _Surprise) -> RefusedError | None:
    if len(s.stack) < 3 or s.token.type not in ("COMPARE", "COLON"):
        return None
    left, sign, middle = s.stack[-3:]
    if not isinstance(sign, Token) or sign.type != s.token.type:
        return None
    if sign.type == "COLON":
        return _refuse("syntax", "a layout has one `:`", s.span, "a second one",
                       "nest the modes: `(4, 3):(3, 1)`")
    a, b = _written(s, left), _written(s, middle)
    return _refuse("comparison-chain", "comparisons do not chain", s.span, "a second comparison",
                   f"write `{a} {sign} {b} and {b} {s.token} …`")


def _written(s: _Surprise, node: object) -> str:
    span = getattr(node, "span", None)
    text = " ".join(s.text[span.start:span.end].split()) if isinstance(span, Span) else ""
    return text if 0 < len(text) <= 30 else "…"


def _assigned(s: _Surprise) -> RefusedError | None:
    if s.token == "=" and "COMPARE" in s.accepts:
        return _refuse("syntax", "`=` gives a name its value; it does not compare", s.span, "found here",
                       "compare with `==`")
    if s.token == "=" and s.stack[-1:] == ("=",) and s.text[s.span.start - 1] == "=":
        return _refuse("syntax", "`==` compares; it gives no value", s.span, "one `=` too many", "write `=`")
    return None


def _reserved(s: _Surprise) -> RefusedError | None:
    if s.token.type == "NOT" and s.wants_expression:
        return _refuse("syntax", "`not` binds looser than what stands before it", s.span, "needs parentheses",
                       "write `(not …)`")
    if s.token.type in ("AND", "OR", "NOT") and "NAME" in s.accepts and not s.wants_expression:
        return _refuse("reserved-name", f"`{s.token}` is reserved and cannot be a name", s.span, "a name is expected",
                       "choose another name")
    return None


def _comment(s: _Surprise) -> RefusedError | None:
    start = s.span.start
    if s.text.startswith("//", start) or s.text.startswith("/*", start) or s.text.startswith("/*", start - 1):
        return _refuse("syntax", f"expected {expected(s.accepts)}, found `{s.token}`", s.span, "",
                       "a comment begins with `#`")
    return None


def _body(s: _Surprise) -> RefusedError | None:
    """A reduction without its body."""
    if not s.wants_expression or len(s.stack) < 4 or s.stack[-1] != ")":
        return None
    op = s.stack[-4]
    if not isinstance(op, Token) or op.type != "REDUCE":
        return None
    return _refuse("syntax", f"the body of `{op}` is missing", s.span, "the body is expected here",
                   f"a reduction stands before what it reduces: `{op}(u in 0..3) x[u]`",
                   Label(span_of(op), "a reduction"))


def _late_range(s: _Surprise) -> RefusedError | None:
    if s.token != "in" or s.opener() != "(" or s.form() == "REDUCE":
        return None
    return _refuse("syntax", "an index with a range stands where a value is expected", s.span, "found here",
                   "`min` and `max` are reductions when they begin with a range: `min(u in 0..3, v) …`")


_BARE = re.compile(r"\b(min|max)\s*\(\s*(\w+)((?:\s*,\s*[A-Za-z_]\w*)+)\s*\)\s*$")


def _bare_binders(s: _Surprise) -> RefusedError | None:
    """``max(i, j) x[i, j]``: a function of two values, and what looks like the next equation."""
    if s.token.type == "NAME" and s.opener() == "(":
        word: tree.Name | None = name_of(s.token)
    elif s.accepts == {"EQUAL"}:
        word = next((part for part in reversed(s.stack) if isinstance(part, tree.Name)), None)
    else:
        word = s.word_before() if s.token == "(" else None
    begins = word.span.start if word else 0
    call = _BARE.search(s.text, max(begins - 200, 0), begins)
    if call is None:
        return None
    op, first, others = call.groups()
    return _refuse("syntax", f"`{op}` of several bare names is a function of them, not a reduction",
                   Span(*call.span(1)), "a function",
                   f"as a reduction it begins with a range: `{op}({first} in 0..…{' '.join(others.split())}) …`")


def _misspelt(s: _Surprise) -> RefusedError | None:
    """A word that is nearly a keyword, here or just before."""
    if s.token.type == "NAME" and (near := did_you_mean(s.token, keywords(s.accepts))):
        return _refuse("syntax", f"expected {expected(s.accepts)}, found `{s.token}`", s.span, "", near)
    before = s.word_before()
    if s.accepts != {"LSQB"} or before is None or s.token.type != "NAME":
        return None
    if before.id in _FOREIGN:
        return _refuse("syntax", f"`{before.id}` begins no clause", before.span, "", _FOREIGN[before.id])
    if near := did_you_mean(before.id, [word.lower() for word in CLAUSES]):
        return _refuse("syntax", f"`{before.id}` begins no clause", before.span, "", near)
    return None


_FOREIGN = {
    "if": "a choice is written `where(condition, a, b)`",
    "else": "a choice is written `where(condition, a, b)`",
    "for": "an index runs over its extent by itself; a loop that gathers is a reduction: `sum(u in 0..3) x[i + u]`",
    "return": "an output is given by its equation: `y[i, j] = …`",
    "def": "an intermediate is written `let g[i, j] = …`",
    "var": "an intermediate is written `let g[i, j] = …`",
}


def _no_indices(s: _Surprise) -> RefusedError | None:
    before = s.word_before()
    if s.accepts != {"LSQB"} or before is None:
        return None
    name = before.id if len(before.id) <= 40 else f"{before.id[:37]}…"
    if s.token in (",", ")"):
        return _refuse("syntax", f"the tensor's extents are missing after `{name}`", s.span, "`[` is expected",
                       f"a scalar is `{name}[]`, a matrix `{name}[H, W]`")
    if s.token == "=":
        return _refuse("syntax", f"`{name}` is defined without its indices", s.span, "`[` is expected",
                       f"write `{name}[i, j] = …`, for a scalar `{name}[] = …`")
    return None


def _plus(s: _Surprise) -> RefusedError | None:
    if s.token == "+" and s.wants_expression:
        return _refuse("syntax", "there is no unary `+`", s.span, "an expression is expected", "leave it out")
    return None


def _generic(s: _Surprise) -> RefusedError:
    return _refuse("syntax", f"expected {expected(s.accepts)}, found {_found(s.token)}", s.span, "", _example(s))


_CASES = (
    _next_begins, _end_of_text, _bracket, _chain, _assigned, _reserved, _comment, _body, _late_range, _bare_binders,
    _misspelt, _no_indices, _plus,
)

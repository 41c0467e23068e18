# ruff: noqa: N802, N815 -- Jinja's visitors name their methods after nodes
"""A Jinja sandbox with a limit on time and memory, for templates of other authors.

Jinja's own sandbox limits `range` only. Here each rendering has a budget of work: evaluated nodes and produced
characters. Operations with large results (powers, repetition, widths) are measured before, or refused.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import Any

from jinja2 import TemplateRuntimeError, TemplateSyntaxError, nodes
from jinja2.filters import FILTERS
from jinja2.runtime import Context, LoopContext, Macro, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS
from jinja2.visitor import NodeTransformer

MOST_WORK = 40_000_000
"""Characters read and made, and nodes evaluated times `_NODE`: a second or two."""
LONGEST_SOURCE = 30_000
"""Characters of a text; the longest that ships has 5,000."""
_NODE = 20
_LARGEST = 2**63
_FORMAT = re.compile(r"(?:[^%]|%%|%[-+0 ]?\d{0,2}(?:\.\d{1,2})?[sdifgr])*")
_THOUSANDS = re.compile(r"[^{}]*\{:,\}[^{}]*")
_WORK, _SEEN = "count work", "count size"
"""Filters that no text can name: they have a space."""
_FILTERS = (
    "abs", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float", "groupby", "int",
    "items", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse", "safe",
    "select", "selectattr", "sort", "string", "title", "trim", "truncate", "unique", "upper",
)  # fmt: skip
_NO_TESTS = ("filter", "test", "callable")
_METHODS = frozenset({"get", "items", "keys", "values"})
_NOT_READ = (nodes.Extends, nodes.Import, nodes.FromImport, nodes.Block)
_left: ContextVar[int | None] = ContextVar("_left", default=None)
"""Work that a rendering may still do; None outside of one."""


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """A sandbox in which a rendering does at most `MOST_WORK`. TemplateRuntimeError for more."""

    intercepted_binops = frozenset(["+", "-", "*", "/", "//", "%", "**"])

    def __init__(self, filters: Mapping[str, Callable[..., Any]], **options: Any) -> None:
        super().__init__(optimized=False, **options)
        self.globals.clear()
        own = {"join": _join, "replace": _replace, "round": _round, "trim": _trim}
        known = {**{name: FILTERS[name] for name in _FILTERS}, **own, **filters}
        self.filters = {name: _counted(filter_) for name, filter_ in known.items()}
        self.filters |= {_WORK: _work, _SEEN: _seen}
        tests: Mapping[str, Any] = TESTS
        self.tests = {name: _counted(test) for name, test in tests.items() if name not in _NO_TESTS}

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """Join the pieces of a text, of a block or of a macro's result."""
        return "".join(_measured(parts))

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        if len(source) > LONGEST_SOURCE:
            raise TemplateSyntaxError(f"the text is longer than {LONGEST_SOURCE:,} characters", 1, name, filename)
        tree: nodes.Template = _Bounds(name, filename).visit(super()._parse(source, name, filename))
        return tree

    def is_safe_callable(self, obj: Any) -> bool:
        """Allow macros, loops, `loop.cycle`, readers of mappings, and `"{:,}".format(number)`.

        `loop.changed` is refused, since its comparisons cannot be counted.
        """
        owner = getattr(obj, "__self__", None)
        formatted = getattr(getattr(obj, "__wrapped__", None), "__self__", None)
        return (
            (isinstance(formatted, str) and _THOUSANDS.fullmatch(formatted) is not None)
            or isinstance(obj, Macro | LoopContext)
            or (isinstance(owner, LoopContext) and getattr(obj, "__name__", "") == "cycle")
            or (isinstance(owner, Mapping) and getattr(obj, "__name__", "") in _METHODS)
        )

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Evaluate an operator on 64-bit numbers, or text that is joined, repeated or formatted without widths."""
        numbers = [isinstance(value, int | float) and abs(value) < _LARGEST for value in (left, right)]
        texts = [isinstance(value, str) for value in (left, right)]
        undefined = any(isinstance(value, Undefined) for value in (left, right))
        if operator == "*" and texts[0] and numbers[1]:
            _spend(len(left) * max(0, int(right)))
        elif operator == "%" and texts[0] and _FORMAT.fullmatch(left) and not isinstance(right, Mapping):
            _spend(100 * left.count("%"))
        elif not (undefined or (all(numbers) and operator != "**") or (any(texts) and operator == "+")):
            kinds = " and ".join(type(value).__name__ for value in (left, right))
            raise TemplateRuntimeError(f"{operator} of {kinds} is not available here")
        return super().call_binop(context, operator, left, right)


def bounded_render(render: Callable[[], str]) -> str:
    """Render one text with a share of work of its own."""
    token = _left.set(MOST_WORK)
    try:
        return render()
    finally:
        _left.reset(token)


class _Bounds(NodeTransformer):
    """Inserts the counting of work into a template, and refuses nodes that cannot be counted."""

    def __init__(self, name: str | None, filename: str | None) -> None:
        self._name, self._filename = name, filename

    def generic_visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> nodes.Node:
        if isinstance(node, _NOT_READ):
            self._refuse(node, f"{type(node).__name__.lower()} is not available")
        literal = isinstance(node, nodes.Literal) and getattr(node, "ctx", "load") == "load"
        if literal and any(not isinstance(part, nodes.Const) for part in node.find_all(nodes.Expr)):
            # A list of lists of the same list prints as any number of characters.
            self._refuse(node, "a list, tuple or mapping in a text holds constants only")
        body = getattr(node, "body", None)
        if isinstance(body, list):
            counting = _filter(nodes.Const(_NODE * sum(1 for _ in node.find_all(nodes.Node))), _WORK)
            body.insert(0, nodes.ExprStmt(counting, lineno=node.lineno))
            if isinstance(node, nodes.For) and node.test is not None:
                node.test = nodes.And(counting, node.test)
        return super().generic_visit(node, *args, **kwargs)

    def visit_Name(self, node: nodes.Name) -> nodes.Node:
        """Count the size of a variable whenever it is read: no operator makes more than it is given."""
        if node.name in ("varargs", "kwargs"):
            self._refuse(node, f"{node.name} is not available")
        return _filter(node, _SEEN) if node.ctx == "load" else node

    def visit_Getattr(self, node: nodes.Getattr | nodes.Getitem) -> nodes.Node:
        return _filter(self.generic_visit(node), _SEEN)

    visit_Getitem = visit_Getattr

    def visit_Mod(self, node: nodes.Mod) -> nodes.Node:
        """Allow a tuple of values here, since they are put into text at once."""
        node.left = self.visit(node.left)
        if isinstance(node.right, nodes.Tuple):
            node.right.items = [self.visit(item) for item in node.right.items]
        else:
            node.right = self.visit(node.right)
        return node

    def _refuse(self, node: nodes.Node, problem: str) -> None:
        raise TemplateSyntaxError(problem, node.lineno, self._name, self._filename)


def _filter(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _spend(work: int) -> None:
    known = _left.get()
    left = (MOST_WORK if known is None else known) - work
    if left < 0:
        raise TemplateRuntimeError(f"the text takes more work than {MOST_WORK:,} characters or steps")
    if known is not None:
        _left.set(left)


def _work(size: int) -> bool:
    _spend(size)
    return True


def _seen(value: Any) -> Any:
    _spend(_size(value))
    return value


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the filter or test with the sizes of its arguments and result counted."""

    @wraps(function)
    def counted(*given: Any, **named: Any) -> Any:
        _spend(_NODE + sum(map(_size, given)) + sum(map(_size, named.values())))
        made = function(*given, **named)
        if isinstance(made, Iterator):
            return _each_counted(made)
        _spend(_size(made))
        return made

    return counted


def _each_counted(values: Iterator[Any]) -> Iterator[Any]:
    for value in values:
        _spend(_NODE + _size(value))
        yield value


def _trim(value: Any, chars: str | None = None) -> str:
    text = str(value)
    _spend(len(text) * len(chars or ""))
    return text.strip(chars)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes | list | tuple | dict | set | frozenset) else 0


def _measured(parts: Iterable[str], separator: str = "") -> list[str]:
    found = []
    for part in parts:
        _spend(len(part) + len(separator) + 1)
        found.append(part)
    return found


def joined(parts: Iterable[Any], separator: str = ", ") -> str:
    """Join values as text."""
    return separator.join(_measured(map(str, parts), separator))


def _join(value: Iterable[Any], d: str = "") -> str:
    return joined(value, d)


def _replace(value: Any, old: str, new: str) -> str:
    text = str(value)
    _spend((text.count(old) + 1) * len(new))
    return text.replace(old, new)


def _round(value: float, precision: int = 0, method: str = "common") -> float:
    if not 0 <= precision <= 15:
        raise TemplateRuntimeError("round: the precision is 0 to 15")
    made: float = FILTERS["round"](value, precision, method)
    return made

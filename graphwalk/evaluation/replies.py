"""Find the values in a reply, JSON and Python literals, in time that is linear in its length."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from graphwalk.evaluation.values import parse_answer, parse_literal

_MOST_VALUES = 20_000
_MOST_UNCLOSED = 5
_MOST_BRACKETS = 400_000
"""Beyond these numbers of values, of brackets that stay open and of brackets in one value, a text is unreadable."""
_BEGINS_VALUE = re.compile(
    r"\[\s*+(?:[\[{(\]\"'-]|\d|(?:true|false|null|None|True|False)\b)|(?<!\w)\{\s*+(?:[\"'}({]|-?\d|\Z)"
)
_FOOTNOTE = re.compile(r"(?<=[\w.,;\])]) ?\[\d{1,3}\](?!\s*[\]}])")
_INSIDE = re.compile(
    r"""[\[\]{}]
      | (?<=[\[{(,:\s]) "(?:[^"\\\n]|\\.)*+"     # quotes open a text only where JSON or Python could have one,
      | (?<=[\[{(,:\s]) '(?:[^'\\\n]|\\.)*+'     # so that an apostrophe in prose is none; no text spans lines
    """,
    re.VERBOSE,
)
_CALL_INPUTS = frozenset({"arguments", "parameters", "tool_input", "action_input"})
_FENCE = re.compile(r"```[\w+#.-]*\s*\Z")
_BETWEEN_LINES = re.compile(r"(?:[\s,*•-]|\d{1,6}[.)])*+")
"""Separators of objects that make up one list."""


class Value(NamedTuple):
    """A value at text[start:end]. `stage`: "strict" (the whole text), "literal", "fenced", "lines" or "embedded".

    `repeats`: an object in it has a name twice.
    """

    value: Any
    stage: str
    start: int
    end: int
    repeats: bool = False


def find_values(text: str) -> tuple[list[Value], bool]:
    """Return the values of a text in order, and True if it also has a tool call, or brackets that hold no value.

    A value within another one is not returned separately; objects that follow each other (JSON lines) are one list.
    """
    for stage, parse in (("strict", parse_answer), ("literal", parse_literal)):
        if (whole := parse(text)) is not None:
            called = _is_call(whole.value)
            return [] if called else [Value(whole.value, stage, 0, len(text), whole.repeats)], called
    footnotes = {match.end() for match in _FOOTNOTE.finditer(text)}
    values = list[Value]()
    position = unclosed = 0
    unreadable = False
    while begin := _BEGINS_VALUE.search(text, position):
        start, end = begin.start(), _closing(text, begin.start())
        position = end or start + 1
        if end is None:
            unreadable, unclosed = True, unclosed + 1
        elif end not in footnotes:
            stage = "fenced" if _FENCE.search(text, max(0, start - 40), start) else "embedded"
            parsed = parse_answer(text[start:end])
            if parsed is None:
                parsed, stage = parse_literal(text[start:end]), "literal"
            if parsed is None or _is_call(parsed.value):
                unreadable = True
            else:
                values.append(Value(parsed.value, stage, start, end, parsed.repeats))
        if unclosed > _MOST_UNCLOSED or len(values) > _MOST_VALUES:
            return _joined(values, text), True
    return _joined(values, text), unreadable


def _closing(text: str, start: int) -> int | None:
    """Return the end of the brackets that open at `start`, outside quoted texts; None if they stay open."""
    depth = 0
    for _, token in zip(range(_MOST_BRACKETS), _INSIDE.finditer(text, start), strict=False):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if not depth:
            return token.end()
    return None


def _joined(values: Sequence[Value], text: str) -> list[Value]:
    joined = list[Value]()
    for value in values:
        last = joined[-1] if joined else value
        follows = joined and isinstance(value.value, dict) and (isinstance(last.value, dict) or last.stage == "lines")
        if follows and _BETWEEN_LINES.fullmatch(text, last.end, value.start):
            objects = last.value if last.stage == "lines" else [last.value]
            objects.append(value.value)
            joined[-1] = Value(objects, "lines", last.start, value.end, last.repeats or value.repeats)
        else:
            joined.append(value)
    return joined


def _is_call(value: Any) -> bool:
    """Return True for a tool call written as text: it holds names and values, and answers nothing."""
    if isinstance(value, list):
        return bool(value) and all(map(_is_call, value))
    return isinstance(value, dict) and (
        bool(value.keys() & _CALL_INPUTS and value.keys() & {"name", "tool", "function", "action"})
        or bool(value.keys() & {"tool_calls", "function_call"})
    )

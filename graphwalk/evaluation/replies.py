"""Values that stand in the text of a reply, in the order of the text: JSON, Python literals, and what is nearly so.

A value is looked for in the reply as a whole, in its code fences, and in every outermost pair of brackets that can be
read; what is within a value that was read is part of it. The time is linear in the length of the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from graphwalk.evaluation.brackets import match_brackets
from graphwalk.evaluation.relaxed import ascii_forms, parse_relaxed
from graphwalk.evaluation.values import parse_answer, parse_literal

_FENCE_LANGUAGE = re.compile(r"[ \t]*[\w+#.-]*[ \t]*\r?\n")
_FENCED, _EMBEDDED, _UNCLOSED = range(3)
_STAGES = ("fenced", "embedded")
_MOST_FENCES = 1000
_MOST_VALUES = 20_000
_MOST_READ = 5 * _MOST_VALUES
"""Footnotes are read too, and dropped."""
_ATTEMPT = 100
"""What one attempt to parse costs besides the length of its text, in characters."""
_FAILED_LENGTHS = 8
"""Attempts that fail may cost this many times the length of the reply, all together."""
_LITERAL_BUDGET = 2_000_000
_LITERAL_ATTEMPT = 500
"""The same for texts that are tried as something else than JSON, where that fails."""
_LITERAL = re.compile(r"[\[({'\"]|-?\d[\d.eE+-]*\Z")
"""A whole reply that may be a Python literal: `- 5` is a bullet, and `1,234` no pair."""
_CONTEXT = 40
"""Characters looked at on either side of a value."""
_BEGINS = re.compile(r"(?:\n|[:：=]|<[\w/]{1,20}>|\\boxed\{)[\s*_`$>•·(\-\d.)\\\[]*\Z")
_ENDS = re.compile(r"[ \t*_`$.!,;)\\。\]]*(?:\r?\n|\Z)")


class Found(NamedTuple):
    """A value at text[start:end]. `stage` says how it was read: "strict", "fenced", "embedded", "literal".

    `begins`: it stands at the beginning of a line or after a colon. `stated`: it does, or ends its line; otherwise
    words stand around it, and it may be no more than mentioned. `torn_from`: where the innermost list begins that
    holds it and could not be read as a whole (cut off, or malformed).
    """

    value: Any
    stage: str
    start: int
    end: int
    begins: bool = True
    stated: bool = True
    torn_from: int | None = None


class Findings(NamedTuple):
    """The values, the text in which they stand (that of a quoted JSON text, where the reply is one), and where an
    object begins that never ends.
    """

    values: list[Found]
    text: str
    broken_off: int | None = None


def find_values(text: str) -> Findings:
    """All values of a text."""
    whole, stage = parse_answer(text), "strict"
    if whole is None and _LITERAL.match(text):
        whole, stage = parse_literal(text), "literal"
    if isinstance(whole, str):
        within = _search(whole)
        values = [found._replace(stage="wrapped") for found in within.values]
        return within._replace(values=[*values, Found(whole, stage, len(whole), len(whole))])
    if whole is not None:
        return Findings([Found(whole, stage, 0, len(text))], text)
    return _search(text)


def _search(text: str) -> Findings:
    readable = ascii_forms(text)
    brackets = match_brackets(readable)
    readable_places = [
        *((start, -end, _FENCED) for start, end in _fences(text)),
        *((start, -end, _EMBEDDED) for start, end in brackets.matched),
    ]
    # An opening bracket without a partner matters to what is read behind it, and to nothing else.
    last = max(readable_places, default=(0, 0, 0))[0]
    unclosed = [(start, -len(text), _UNCLOSED) for start in brackets.unclosed if start < last]
    values = []
    for found in islice(_read(text, readable, sorted([*readable_places, *unclosed])), _MOST_READ):
        if not _is_footnote(found):
            values.append(found)
        if len(values) == _MOST_VALUES:
            break
    last = values[-1].end if values else 0
    broken = [start for start in brackets.unclosed if start >= last and _begins_object(readable, start)]
    return Findings(values, text, broken[0] if broken else None)


def _fences(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of what stands in code fences, without the name of the language; the last may have no end."""
    parts = text.split("```", 2 * _MOST_FENCES)
    position = 0
    for number, part in enumerate(parts):
        if number % 2:
            language = _FENCE_LANGUAGE.match(part)
            content = part[language.end() :] if language else part
            inner = content.strip()
            start = position + len(part) - len(content.lstrip())
            if inner:
                yield start, start + len(inner)
        position += len(part) + 3


def _read(text: str, readable: str, places: list[tuple[int, int, int]]) -> Iterator[Found]:
    """What can be read at places, which are (start, -end, kind) in ascending order: a whole before its parts."""
    attempts, torn, read_until = Attempts(text, readable), list[tuple[int, int]](), 0
    for start, minus_end, kind in places:
        end = -minus_end
        if start < read_until:
            continue
        while torn and torn[-1][1] <= start:
            torn.pop()
        value, literal = (None, False) if kind == _UNCLOSED else attempts.parse(start, end)
        if value is not None:
            read_until = end
            begins = kind == _FENCED or _begins(text, start)
            stated = begins or _ends(text, end)
            stage = "literal" if literal else _STAGES[kind]
            yield Found(value, stage, start, end, begins, stated, torn[-1][0] if torn else None)
        elif kind != _FENCED and readable[start] == "[":
            torn.append((start, end))
        if attempts.failed < 0:
            return


@dataclass
class Attempts:
    """Parses parts of a text until too much was tried in vain; `readable` is the text in its `ascii_forms`."""

    text: str
    readable: str

    def __post_init__(self) -> None:
        self.failed = _FAILED_LENGTHS * (len(self.text) + _ATTEMPT)
        self._literals = _LITERAL_BUDGET

    def parse(self, start: int, end: int) -> tuple[Any, bool]:
        """The value of a part, None where it has none; and whether it is no JSON."""
        value = parse_answer(self.text[start:end])
        if value is not None:
            return value, False
        if self._literals > 0:
            value = parse_literal(self.text[start:end])
            value = parse_relaxed(self.readable[start:end]) if value is None else value
        if value is None:
            self.failed -= end - start + _ATTEMPT
            self._literals -= end - start + _LITERAL_ATTEMPT
        return value, True


def stands_alone(text: str, start: int, end: int) -> bool:
    """True where text[start:end] begins its line, follows a colon, or ends its line."""
    return _begins(text, start) or _ends(text, end)


def _begins(text: str, start: int) -> bool:
    before = text[max(0, start - _CONTEXT) : start]
    return _BEGINS.search(before if start > _CONTEXT else "\n" + before) is not None


def _ends(text: str, end: int) -> bool:
    after = text[end : end + _CONTEXT]
    return _ENDS.match(after if end + _CONTEXT >= len(text) else after + " …") is not None


def _begins_object(text: str, start: int) -> bool:
    return text[start] == "{" and text[start + 1 : start + _CONTEXT].lstrip()[:1] in ("", '"', "'")


def _is_footnote(found: Found) -> bool:
    """`[1]` after a word."""
    value = found.value
    return not found.begins and isinstance(value, list) and len(value) == 1 and type(value[0]) is int

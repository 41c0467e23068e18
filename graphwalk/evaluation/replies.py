"""Find the values in a reply: JSON and Python literals; and words in places where an answer may be.

Every outermost pair of brackets that begins like a value is parsed once, so the time is linear in the length of the text.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from graphwalk.evaluation.values import parse_answer, parse_literal

_MOST_VALUES = 10_000
"""Of more values, only the last ones are parsed, and the others count as unreadable."""
_MOST_BRACKETS = 400_000
_BEGINS_VALUE = re.compile(
    r"\[\s*(?:[\[{(\]\"'-]|\d|(?:true|false|null|None|True|False)\b)|\{\s*(?:[\"'}({]|-?\d)|\{\s*\Z"
)
_FENCE = re.compile(r"```[\w+#.-]*\s*\Z")
_FOOTNOTE = re.compile(r"(?<=[\w.,;\])]) ?\[\d{1,3}\](?!\s*[\]}])")
_OPENING = re.compile(r"[\[{]")
_INSIDE = re.compile(
    r"""[\[\]{}]
      | (?<=[\[{(,:\s]) "(?:[^"\\\n]|\\.)*+"     # quotes open a text only where JSON or Python could have one,
      | (?<=[\[{(,:\s]) '(?:[^'\\\n]|\\.)*+'     # so that an apostrophe in prose is none; no text spans lines
    """,
    re.VERBOSE,
)
_PARTNER = {"]": "[", "}": "{"}


class Value(NamedTuple):
    """A value at text[start:end]. `stage` names how it was parsed: "strict", "fenced", "embedded", "literal"."""

    value: Any
    stage: str
    start: int
    end: int
    repeats: bool = False


class Values(NamedTuple):
    """The values of a text in order. `unreadable`: brackets begin like a value, and do not hold one."""

    values: list[Value]
    unreadable: bool = False


def find_values(text: str) -> Values:
    """Return the JSON values and Python literals of a text; a value within another one is not returned separately."""
    for stage, parse in (("strict", parse_answer), ("literal", parse_literal)):
        if (whole := parse(text)) is not None:
            return Values([Value(whole.value, stage, 0, len(text), whole.repeats)])
    footnotes = {match.end() for match in _FOOTNOTE.finditer(text)}
    spans: list[tuple[int, int]] = []
    pairs, unreadable = match_brackets(text)
    for start, end in pairs:
        if (not spans or start >= spans[-1][1]) and end not in footnotes and _BEGINS_VALUE.match(text, start):
            spans.append((start, end))
    unreadable |= len(spans) > _MOST_VALUES
    values = []
    for start, end in spans[-_MOST_VALUES:]:
        part = text[start:end]
        stage = "fenced" if _FENCE.search(text, max(0, start - 40), start) else "embedded"
        parsed = parse_answer(part)
        if parsed is None:
            parsed, stage = parse_literal(part), "literal"
        if parsed is None:
            unreadable = True
        else:
            values.append(Value(parsed.value, stage, start, end, parsed.repeats))
    return Values(values, unreadable)


def match_brackets(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Return the pairs of brackets outside quoted texts, sorted, and whether an unclosed one begins like a value."""
    pairs: list[tuple[int, int]] = []
    unclosed: list[int] = []
    opened: list[tuple[str, int]] = []
    position, count = 0, {"[": 0, "{": 0}
    while len(pairs) + len(unclosed) < _MOST_BRACKETS:
        first = _OPENING.search(text, position)
        if first is None:
            break
        position = len(text)
        for token in _INSIDE.finditer(text, first.start()):
            bracket = token[0]
            if bracket in count:
                opened.append((bracket, token.start()))
                count[bracket] += 1
            elif bracket in _PARTNER and count[_PARTNER[bracket]]:
                while (last := opened.pop())[0] != _PARTNER[bracket]:  # unclosed within the pair
                    count[last[0]] -= 1
                    unclosed.append(last[1])
                count[last[0]] -= 1
                pairs.append((last[1], token.end()))
            if not opened:  # outside of brackets, quotes mean nothing
                position = token.end()
                break
    unclosed += [start for _, start in opened]
    return sorted(pairs), any(_BEGINS_VALUE.match(text, start) for start in unclosed)


_LABELS = (
    "(?:final |correct |revised )?(?:answer|result|solution)s?", "conclusion", "correction", "total", "antwort", "ergebnis",
    "korrektur", "réponse(?: finale)?", "respuesta(?: final)?", "risposta", "resposta", "答案", "答え", "ответ",
)  # fmt: skip
_BOXED = re.compile(r"\\boxed\s*\{(?:\\(?:text|math)\w*\s*\{)?([^{}\n]{0,200})")
_BULLETS = re.compile(r"(?:^[ \t]*(?:[-*•+]|\d{1,6}[.)])[ \t]+[*`\"]*[\w.:-]*\w[*`\"]*[ \t]*(?:\n|\Z))+", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*(?:[-*•+]|\d{1,6}[.)])[ \t]", re.MULTILINE)
_TABLE = re.compile(r"^[^\n|]*\|[^\n]*\n[ \t|:]*-[-\t |:]*\n((?:[^\n|]*\|[^\n]*(?:\n|\Z))+)", re.MULTILINE)
_SEPARATORS = re.compile(r"[,;|\n、，]|\band\b|\bund\b|\bet\b|\by\b")
_DECORATION = " \t*_`~\"'$\\.!。()[]"


class Claim(NamedTuple):
    """Words in a place where an answer may be, at text[start]. `rows`: number of rows of a table or bullets of a list."""

    words: frozenset[str]
    start: int
    rows: int = 0


def find_claims(text: str, fields: Sequence[str]) -> Iterator[Claim]:
    """Yield boxed, labelled, tabulated and bulleted words. A label that holds a NUL character, or nothing, is none."""
    for match in _BOXED.finditer(text):
        if "\0" not in match[1]:
            yield Claim(_words(match[1]), match.start())
    for match in _label(tuple(fields)).finditer(text):
        if "\0" not in match[1] and match[1].strip(_DECORATION) and not match[1].strip("* ").endswith((":", "：")):
            yield Claim(_words(match[1]), match.start())
    for match in _BULLETS.finditer(text):
        yield Claim(_words(_BULLET.sub("", match[0])), match.start(), len(match[0].splitlines()))
    for match in _TABLE.finditer(text):
        yield Claim(_words(match[1]), match.start(), len(match[1].splitlines()))


@lru_cache(maxsize=100)
def _label(fields: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join((*_LABELS, *(re.escape(field).replace("_", r"[_\s]") for field in fields)))
    return re.compile(rf"(?<!\w)(?:{names})[*_`\"']*\s?(?:[:：=]|(?:is|are|lautet)\b)[*_`$ \t]*([^\n]*)", re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    parts = (part.strip(_DECORATION) for part in _SEPARATORS.split(text))
    return frozenset(part for part in parts if part)

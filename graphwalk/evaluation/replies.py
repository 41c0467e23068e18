"""Find values in the text of a reply: JSON, Python literals, and near misses of them.

The whole reply is tried first, then its code fences, then every outermost pair of brackets that can be parsed. A value
inside a parsed value is not returned separately. The time is linear in the length of the text.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from graphwalk.evaluation.values import LONGEST_LITERAL, parse_answer, parse_literal

_FENCE_LANGUAGE = re.compile(r"[ \t]*[\w+#.-]*[ \t]*\r?\n")
_FENCED, _EMBEDDED, _UNCLOSED = range(3)
_STAGES = ("fenced", "embedded")
_MOST_FENCES = 1000
_MOST_VALUES = 20_000
_MOST_READ = 5 * _MOST_VALUES
"""Footnotes are parsed too, and dropped."""
_ATTEMPT = 100
"""Fixed cost of one attempt to parse, in characters."""
_FAILED_LENGTHS = 8
"""Failed attempts may cost this many times the length of the reply, all together."""
_LITERAL_BUDGET = 2_000_000
_LITERAL_ATTEMPT = 500
"""Fixed cost of failed attempts to parse something other than JSON."""
_LITERAL = re.compile(r"[\[({'\"]|-?\d[\d.eE+-]*\Z")
"""A whole reply that may be a Python literal: `- 5` is a bullet, and `1,234` no pair."""
_CONTEXT = 40
"""Characters looked at on either side of a value."""
_OBJECT = re.compile(r"\{(?:\s{39}|\s{0,38}(?:[\"']|\Z))")
_BEGINS = re.compile(r"(?:\n|[:：=]|<[\w/]{1,20}>|\\boxed\{)[\s*_`$>•·(\-\d.)\\\[]*\Z")
_ENDS = re.compile(r"[ \t*_`$.!,;)\\。\]]*(?:\r?\n|\Z)")


class Candidate(NamedTuple):
    """A value at text[start:end]. `stage` names how it was parsed: "strict", "fenced", "embedded", "literal".

    `begins`: it begins a line or follows a colon. `stated`: it does, or ends its line; otherwise it has words on both
    sides and may only be mentioned. `torn_from`: where the innermost list begins that holds it and could not be parsed.
    """

    value: Any
    stage: str
    start: int
    end: int
    begins: bool = True
    stated: bool = True
    torn_from: int | None = None


class Candidates(NamedTuple):
    """The values, the text that holds them (for a quoted JSON text, its content), and where an object never ends."""

    values: list[Candidate]
    text: str
    broken_off: int | None = None


def find_candidates(text: str) -> Candidates:
    """Return all values of a text, in its order."""
    whole, stage = parse_answer(text), "strict"
    if whole is None and _LITERAL.match(text):
        whole, stage = parse_literal(text), "literal"
    if isinstance(whole, str):
        within = _search(whole)
        values = [found._replace(stage="wrapped") for found in within.values]
        return within._replace(values=[*values, Candidate(whole, stage, len(whole), len(whole))])
    if whole is not None:
        return Candidates([Candidate(whole, stage, 0, len(text))], text)
    return _search(text)


def _search(text: str) -> Candidates:
    readable = to_ascii(text)
    brackets = match_brackets(readable)
    spans = [
        *((start, -end, _FENCED) for start, end in _fences(text)),
        *((start, -end, _EMBEDDED) for start, end in brackets.matched),
    ]
    # An opening bracket without a partner matters only to values behind it.
    last = max(spans, default=(0, 0, 0))[0]
    spans += [(start, -len(text), _UNCLOSED) for start in brackets.unclosed if start < last]
    parsed = islice(_parse_spans(text, readable, sorted(spans)), _MOST_READ)
    values = list(islice((found for found in parsed if not _is_note(found)), _MOST_VALUES))
    last = values[-1].end if values else 0
    broken = (start for start in brackets.unclosed if start >= last and _OBJECT.match(readable, start))
    return Candidates(values, text, next(broken, None))


def _fences(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the content of code fences, without the language; the last may have no end."""
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


def _parse_spans(text: str, readable: str, spans: list[tuple[int, int, int]]) -> Iterator[Candidate]:
    """Yield the parsed values of spans (start, -end, kind) in ascending order; a whole precedes its parts."""
    parser, torn, read_until = ValueParser(text, readable), list[tuple[int, int]](), 0
    for start, minus_end, kind in spans:
        end = -minus_end
        if start < read_until:
            continue
        while torn and torn[-1][1] <= start:
            torn.pop()
        value, literal = (None, False) if kind == _UNCLOSED else parser.parse(start, end)
        if value is not None:
            read_until = end
            begins = kind == _FENCED or _begins(text, start)
            stated = begins or _ends(text, end)
            stage = "literal" if literal else _STAGES[kind]
            yield Candidate(value, stage, start, end, begins, stated, torn[-1][0] if torn else None)
        elif kind != _FENCED and readable[start] == "[":
            torn.append((start, end))
        if parser.failed < 0:
            return


def _is_note(found: Candidate) -> bool:
    """Return True for a footnote: `[1]` after a word."""
    value = found.value
    return not found.begins and isinstance(value, list) and len(value) == 1 and type(value[0]) is int


def is_stated(text: str, start: int, end: int) -> bool:
    """Return True if text[start:end] begins its line, follows a colon, or ends its line."""
    return _begins(text, start) or _ends(text, end)


def _begins(text: str, start: int) -> bool:
    before = text[max(0, start - _CONTEXT) : start]
    return _BEGINS.search(before if start > _CONTEXT else "\n" + before) is not None


def _ends(text: str, end: int) -> bool:
    after = text[end : end + _CONTEXT]
    return _ENDS.match(after if end + _CONTEXT >= len(text) else after + " …") is not None


@dataclass
class ValueParser:
    """Parses parts of a text until too many attempts failed; `readable` is the text as `to_ascii` returns it."""

    text: str
    readable: str

    def __post_init__(self) -> None:
        self.failed = _FAILED_LENGTHS * (len(self.text) + _ATTEMPT)
        self._literals = _LITERAL_BUDGET

    def parse(self, start: int, end: int) -> tuple[Any, bool]:
        """Return the value of a part, None if it has none, and whether it is something other than JSON."""
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


_RELAXED_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\\n]|\\.)*+["\\]?+|'(?:[^'\\\n]|\\.)*+['\\]?+)
      | (?P<comment>//[^\n]*+|/\*.*?(?:\*/|\Z))
      | (?P<comma>,(?=\s*+[\]}]))
      | (?P<name>\b[A-Za-z_]\w*+(?=\s*+:))
      | (?P<word>\b(?:null|true|false)\b)
    """,
    re.VERBOSE | re.DOTALL,
)
_PYTHON_WORDS = {"null": "None", "true": "True", "false": "False"}


def parse_relaxed(text: str) -> Any:
    """Return the value of JSON with comments, trailing commas or unquoted names, in ASCII; None if it has none."""
    if len(text) > LONGEST_LITERAL:
        return None
    if '{\\"' in text or '[\\"' in text:
        text = text.replace('\\"', '"')

    def replaced(token: re.Match[str]) -> str:
        if token["comment"] or token["comma"]:
            return " "
        return json.dumps(token["name"]) if token["name"] else token[0]

    strict = _RELAXED_TOKEN.sub(replaced, text)
    value = parse_answer(strict)
    if value is not None:
        return value
    return parse_literal(_RELAXED_TOKEN.sub(lambda token: _PYTHON_WORDS.get(token[0], token[0]), strict))


_OTHER_SCRIPTS = {
    "[": "［【〔", "]": "］】〕", "{": "｛", "}": "｝", "(": "（", ")": "）",
    ",": "，、،", ":": "：", ";": "；", ".": "．",
    '"': "“”„‟″＂", "'": "‘’‚", "-": "−–", " ": "\u00a0\u200b\u2009\u202f\u3000\ufeff",
    **{str(digit): chr(ord("０") + digit) for digit in range(10)},
}  # fmt: skip
_TO_ASCII = {ord(other): form for form, others in _OTHER_SCRIPTS.items() for other in others}


def to_ascii(text: str) -> str:
    """Replace brackets, quotes, commas, digits and spaces of other scripts, character by character."""
    return text if text.isascii() else text.translate(_TO_ASCII)


_OPENING = re.compile(r"[\[{]")
_INSIDE = re.compile(
    r"""[\[\]{}]
      | (?<=[\[{,:\s]) "(?:[^"\\\n]|\\.)*+"      # quotes open a text only where JSON or Python could have one,
      | (?<=[\[{,:\s]) '(?:[^'\\\n]|\\.)*+'      # so that an apostrophe in prose is none; no text spans lines
    """,
    re.VERBOSE,
)
_PARTNER = {"]": "[", "}": "{"}
_MOST_BRACKETS = 400_000
"""Brackets looked at; an answer behind more of them is not found."""


class Brackets(NamedTuple):
    """`matched`: (start, end) of pairs, sorted by start. `unclosed`: opening brackets without a partner, ascending."""

    matched: list[tuple[int, int]]
    unclosed: list[int]


def match_brackets(text: str) -> Brackets:
    """Match square and curly brackets outside quoted texts; skip closing ones without a partner."""
    spans: list[tuple[int, int]] = []
    unclosed: list[int] = []
    opened: list[tuple[str, int]] = []
    open_count = {"[": 0, "{": 0}
    position, left = 0, _MOST_BRACKETS
    while left and (first := _OPENING.search(text, position)):
        for token in _INSIDE.finditer(text, first.start()):
            position, bracket, left = token.end(), token[0], left - 1
            if bracket in open_count:
                opened.append((bracket, token.start()))
                open_count[bracket] += 1
            elif bracket in _PARTNER and open_count[_PARTNER[bracket]]:
                # What is left open inside the pair has no partner.
                while (last := opened.pop())[0] != _PARTNER[bracket]:
                    open_count[last[0]] -= 1
                    unclosed.append(last[1])
                open_count[last[0]] -= 1
                spans.append((last[1], position))
            if not (opened and left):
                break
        else:
            break
    unclosed += [start for _, start in opened]
    return Brackets(sorted(spans), sorted(unclosed))

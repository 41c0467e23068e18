"""Brackets in running text, matched in one pass."""

import re
from typing import NamedTuple

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
    """`matched` are (start, end) of pairs, by start: a pair comes before those within it. `unclosed` are positions of
    opening brackets without a partner, in ascending order.
    """

    matched: list[tuple[int, int]]
    unclosed: list[int]


def match_brackets(text: str) -> Brackets:
    """Square and curly brackets; those in quoted texts do not count, closing ones without a partner are skipped."""
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
                spans.append((_close(_PARTNER[bracket], opened, open_count, unclosed), position))
            if not (opened and left):
                break
        else:
            break
    unclosed += [start for _, start in opened]
    return Brackets(sorted(spans), sorted(unclosed))


def _close(bracket: str, opened: list[tuple[str, int]], open_count: dict[str, int], unclosed: list[int]) -> int:
    """Take the innermost open `bracket` and everything left open within it off the stack; where it began."""
    while True:
        top, start = opened.pop()
        open_count[top] -= 1
        if top == bracket:
            return start
        unclosed.append(start)

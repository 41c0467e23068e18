"""Answers as a model writes and reads them: a prefix that names the result, and a list.

Nodes are numbers, components lists of numbers, edges and distances triples in round brackets. Which of several lists
counts is decided as everywhere (`graphwalk.evaluation.extraction`), with two differences: a list counts only after its
prefix, and an empty one counts like any other, since a state may be empty. A list that cannot be parsed is taken item
by item, what cannot be read stays text, and the reading is lossy.

Replies are hostile: no text raises, and reading takes time linear in its length.
"""

import re
from collections.abc import Iterator
from typing import Any

from graphwalk.evaluation.extraction import Extraction, Reading, choose, visible_text
from graphwalk.evaluation.replies import ValueParser, is_stated, match_brackets, to_ascii
from graphwalk.evaluation.values import parse_json

PREFIXES = {
    "bfs": "Reachable Nodes:",
    "dfs": "Connected Components:",
    "dijkstra": "Distances:",
    "floyd_warshall": "Distances:",
    "mst_prim": "MST Edges:",
}
TRIPLES = frozenset({"dijkstra", "floyd_warshall", "mst_prim"})

_DECORATION = r"(?:\s*```\w*\n)?[\s*_`$]*"
_BRACKET_OR_COMMA = re.compile(r"[\[\](){},]")
_ROUND_TO_SQUARE = str.maketrans("()", "[]")
_LONGEST_ITEM = 200
"""Characters that are kept of an item that cannot be read."""


def write_list(algorithm: str, items: list[Any]) -> str:
    """The list of an answer; triples in round brackets."""
    return str([tuple(item) for item in items]) if algorithm in TRIPLES else str(items)


def write_answer(algorithm: str, items: list[Any]) -> str:
    """An answer as the model is asked to give it."""
    return f"{PREFIXES[algorithm]} {write_list(algorithm, items)}"


def read_answer(algorithm: str, reply: str) -> Extraction:
    """The items of the list that counts; without a prefix there is no answer.

    Stage "strict": the reply is the answer and nothing else; "embedded": the answer stands in other text.
    """
    text = visible_text(reply)
    readings = list(_readings(algorithm, text))
    if not readings:
        return Extraction()
    chosen = choose([r for r in readings if r.stage] or readings[-1:], asked=True)
    alone = not text[: chosen.start].strip() and not text[chosen.end :].strip()
    return Extraction(chosen.answer, "strict" if alone else "embedded", chosen.lossy)


def answer_start(algorithm: str, text: str) -> tuple[int, int] | None:
    """Start of the last prefix and of what follows it; letter case and Markdown decoration do not matter."""
    found = None
    for found in _prefixes(algorithm, text):  # noqa: B007
        pass
    return None if found is None else found.span()


def _prefixes(algorithm: str, text: str) -> Iterator[re.Match[str]]:
    words = PREFIXES[algorithm].removesuffix(":").replace(" ", r"[ \t]+")
    return re.finditer(rf"\b{words}[*_`]*[ \t]*:{_DECORATION}", text, re.IGNORECASE)


def _readings(algorithm: str, text: str) -> Iterator[Reading]:
    """What follows each prefix; where that is no list, one item that cannot be read, of stage None."""
    readable = to_ascii(text)
    ends = dict(match_brackets(readable).matched)
    prefixes, attempts = list(_prefixes(algorithm, readable)), ValueParser(text, readable)
    read_until = 0
    for number, prefix in enumerate(prefixes):
        start = prefix.end()
        stage: str | None = "embedded"
        if prefix.start() < read_until:
            continue
        following = prefixes[number + 1].start() if number + 1 < len(prefixes) else len(text)
        if start in ends:
            end = ends[start]
            items, lossy = _items(attempts, start, end)
        elif readable.startswith("[", start):
            end = following
            items, lossy = _split_items(readable[start:end]), True
        else:
            end = min(following, (text.find("\n", start) + 1 or len(text) + 1) - 1)
            items, lossy, stage = [text[start:end].strip()[:_LONGEST_ITEM]], True, None
        read_until = end
        yield Reading(items, stage, prefix.start(), end, is_stated(text, prefix.start(), end), lossy)


def _items(attempts: ValueParser, start: int, end: int) -> tuple[list[Any], bool]:
    """The items of a list in its brackets, and whether some could not be read."""
    value = parse_json(attempts.readable[start:end].translate(_ROUND_TO_SQUARE))
    if value is None:
        value, _ = attempts.parse(start, end)
    return (value, False) if isinstance(value, list) else (_split_items(attempts.readable[start:end]), True)


def _split_items(text: str) -> list[Any]:
    """The items between the commas of a list that may have no end; those that cannot be read stay text."""
    parts, start, depth = list[str](), 1, 0
    for token in _BRACKET_OR_COMMA.finditer(text):
        mark = token[0]
        if mark == ",":
            if depth == 1:
                parts.append(text[start : token.start()])
                start = token.end()
            continue
        depth += 1 if mark in "[({" else -1
        if depth == 0:
            last = text[start : token.start()].strip()
            return [_item(part) for part in (*parts, last)[: None if last else -1]]
    return [*map(_item, parts), text[start:].strip()[:_LONGEST_ITEM]]


def _item(text: str) -> Any:
    value = parse_json(text.translate(_ROUND_TO_SQUARE))
    return text.strip()[:_LONGEST_ITEM] if value is None else value

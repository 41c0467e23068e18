"""Writing and parsing of answers: a prefix that names the result, and a list.

Nodes are numbers, components lists of numbers, edges and distances triples in round brackets. Of several lists,
`graphwalk.evaluation.extraction` chooses one. Two rules differ: a list needs its prefix, and an empty list counts,
because a state may be empty. A list that is not JSON is split into items; unreadable items stay text (lossy).

Replies are untrusted: no text raises an error, and parsing takes time linear in its length.
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
"""Characters kept of an unreadable item."""


def write_list(algorithm: str, items: list[Any]) -> str:
    """Return the list of an answer, with triples in round brackets."""
    return str([tuple(item) for item in items]) if algorithm in TRIPLES else str(items)


def write_answer(algorithm: str, items: list[Any]) -> str:
    """Return an answer in the requested format."""
    return f"{PREFIXES[algorithm]} {write_list(algorithm, items)}"


def read_answer(algorithm: str, reply: str) -> Extraction:
    """Extract the items of the answer; without a prefix there is no answer.

    Stage "strict" means that the reply is only the answer, "embedded" that it contains other text.
    """
    text = visible_text(reply)
    readings = list(_readings(algorithm, text))
    if not readings:
        return Extraction()
    chosen = choose([r for r in readings if r.stage] or readings[-1:], asked=True)
    alone = not text[: chosen.start].strip() and not text[chosen.end :].strip()
    return Extraction(chosen.answer, "strict" if alone else "embedded", chosen.lossy)


def answer_start(algorithm: str, text: str) -> tuple[int, int] | None:
    """Return the start and end of the last prefix; letter case and Markdown decoration are ignored."""
    found = list(_prefixes(algorithm, text))
    return found[-1].span() if found else None


def _prefixes(algorithm: str, text: str) -> Iterator[re.Match[str]]:
    words = PREFIXES[algorithm].removesuffix(":").replace(" ", r"[ \t]+")
    return re.finditer(rf"\b{words}[*_`]*[ \t]*:{_DECORATION}", text, re.IGNORECASE)


def _readings(algorithm: str, text: str) -> Iterator[Reading]:
    """Yield a reading per prefix; text without a list becomes one unreadable item with stage None."""
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
    """Return the items of a list in brackets, and True if some are unreadable."""
    value = parse_json(attempts.readable[start:end].translate(_ROUND_TO_SQUARE))
    if value is None:
        value, _ = attempts.parse(start, end)
    return (value, False) if isinstance(value, list) else (_split_items(attempts.readable[start:end]), True)


def _split_items(text: str) -> list[Any]:
    """Return the items between the commas of a possibly unclosed list; unreadable ones stay text."""
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

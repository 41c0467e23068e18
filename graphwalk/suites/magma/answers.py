"""Answers as a model writes and reads them: a prefix that names the result, and a list.

Nodes are numbers, components lists of numbers, edges and distances triples in round brackets. Replies are hostile: no
text raises, and reading takes time linear in its length.
"""

import re
from typing import Any

from graphwalk.scoring.extraction import strip_thinking
from graphwalk.scoring.values import parse_json
from graphwalk.suites.suite import Extraction

PREFIXES = {
    "bfs": "Reachable Nodes:",
    "dfs": "Connected Components:",
    "dijkstra": "Distances:",
    "floyd_warshall": "Distances:",
    "mst_prim": "MST Edges:",
}
TRIPLES = frozenset({"dijkstra", "floyd_warshall", "mst_prim"})

_DECORATION = r"[\s*_`$]*"
_BRACKET_OR_COMMA = re.compile(r"[\[\](),]")
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
    """The items that follow the last prefix; items that cannot be read stay text. Without a prefix there is no answer.

    Stage "strict": the reply is the answer and nothing else; "embedded": the answer stands in other text.
    """
    text = strip_thinking(reply)
    prefix = answer_start(algorithm, text)
    if prefix is None:
        return Extraction()
    items, rest = _list_items(text[prefix[1] :])
    alone = not text[: prefix[0]].strip() and not rest.strip()
    return Extraction(items, "strict" if alone else "embedded")


def answer_start(algorithm: str, text: str) -> tuple[int, int] | None:
    """Start of the last prefix and of what follows it; letter case and Markdown decoration do not matter."""
    words = PREFIXES[algorithm].removesuffix(":").replace(" ", r"[ \t]+")
    found = None
    for found in re.finditer(rf"\b{words}[*_`]*[ \t]*:{_DECORATION}", text, re.IGNORECASE):  # noqa: B007
        pass
    return None if found is None else found.span()


def _list_items(text: str) -> tuple[list[Any], str]:
    """The items of the list that a text begins with, and the text after it. Anything else is one unreadable item."""
    if not text.startswith("["):
        line, _, rest = text.partition("\n")
        return [line.strip()[:_LONGEST_ITEM]], rest
    parts, start, depth = list[str](), 1, 0
    for token in _BRACKET_OR_COMMA.finditer(text):
        mark = token[0]
        if mark == ",":
            if depth == 1:
                parts.append(text[start : token.start()])
                start = token.end()
            continue
        depth += 1 if mark in "[(" else -1
        if depth == 0:
            last = text[start : token.start()].strip()
            return [_item(part) for part in (*parts, last)[: None if last else -1]], text[token.end() :]
    return [*map(_item, parts), text[start:].strip()[:_LONGEST_ITEM]], ""


def _item(text: str) -> Any:
    value = parse_json(text.translate(_ROUND_TO_SQUARE))
    return text.strip()[:_LONGEST_ITEM] if value is None else value

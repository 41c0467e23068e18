"""Writing and reading of answers: a prefix that names the result, and a list.

Nodes are numbers, components lists of numbers, edges and distances triples in round brackets.
"""

import re
from functools import cache
from typing import Any

from graphwalk.evaluation.extraction import Extraction, ReplyForm, extract, visible_text
from graphwalk.evaluation.values import parse_answer, parse_literal

PREFIXES = {
    "bfs": "Reachable Nodes:",
    "dfs": "Connected Components:",
    "dijkstra": "Distances:",
    "floyd_warshall": "Distances:",
    "mst_prim": "MST Edges:",
}
TRIPLES = frozenset({"dijkstra", "floyd_warshall", "mst_prim"})

_OPEN_LIST = re.compile(r"\[((?:[^\[\]()]|\([^()]*\)|\[[^\[\]]*\])*+)")
_ITEM = re.compile(r"\s*(\([^()]*\)|\[[^\[\]]*\]|[^,]*+)\s*(?:,|\Z)")
_LONGEST_ITEM = 200
"""Characters kept of an unreadable item."""


def write_list(algorithm: str, items: list[Any]) -> str:
    """Return the list of an answer, with triples in round brackets."""
    return str([tuple(item) for item in items]) if algorithm in TRIPLES else str(items)


def write_answer(algorithm: str, items: list[Any]) -> str:
    return f"{PREFIXES[algorithm]} {write_list(algorithm, items)}"


def read_answer(algorithm: str, reply: str) -> Extraction:
    """Extract the items of the answer; without a prefix there is no answer.

    Stage "strict" means that the reply is only the answer, "embedded" that it contains other text. A list that cannot
    be read is split into items, of which the unreadable ones stay text (lossy), and so does text in place of a list.
    """
    text = visible_text(reply)
    form = ReplyForm(lambda value: Extraction(value) if isinstance(value, list) else None, prefix=_prefix(algorithm))
    extraction, prefixes = extract(text, form), list(_prefix(algorithm).finditer(text))
    if not prefixes:
        return Extraction()
    if extraction.answer is None:
        start, end = prefixes[-1].span()
        items, rest = _split_items(text[end:])
        return Extraction(items, "embedded" if (text[:start] + rest).strip() else "strict", lossy=True)
    return extraction


@cache
def _prefix(algorithm: str) -> re.Pattern[str]:
    """Return the pattern of the prefix; letter case and Markdown decoration are ignored."""
    words = PREFIXES[algorithm].removesuffix(":").replace(" ", r"[ \t]+")
    return re.compile(rf"\b{words}[*_`]*[ \t]*:(?:\s*```\w*\n)?[\s*_`$}}]*", re.IGNORECASE)


def _split_items(text: str) -> tuple[list[Any], str]:
    """Return the items of the list that begins a text, the last as text if the list stays open, and the text after."""
    opened = _OPEN_LIST.match(text)
    if opened is None:
        line, _, rest = text.partition("\n")
        return [line.strip()[:_LONGEST_ITEM]], rest
    parts = [part.strip() for part in _ITEM.findall(opened[1].rstrip(", \n"))][:-1]
    items = [
        part[:_LONGEST_ITEM] if (value := parse_answer(part) or parse_literal(part)) is None else value.value
        for part in parts
    ]
    if text[opened.end() : opened.end() + 1] != "]":
        items[-1:] = [opened[1].rpartition(",")[2].strip()[:_LONGEST_ITEM]]
    return items, text[opened.end() + 1 :]

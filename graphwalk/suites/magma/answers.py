"""Write, read and score answers: a prefix that names the result, and a list.

Nodes are numbers, components lists of numbers, edges and distances triples in round brackets.
"""

import re
from collections.abc import Hashable
from dataclasses import asdict
from functools import cache
from typing import Any

from graphwalk.graphs.answers import parse_answer, parse_literal
from graphwalk.suites.extraction import Extraction, ReplyForm, extract, visible_text
from graphwalk.suites.magma.algorithms import WEIGHTED
from graphwalk.suites.rows import NOTHING_RIGHT, compare_sets
from graphwalk.suites.suite import Score

PREFIXES = {
    "bfs": "Reachable Nodes:",
    "dfs": "Connected Components:",
    "dijkstra": "Distances:",
    "floyd_warshall": "Distances:",
    "mst_prim": "MST Edges:",
}
ERRORS = ("missing_prefix", "false_negatives", "hallucinations", "invalid_items")

_OPEN_LIST = re.compile(r"\[((?:[^\[\]()]|\([^()]*\)|\[[^\[\]]*\])*+)")
_ITEM = re.compile(r"\s*(\([^()]*\)|\[[^\[\]]*\]|[^,]*+)\s*(?:,|\Z)")


def write_list(algorithm: str, items: list[Any]) -> str:
    """Return the list of an answer, with triples in round brackets."""
    return str([tuple(item) for item in items]) if algorithm in WEIGHTED else str(items)


def write_answer(algorithm: str, items: list[Any]) -> str:
    return f"{PREFIXES[algorithm]} {write_list(algorithm, items)}"


def read_answer(algorithm: str, reply: str) -> Extraction:
    """Extract the items of the answer; without a prefix there is no answer.

    Stage "strict" means that the reply is only the answer, "embedded" that it contains other text. A list that cannot
    be read is split into items, of which the unreadable ones stay text (lossy), and so does text in place of a list.
    """
    text = visible_text(reply)
    prefixes = list(_prefix(algorithm).finditer(text))
    if not prefixes:
        return Extraction()
    form = ReplyForm(lambda value: Extraction(value) if isinstance(value, list) else None, prefix=_prefix(algorithm))
    if (extraction := extract(text, form)).answer is not None:
        return extraction
    start, end = prefixes[-1].span()
    items, rest = _split_items(text[end:])
    return Extraction(items, "embedded" if (text[:start] + rest).strip() else "strict", lossy=True)


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
        return [line.strip()], rest
    items: list[Any] = []
    for part in map(str.strip, _ITEM.findall(opened[1].rstrip(", \n"))[:-1]):
        value = parse_answer(part) or parse_literal(part)
        items.append(part if value is None else value.value)
    if text[opened.end() : opened.end() + 1] != "]":
        items[-1:] = [opened[1].rpartition(",")[2].strip()]
    return items, text[opened.end() + 1 :]


class MagmaScore(Score):
    """The score of a reply against the state that the task asks for; `correct` is an exact match.

    `missing_prefix` is 0 or 1; without a prefix there is no answer, and nothing else is counted. `false_negatives`
    counts missing items, `hallucinations` items that are not in the state. `invalid_items` is 1 if any item has the
    wrong type or shape.
    """

    missing_prefix: int = 0
    false_negatives: int = 0
    hallucinations: int = 0
    invalid_items: int = 0


def judge(algorithm: str, extraction: Extraction, target: list[Any]) -> MagmaScore:
    """Score the items of a reply. They and the target are sets: order and repetition do not count."""
    reading = {"extraction_stage": extraction.stage, "lossy": extraction.lossy}
    if extraction.answer is None:
        return MagmaScore(**asdict(NOTHING_RIGHT), **reading, missing_prefix=1)
    forms = [canonical(algorithm, item) for item in extraction.answer]
    invalid, right = forms.count(None), {canonical(algorithm, item) for item in target}
    answered = {object() if form is None else form for form in forms}  # every invalid item is a wrong one
    compared = compare_sets(answered, right)
    hallucinations = compared.false_positives - invalid
    errors = {"false_negatives": len(right - answered), "hallucinations": hallucinations}
    scores = {**asdict(compared), "false_positives": hallucinations}
    return MagmaScore(**scores, **reading, **errors, invalid_items=min(invalid, 1))


def canonical(algorithm: str, item: Any) -> Hashable | None:
    """Return a form in which equal items are equal, or None for a wrong type or shape.

    An undirected edge, or the distance of a pair, is the same from both ends; Dijkstra's source comes first.
    """
    if algorithm == "bfs":
        return item if _is_node(item) else None
    if not isinstance(item, list):
        return None
    if algorithm not in WEIGHTED:
        return frozenset(item) if item and all(map(_is_node, item)) else None
    if len(item) != 3 or not (_is_node(item[0]) and _is_node(item[1]) and type(item[2]) in (int, float)):
        return None
    i, j, number = item
    return (i, j, float(number)) if algorithm == "dijkstra" else (min(i, j), max(i, j), float(number))


def _is_node(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

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
    # [0, 2], [[0, 2], [1]] or [(0, 2, 4.0)]
    if algorithm in WEIGHTED:
        items = [tuple(item) for item in items]
    return str(items)


def write_answer(algorithm: str, items: list[Any]) -> str:
    return f"{PREFIXES[algorithm]} {write_list(algorithm, items)}"


def read_states(algorithm: str, reply: str) -> Extraction:
    """Extract the items of the answer; without a prefix there is no answer.

    Stage "strict" means that the reply is only the answer, "embedded" that it contains other text. A list that cannot
    be read is split into items, of which the unreadable ones stay text (lossy), and so does text in place of a list.
    """
    text = visible_text(reply)
    prefixes = list(_prefix(algorithm).finditer(text))
    if not prefixes:
        return Extraction()
    extraction = extract(text, ReplyForm(_read_list, prefix=_prefix(algorithm)))
    if extraction.answer is not None:
        return extraction

    # Distances: [(0, 1, 4.0), (0, 2, unknown)]
    start, end = prefixes[-1].span()
    items, rest = _split_items(text[end:])
    other_text = text[:start] + rest
    return Extraction(items, "embedded" if other_text.strip() else "strict", lossy=True)


def _read_list(value: Any) -> Extraction | None:
    return Extraction(value) if isinstance(value, list) else None


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
    # The pattern also matches the empty text at the end.
    parts = _ITEM.findall(opened[1].rstrip(", \n"))[:-1]
    for part in parts:
        text_of_item = part.strip()
        parsed = parse_answer(text_of_item) or parse_literal(text_of_item)
        items.append(text_of_item if parsed is None else parsed.value)
    is_closed = text[opened.end() : opened.end() + 1] == "]"
    if not is_closed:
        # [0, 1, 12 may have been cut off in the middle of 123.
        _, _, last_item = opened[1].rpartition(",")
        items[-1:] = [last_item.strip()]
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


def score_states(algorithm: str, extraction: Extraction, target: list[Any]) -> MagmaScore:
    """Score the items of a reply. They and the target are sets: order and repetition do not count."""
    if extraction.answer is None:
        return MagmaScore(
            **asdict(NOTHING_RIGHT),
            extraction_stage=extraction.stage,
            lossy=extraction.lossy,
            missing_prefix=1,
        )
    right = {canonical(algorithm, item) for item in target}
    answered: set[Hashable] = set()
    invalid = 0
    for item in extraction.answer:
        form = canonical(algorithm, item)
        if form is None:
            invalid += 1
            # Every invalid item is a wrong one of its own.
            answered.add(object())
        else:
            answered.add(form)

    compared = compare_sets(answered, right)
    hallucinations = compared.false_positives - invalid
    scores = asdict(compared)
    scores["false_positives"] = hallucinations
    return MagmaScore(
        **scores,
        extraction_stage=extraction.stage,
        lossy=extraction.lossy,
        false_negatives=len(right - answered),
        hallucinations=hallucinations,
        invalid_items=min(invalid, 1),
    )


def canonical(algorithm: str, item: Any) -> Hashable | None:
    """Return a form in which equal items are equal, or None for a wrong type or shape.

    An undirected edge, or the distance of a pair, is the same from both ends; Dijkstra's source comes first.
    """
    if algorithm == "bfs":
        return item if _is_node(item) else None
    if not isinstance(item, list):
        return None
    if algorithm == "dfs":
        is_component = bool(item) and all(_is_node(node) for node in item)
        return frozenset(item) if is_component else None

    # [0, 2, 4.0]
    if len(item) != 3:
        return None
    i, j, number = item
    if not _is_node(i) or not _is_node(j) or type(number) not in (int, float):
        return None
    if algorithm == "dijkstra":
        return (i, j, float(number))
    return (min(i, j), max(i, j), float(number))


def _is_node(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

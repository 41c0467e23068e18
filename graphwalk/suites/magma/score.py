"""Score the state in a model's reply."""

from collections.abc import Hashable
from typing import Any

from graphwalk.evaluation.extraction import Extraction
from graphwalk.evaluation.rows import compare_sets
from graphwalk.suites.magma.answers import TRIPLES
from graphwalk.types.episode import Score

ERRORS = ("missing_prefix", "false_negatives", "hallucinations", "invalid_items")


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
    if extraction.answer is None:
        nothing = {"correct": False, "precision": 0.0, "recall": 0.0, "f1": 0.0, "false_positives": 0}
        return MagmaScore(**nothing, extraction_stage=extraction.stage, lossy=extraction.lossy, missing_prefix=1)
    forms = [canonical(algorithm, item) for item in extraction.answer]
    invalid, right = forms.count(None), {canonical(algorithm, item) for item in target}
    answered = {object() if form is None else form for form in forms}  # every invalid item is a wrong one
    compared = compare_sets(answered, right)
    return MagmaScore(
        correct=compared.correct,
        precision=compared.precision,
        recall=compared.recall,
        f1=compared.f1,
        false_positives=compared.false_positives - invalid,
        extraction_stage=extraction.stage,
        lossy=extraction.lossy,
        false_negatives=len(right - answered),
        hallucinations=compared.false_positives - invalid,
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
    if algorithm not in TRIPLES:
        return frozenset(item) if item and all(map(_is_node, item)) else None
    if len(item) != 3 or not (_is_node(item[0]) and _is_node(item[1]) and type(item[2]) in (int, float)):
        return None
    i, j, number = item
    return (i, j, float(number)) if algorithm == "dijkstra" else (min(i, j), max(i, j), float(number))


def _is_node(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

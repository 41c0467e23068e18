"""Judging one state: exact match, set F1, and the four classes of errors."""

from collections.abc import Hashable
from typing import Any

from pydantic import BaseModel, ConfigDict

from graphwalk.suites.magma.answers import TRIPLES

ERRORS = ("missing_prefix", "false_negatives", "hallucinations", "invalid_items")


class StepScore(BaseModel):
    """One reply against the state after `step` (from 1).

    `missing_prefix` is 0 or 1; without a prefix nothing else is counted, since there is no answer to look at.
    `false_negatives` counts missing items, `hallucinations` items that should not be there; `invalid_items` is 1 if any
    item has the wrong type or shape, however many there are.
    """

    model_config = ConfigDict(frozen=True)

    step: int
    exact: bool = False
    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0
    missing_prefix: int = 0
    false_negatives: int = 0
    hallucinations: int = 0
    invalid_items: int = 0


def judge(algorithm: str, step: int, items: list[Any] | None, gold: list[Any]) -> StepScore:
    """Items of a reply (None: no prefix) against the target. Both are sets: order and repetition do not count."""
    if items is None:
        return StepScore(step=step, missing_prefix=1)
    forms = [canonical(algorithm, item) for item in items]
    given = {form for form in forms if form is not None}
    invalid = forms.count(None)
    target = {canonical(algorithm, item) for item in gold}
    right = len(given & target)
    precision = _share(right, len(given) + invalid, empty=not target)
    recall = _share(right, len(target), empty=not given and not invalid)
    return StepScore(
        step=step,
        exact=given == target and not invalid,
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall) if precision and recall else 0.0,
        false_negatives=len(target - given),
        hallucinations=len(given - target),
        invalid_items=min(invalid, 1),
    )


def canonical(algorithm: str, item: Any) -> Hashable | None:
    """A form in which equal items are equal; None for a wrong type or shape.

    An undirected edge, or the distance of a pair, is the same from both ends; Dijkstra's source comes first.
    """
    if algorithm == "bfs":
        return item if _is_node(item) else None
    if not isinstance(item, list):
        return None
    if algorithm not in TRIPLES:
        return frozenset(item) if item and all(map(_is_node, item)) else None
    if len(item) != 3 or not (_is_node(item[0]) and _is_node(item[1]) and _is_number(item[2])):
        return None
    i, j, number = item
    return (i, j, float(number)) if algorithm == "dijkstra" else (min(i, j), max(i, j), float(number))


def _share(part: int, whole: int, *, empty: bool) -> float:
    """part / whole; of nothing, everything if nothing was right."""
    return part / whole if whole else float(empty)


def _is_node(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

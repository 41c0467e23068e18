"""Which rows the results of an episode's tools prove (docs/method.md, Scores).

A row is supported where the question's reference evaluator finds it in the part of the graph that was seen, and no
relationship that was not seen could change that.
"""

import re
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache

from graphwalk.scoring.rows import row_set
from graphwalk.scoring.values import normalise
from graphwalk.suites.questions.catalogue import PythonPart, python_part
from graphwalk.suites.questions.evidence.indexes import PossibleGraph, SeenGraph
from graphwalk.suites.questions.evidence.shown import Pair, Shown, shown_by
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.types.episode import Trajectory
from graphwalk.types.values import Row

RowTuple = tuple[Hashable, ...]
"""The scored fields of a row, as `graphwalk.scoring.rows.row_set` has them."""

_MOST_ROWS = 1_000_000
"""An evaluator is listened to for so many rows."""
_MOST_OPEN = 2_000
"""Nodes not seen with all of their relationships, beyond which it is not worked out what there may be besides."""
_NAMES = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"")
_NOT_ONLY_GROWING = re.compile(
    r"\b(not|optional|with|order|limit|skip|call|is|count|collect|min|max|sum|avg|size|all|none|single|reduce)\b", re.I
)
"""Words without which a query only finds more rows where a graph has more. That there are no others is Cypher's; a
word too many costs time and changes nothing."""


def supported_rows(task: QuestionTask, trajectory: Trajectory, rows: Sequence[Row]) -> frozenset[RowTuple] | None:
    """Those of `rows` that the tool results prove.

    None where that cannot be told: the question has no evaluator, no result is of a form that is understood, the
    tools hide what the question is about (directions, properties of relationships), or too much was left open.
    Never raises, whatever stands in the results.
    """
    wanted = frozenset(row for row in row_set(rows, task.scored_fields) if None not in row)
    part = _evaluator(task.template) if task.oracles == 2 else None
    if part is None:
        return None
    try:
        shown = shown_by(trajectory)
        return _proven(task, part, shown, wanted) if shown.understood else None
    except Exception:
        # Untold, and whatever an evaluator makes of half a graph: then nothing can be told.
        return None


def _proven(
    task: QuestionTask, part: PythonPart, shown: Shown, wanted: frozenset[RowTuple]
) -> frozenset[RowTuple] | None:
    seen = SeenGraph(shown)
    found = _found(task, part, seen, wanted)
    if not found or only_grows(task.cypher):
        return found
    if sum(not shown.closed(key) for key in seen.nodes) > _MOST_OPEN:
        return None
    possible = PossibleGraph(seen, shown, shown.pairs or _any_pairs(task, seen))
    return _found(task, part, possible, found)


@lru_cache(maxsize=64)
def _evaluator(question: str) -> PythonPart | None:
    """Remembered: looking for the parts that other packages bring takes longer than many a question."""
    return python_part(question)


def only_grows(cypher: str) -> bool:
    """True for a query that keeps every row where a graph gets more nodes and relationships."""
    return not _NOT_ONLY_GROWING.search(_NAMES.sub("", cypher))


def _found(task: QuestionTask, part: PythonPart, index: GraphIndex, wanted: frozenset[RowTuple]) -> frozenset[RowTuple]:
    """The wanted rows that the evaluator finds; it is stopped when it has found them all."""
    left = set(wanted)
    for row in _first(part.rows(index, **task.parameters), _MOST_ROWS):
        if not left:
            break
        left.discard(tuple(normalise(row.get(field)) for field in task.scored_fields))
    return wanted - left


def _first(rows: Iterator[Row], most: int) -> Iterator[Row]:
    return (row for _, row in zip(range(most), rows, strict=False))


def _any_pairs(task: QuestionTask, seen: SeenGraph) -> frozenset[Pair]:
    """Where the prompt has no schema, anything may be joined with anything."""
    named = {str(value) for name, value in task.parameters.items() if "label" in name}
    types = {str(value) for name, value in task.parameters.items() if "type" in name}
    labels = named | set(seen.nodes_of)
    return frozenset(
        (source, type_, target)
        for source in labels
        for target in labels
        for type_ in types | set(seen.relationships_of) | {""}
    )

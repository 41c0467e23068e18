"""A question as it was walked: the graph so far, and the answer against the target row by row."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphwalk.report.declared import ResultRecord
from graphwalk.report.scenes import Fate, Scene, StateTable
from graphwalk.scoring.rows import row_set, typed_rows
from graphwalk.suites.walked import walked_scene
from graphwalk.types.episode import Trajectory
from graphwalk.types.values import Row
from graphwalk.types.wire import from_dict

_MOST_ROWS = 2_000
"""Rows of an answer that are laid out beside the target."""


def question_scene(record: ResultRecord) -> Scene:
    """Any rows are compared by the fields that are scored."""
    task = record["task"]
    rows = [row for row in record["answer"] or () if isinstance(row, dict)][:_MOST_ROWS]
    given = typed_rows(rows, task["gold"], task["scored_fields"])
    marked = list(_marked(given, task["gold"], task["scored_fields"]))
    asked = {str(value) for value in task["parameters"].values()} - set(_labels(task))
    answered = {str(v): fate for fate, row in reversed(marked) for v in row.values() if isinstance(v, str | int)}
    return walked_scene(from_dict(Trajectory, record["trajectory"]), asked, answered, _table(task, marked))


def _marked(given: Sequence[Row], gold: Sequence[Row], fields: Sequence[str]) -> Iterator[tuple[Fate, Row]]:
    """Every row of the answer, then those of the target that are not in it."""
    target, named = row_set(gold, fields), row_set(given, fields)
    for row in given:
        yield ("right" if row_set([row], fields) <= target else "wrong"), row
    for row in gold[:_MOST_ROWS]:
        if not row_set([row], fields) <= named:
            yield "missed", row


def _table(task: Mapping[str, Any], marked: Sequence[tuple[Fate, Row]]) -> StateTable:
    fields = tuple(task["answer_fields"])
    one = task["mode"] != "set"
    note = "One of the target's rows is enough." if one and len(task["gold"]) > 1 else ""
    return StateTable(fields, tuple((fate, *(row.get(field) for field in fields)) for fate, row in marked), note)


def _labels(task: Mapping[str, Any]) -> Iterator[str]:
    """Names of labels, types and properties, which nodes may have as a value too."""
    for name, value in task["parameters"].items():
        if name.endswith(("label", "type", "property", "hops")):
            yield str(value)

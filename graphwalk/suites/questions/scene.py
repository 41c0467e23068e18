"""The scene of an episode with a question."""

from typing import TYPE_CHECKING

from graphwalk.errors import counted
from graphwalk.evaluation.rows import row_set, typed_rows
from graphwalk.reports.scene import Scene, StateTable, marked_items, trajectory_of
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.suites.walked import walked_scene

if TYPE_CHECKING:
    from graphwalk.suites.questions.task import QuestionTask

_MOST_ROWS = 2_000
"""Rows of answer and target in the picture."""


def question_scene(task: "QuestionTask", record: ResultRecord) -> Scene:
    """Return the scene of an episode; rows are compared by their scored fields."""
    target, scored_fields, fields = task.target, task.scored_fields, task.answer_fields
    rows = [row for row in record["answer"] or () if isinstance(row, dict)][:_MOST_ROWS]
    any_one = task.mode != "set"
    answer_rows = typed_rows(rows, target, scored_fields)
    marked = list(marked_items(answer_rows, target, lambda row: row_set([row], scored_fields)))[:_MOST_ROWS]
    if any_one and any(fate == "right" for fate, _ in marked):
        marked = [(fate, row) for fate, row in marked if fate != "missed"]
    # Names of labels, types and properties, which nodes may also have as a value, are not looked for.
    names = {str(v) for name, v in task.parameters.items() if name.endswith(("label", "type", "property", "hops"))}
    values = {str(value) for value in task.parameters.values()} - names
    answered = {str(v): fate for fate, row in reversed(marked) for v in row.values() if isinstance(v, str | int)}
    note = f"Any one of {counted(len(target), 'row')} is correct." if any_one and len(target) > 1 else ""
    table = StateTable(fields, tuple((fate, *(row.get(field) for field in fields)) for fate, row in marked), note)
    return walked_scene(record, trajectory_of(record), values, answered, table)

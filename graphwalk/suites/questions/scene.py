"""The scene of an episode with a question."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from graphwalk.errors import counted
from graphwalk.evaluation.rows import row_set, typed_rows
from graphwalk.reports.scene import Fate, Scene, StateTable, trajectory_of
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.suites.walked import walked_scene
from graphwalk.types.values import Row

if TYPE_CHECKING:
    from graphwalk.suites.questions.task import QuestionTask

_MOST_ROWS = 2_000
"""Rows of answer and target in the picture."""


def question_scene(task: "QuestionTask", record: ResultRecord) -> Scene:
    """Return the scene of an episode; rows are compared by their scored fields."""
    gold, scored_fields, fields = task.gold, task.scored_fields, task.answer_fields
    rows = [row for row in record["answer"] or () if isinstance(row, dict)][:_MOST_ROWS]
    any_one = task.mode != "set"
    marked = list(_marked(typed_rows(rows, gold, scored_fields), gold, scored_fields, any_one=any_one))
    # Names of labels, types and properties, which nodes may also have as a value, are not looked for.
    names = {str(v) for name, v in task.parameters.items() if name.endswith(("label", "type", "property", "hops"))}
    values = {str(value) for value in task.parameters.values()} - names
    answered = {str(v): fate for fate, row in reversed(marked) for v in row.values() if isinstance(v, str | int)}
    note = f"Any one of {counted(len(gold), 'row')} is correct." if any_one and len(gold) > 1 else ""
    table = StateTable(fields, tuple((fate, *(row.get(field) for field in fields)) for fate, row in marked), note)
    return walked_scene(record, trajectory_of(record), values, answered, table)


def _marked(
    rows: Sequence[Row], gold: Sequence[Row], fields: Sequence[str], *, any_one: bool
) -> Iterator[tuple[Fate, Row]]:
    """Yield every row of the answer, then the missing rows of the target; with `any_one` only if none is answered."""
    target, answered = row_set(gold, fields), row_set(rows, fields)
    for row in rows:
        yield ("right" if row_set([row], fields) <= target else "wrong"), row
    for row in () if any_one and target & answered else gold[:_MOST_ROWS]:
        if not row_set([row], fields) <= answered:
            yield "missed", row

"""Scoring of answers to questions, with the cause of a wrong one (docs/method.md, Scores)."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from graphwalk.evaluation.extraction import Extraction, strip_thinking
from graphwalk.evaluation.rows import compare_rows, missing_fields, row_set, typed_rows, unknown_fields
from graphwalk.evaluation.suppressed import suppressed
from graphwalk.suites.questions.scoring.groundedness import RowTuple, supported_rows
from graphwalk.tools.observed import is_key
from graphwalk.tools.observed_values import Evidence, holds_row, tool_evidence, waste_of
from graphwalk.types.episode import Score, Trajectory
from graphwalk.types.values import Row

if TYPE_CHECKING:
    from graphwalk.suites.questions.task import QuestionTask

ErrorClass = Literal[
    "wrong_form", "wrong_start", "no_answer", "unreadable", "invented", "misread", "extra_rows", "missing_rows"
]
_MOST_ROWS = 10_000
"""Rows of an answer that are checked for groundedness."""


class QuestionScore(Score):
    """The score of one answer (docs/method.md, Scores).

    * `strict_correct`: false for answers that the turn limit forced.
    * `all_properties_correct`: all fields are correct, not only those that identify a row; None if these are the same.
    * `keys_correct`: the fields that identify a row are correct; None if these are all fields.
    * `any_tied_correct`: correct if any of the tied rows is, with the paper's query; None without ties.
    * `extra_fields`, `missing_fields`: unexpected and missing names.
    * `grounded`: share of the first 10,000 rows that the tool results prove; None if unknown.
    * `error_class`: the cause of a wrong answer.
    """

    strict_correct: bool
    all_properties_correct: bool | None = None
    keys_correct: bool | None = None
    any_tied_correct: bool | None = None
    extra_fields: tuple[str, ...] = ()
    missing_fields: tuple[str, ...] = ()
    error_class: ErrorClass | None = None
    repeated_calls: int = 0
    tool_errors: int = 0


def score_question(task: "QuestionTask", setting: str, trajectory: Trajectory, extraction: Extraction) -> QuestionScore:
    """Score an answer against the target and the tool results."""
    rows: list[Row] | None = extraction.answer
    any_one, fields = task.mode != "set", task.answer_fields
    compared = compare_rows(rows, task.target, task.scored_fields, any_one=any_one)
    forced = trajectory.exit_status.forced or any(turn.forced for turn in trajectory.turns)
    keys = task.key_fields or task.scored_fields

    def correct_in(compared_fields: tuple[str, ...]) -> bool | None:
        """Return whether these fields are correct; None if a row has no others than those that identify it."""
        if set(keys) == set(fields):
            return None
        return compare_rows(rows, task.target, compared_fields, any_one=any_one).correct

    with_ties = [*task.target, *task.rows_left_out]
    any_tied = compare_rows(rows, with_ties, task.scored_fields, any_one=True).correct if task.rows_left_out else None
    evidence: dict[str, Any] = {}
    missing: list[str] = []
    with suppressed("evidence", missing.append):
        answer = typed_rows(rows or [], task.target, task.scored_fields)[:_MOST_ROWS]
        # Columns of a model's own query may contain anything, so their evidence is unknown.
        proven = supported_rows(task, trajectory, [*answer, *task.target]) if setting == "tools" else None
        if answer and proven is not None:
            grounded = sum(row_set([row], task.scored_fields) <= proven for row in answer)
            evidence["grounded"] = grounded / len(answer)
        if not compared.correct:
            evidence["error_class"] = why_wrong(task, trajectory, None if rows is None else answer, proven)
        evidence |= asdict(waste_of(trajectory))
    return QuestionScore(
        **asdict(compared),
        extraction_stage=extraction.stage,
        lossy=extraction.lossy,
        strict_correct=compared.correct and not forced,
        all_properties_correct=correct_in(fields),
        keys_correct=correct_in(keys),
        any_tied_correct=any_tied,
        extra_fields=unknown_fields(rows or [], fields),
        missing_fields=missing_fields(rows or [], fields),
        missing="".join(missing),
        **evidence,
    )


def why_wrong(
    task: "QuestionTask", trajectory: Trajectory, rows: Sequence[Row] | None, proven: frozenset[RowTuple] | None
) -> ErrorClass:
    """Return the first cause that fits a wrong answer (docs/method.md, Causes of wrong answers).

    `rows` is None for a reply without a readable answer; `proven` are the rows of answer and target that the tool
    results prove, None if that is unknown.
    """
    target, answered = row_set(task.target, task.scored_fields), row_set(rows or (), task.scored_fields)
    sufficient = proven is not None and (target <= proven if task.mode == "set" else bool(target & proven))
    reply = strip_thinking(trajectory.reply)
    in_form = rows and not missing_fields(rows, task.scored_fields)
    if not in_form and (sufficient or proven is None) and _names_target(task, reply):
        return "wrong_form"
    if not _start_found(task, trajectory):
        return "wrong_start"
    if not rows:
        return "unreadable" if rows is None and reply.strip() else "no_answer"
    if proven is not None:
        plain = [field for field in task.scored_fields if field not in task.computed_fields]
        values = (row[field] for row in rows for field in plain if row.get(field) is not None)
        if not answered <= proven and not all(map(tool_evidence(trajectory).holds, values)):
            return "invented"
    if sufficient:
        return "misread"
    return "extra_rows" if answered - target else "missing_rows"


def _names_target(task: "QuestionTask", text: str) -> bool:
    """Return True if a text contains the values of every row of the target, or of one if one is enough."""
    evidence = Evidence([text])
    named = (holds_row(row, task.scored_fields, evidence) for row in task.target)
    return all(named) if task.mode == "set" else any(named)


def _start_found(task: "QuestionTask", trajectory: Trajectory) -> bool:
    """Return False if no accepted call names a start node of the question, and no result shows it."""
    calls = [result for result in trajectory.results if not result.is_note and not result.final]
    accepted = (result for result in calls if result.error is None)
    seen = Evidence(text for result in accepted for text in (result.call.arguments, result.content))
    starts = [value for name, value in task.parameters.items() if is_key(name)]
    return not calls or all(map(seen.holds, starts))

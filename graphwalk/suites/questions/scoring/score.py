"""Scoring of answers to questions, with the class of error (docs/method.md, Scores)."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from graphwalk.evaluation.extraction import Extraction, strip_thinking
from graphwalk.evaluation.rows import RowScore, compare_rows, missing_fields, row_set, typed_rows, unknown_fields
from graphwalk.evaluation.suppressed import suppressed
from graphwalk.suites.questions.scoring.groundedness import supported_rows
from graphwalk.tools.observed_values import Evidence, holds_row, tool_evidence, waste_of
from graphwalk.types.episode import Score, Trajectory
from graphwalk.types.values import Row

if TYPE_CHECKING:
    from graphwalk.suites.questions.task import QuestionTask

ErrorClass = Literal["no_answer", "unreadable", "invented", "unsupported", "incomplete", "misread", "unverifiable"]
Cause = Literal[
    "wrong_form",
    "wrong_start",
    "fixation",
    "gave_up",
    "wrong_property",
    "invented",
    "miscounted",
    "extra_rows",
    "missing_rows",
]
_MOST_ROWS = 10_000
"""Rows of an answer that are checked for groundedness."""


class QuestionScore(Score):
    """The score of one answer (docs/method.md, Scores).

    * `strict_correct`: false for answers that the turn limit forced.
    * `all_properties_correct`: all fields are correct, not only those that identify a row; None if these are the same.
    * `keys_correct`: the fields that identify a row are correct; None if these are all fields.
    * `any_tied_correct`: correct if any of the tied rows is, with the paper's query; None without ties.
    * `rows_given`: rows of the extracted answer. `extra_fields`, `missing_fields`: unexpected and missing names.
    * `grounded`: share of the first 10,000 rows that the tool results prove; None if unknown.
    * `evidence_sufficient`: the results prove every row of the target, or one if one is enough.
    * `last_mile`: only the format is wrong; the reply contains the correct answer, and its evidence was observed.

    Wrong answers have an `error_class`, a `failure` with `failure_detail`, and an `ignored_condition` if one explains
    them; see `graphwalk.suites.questions.scoring.failures.Failure`.
    """

    strict_correct: bool
    all_properties_correct: bool | None = None
    keys_correct: bool | None = None
    any_tied_correct: bool | None = None
    answered: bool
    rows_given: int
    extra_fields: tuple[str, ...] = ()
    missing_fields: tuple[str, ...] = ()
    error_class: ErrorClass | None = None
    evidence_sufficient: bool | None = None
    last_mile: bool = False
    repeated_calls: int = 0
    tool_errors: int = 0
    think_calls: int = 0
    parallel_calls: int = 0
    failure: Cause | None = None
    failure_detail: str | None = None
    ignored_condition: str | None = None


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
        audit = _Audit(task, setting, trajectory, typed_rows(rows or [], task.target, task.scored_fields))
        evidence = {
            "grounded": audit.grounded,
            "error_class": _error_class(rows, compared, trajectory, audit),
            "evidence_sufficient": audit.sufficient,
            "last_mile": not compared.correct
            and audit.sufficient is not False
            and not (rows and not missing_fields(rows, task.scored_fields))
            and names_target(task, strip_thinking(trajectory.reply)),
            **asdict(waste_of(trajectory)),
        }
    return QuestionScore(
        **asdict(compared),
        extraction_stage=extraction.stage,
        lossy=extraction.lossy,
        strict_correct=compared.correct and not forced,
        all_properties_correct=correct_in(fields),
        keys_correct=correct_in(keys),
        any_tied_correct=any_tied,
        answered=bool(rows),
        rows_given=len(rows or []),
        extra_fields=unknown_fields(rows or [], fields),
        missing_fields=missing_fields(rows or [], fields),
        missing="".join(missing),
        **evidence,
    )


class _Audit:
    """Groundedness of answer and target; None without tools or if unknown.

    `invented`: a value of the answer that is not computed is in no tool result.
    """

    def __init__(self, task: "QuestionTask", setting: str, trajectory: Trajectory, rows: Sequence[Row]) -> None:
        self.grounded: float | None = None
        self.sufficient: bool | None = None
        self.invented = False
        rows = rows[:_MOST_ROWS]
        # Columns of a model's own query may contain anything, so their evidence is unknown.
        proven = supported_rows(task, trajectory, [*rows, *task.target]) if setting == "tools" else None
        if proven is None:
            return
        if rows:
            self.grounded = sum(row_set([row], task.scored_fields) <= proven for row in rows) / len(rows)
            fields = [field for field in task.scored_fields if field not in task.computed_fields]
            values = (row[field] for row in rows for field in fields if row.get(field) is not None)
            self.invented = self.grounded < 1 and not all(map(tool_evidence(trajectory).holds, values))
        target = row_set(task.target, task.scored_fields)
        self.sufficient = target <= proven if task.mode == "set" else bool(target & proven)


def _error_class(
    rows: list[Row] | None, compared: RowScore, trajectory: Trajectory, audit: _Audit
) -> ErrorClass | None:
    if compared.correct:
        return None
    if rows is None and strip_thinking(trajectory.reply).strip():
        return "unreadable"
    if not rows:
        return "no_answer"
    if audit.grounded is None:
        return "unverifiable"
    if audit.invented:
        return "invented"
    if audit.sufficient:
        return "misread"
    return "incomplete" if audit.grounded == 1 else "unsupported"


def names_target(task: "QuestionTask", text: str) -> bool:
    """Return True if a text contains the values of every row of the target, or of one if one is enough."""
    evidence = Evidence([text])
    named = (holds_row(row, task.scored_fields, evidence) for row in task.target)
    return all(named) if task.mode == "set" else any(named)

"""Scoring of answers to questions (docs/method.md, Scores)."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from graphwalk.evaluation.extraction import Extraction
from graphwalk.evaluation.rows import compare_rows, missing_fields, unknown_fields
from graphwalk.types.episode import Score, Trajectory
from graphwalk.types.values import Row

if TYPE_CHECKING:
    from graphwalk.suites.questions.task import QuestionTask


class QuestionScore(Score):
    """The score of one answer (docs/method.md, Scores).

    * `strict_correct`: false for answers that the turn limit forced.
    * `all_properties_correct`: all fields are correct, not only those that identify a row; None if these are the same.
    * `keys_correct`: the fields that identify a row are correct; None if these are all fields.
    * `any_tied_correct`: correct if any of the tied rows is, with the paper's query; None without ties.
    * `extra_fields`, `missing_fields`: unexpected and missing names.
    """

    strict_correct: bool
    all_properties_correct: bool | None = None
    keys_correct: bool | None = None
    any_tied_correct: bool | None = None
    extra_fields: tuple[str, ...] = ()
    missing_fields: tuple[str, ...] = ()


def score_question(task: "QuestionTask", trajectory: Trajectory, extraction: Extraction) -> QuestionScore:
    """Score an answer against the target."""
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
    )

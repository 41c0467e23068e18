"""Score an answer to one of your own questions: a set of values, or of rows, against the target."""

import math
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from graphwalk.evaluation.extraction import AnswerForm, Extraction, Fit, extract
from graphwalk.evaluation.rows import compare_rows, row_form, typed_rows
from graphwalk.suites.own_questions.task import OwnQuestionTask
from graphwalk.tools.observed_values import tool_evidence
from graphwalk.types.episode import Score, Trajectory
from graphwalk.types.temporals import read_temporal
from graphwalk.types.values import Row

NEAR = 1e-9
"""Relative difference of equal numbers."""
_VALUE = "value"
_NAMES = ("key", "name", "title")
"""Members of an object that name a node, best first."""
_MIDNIGHT = re.compile(r"T00:00(:00)?(Z|\+00:00)?$")


class OwnQuestionScore(Score):
    """The score of one answer.

    * `answered`: the answer has a value.
    * `abstained`: it is an empty list, although the graph tells the answer.
    * `invented`: it has a value, although the question is unanswerable.
    * `grounded`: share of its texts in tool results; None without tools or texts.
    """

    answered: bool
    abstained: bool
    invented: bool


def extract_answer(task: OwnQuestionTask, reply: str) -> Extraction:
    """Extract values or rows from a reply with a parser."""
    return extract(reply, row_form(task.fields) if task.fields else AnswerForm(_read_values))


def _read_values(value: Any) -> Fit | None:
    """Return the values of a list, of an object in it the member that names a node, or the only one."""
    if not isinstance(value, list):
        return Fit([value], "bare") if isinstance(value, str | int | float) else None
    items = [item for member in value for item in (member if isinstance(member, list) else [member])]
    named = [
        next((item[name] for name in _NAMES if name in item), next(iter(item.values())) if len(item) == 1 else None)
        if isinstance(item, dict)
        else item
        for item in items
    ]
    values = [item for item in named if isinstance(item, str | int | float)]
    return Fit(values, lossy=len(values) < len(items))


def score_answer(
    task: OwnQuestionTask, setting: str, trajectory: Trajectory, extraction: Extraction
) -> OwnQuestionScore:
    """Score an answer; None is no readable answer."""
    fields, answer = task.fields or (_VALUE,), _rows(task, extraction.answer or ())
    rows, gold = _comparable(task, answer, fields)
    compared = compare_rows(None if extraction.answer is None else rows, gold, fields)
    seen = tool_evidence(trajectory)
    texts = [value for row in answer for value in row.values() if isinstance(value, str)]
    return OwnQuestionScore(
        correct=compared.correct,
        precision=compared.precision,
        recall=compared.recall,
        f1=compared.f1,
        false_positives=compared.false_positives,
        extraction_stage=extraction.stage,
        lossy=extraction.lossy,
        grounded=sum(map(seen.holds, texts)) / len(texts) if texts and setting != "no_tools" else None,
        answered=bool(answer),
        abstained=extraction.answer == [] and not task.unanswerable,
        invented=bool(answer) and task.unanswerable,
    )


def _rows(task: OwnQuestionTask, items: Iterable[Any]) -> list[Row]:
    return [dict(item) if task.fields else {_VALUE: item} for item in items]


def _comparable(task: OwnQuestionTask, answer: list[Row], fields: Iterable[str]) -> tuple[list[Row], list[Row]]:
    """Return the rows of answer and target, with values as texts that are equal where the values are."""
    gold = _rows(task, task.gold)
    rows = typed_rows(answer, gold, fields)
    numbers = [value for row in gold for value in row.values() if isinstance(value, int | float)]

    def text(value: Any) -> str:
        if isinstance(value, list):
            return repr(sorted(map(text, value)))
        if isinstance(value, str):
            return "text " + (_as_date(value) or (_fold(value) if task.folded else unicodedata.normalize("NFC", value)))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"number {next((n for n in numbers if math.isclose(value, n, rel_tol=NEAR)), value)!r}"
        return repr(value)

    keys = {text(name): text(key) for key, names in task.names.items() for name in names}

    def comparable(items: Iterable[Row]) -> list[Row]:
        return [{field: keys.get(cell := text(row.get(field)), cell) for field in fields} for row in items]

    return comparable(rows), comparable(gold)


def _as_date(text: str) -> str | None:
    """Return a date or time in one form, without a time of zero; None for other texts."""
    try:
        return _MIDNIGHT.sub("", read_temporal(text).text) if text[:1].isdigit() else None
    except ValueError:
        return None


def _fold(text: str) -> str:
    """Return a text without case, accents and outer spaces."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).strip()

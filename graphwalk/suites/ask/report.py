"""Report of questions without targets: answers, calls, time, tokens and cost."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from graphwalk.reports.measures import EFFORT, LEGENDS, OUTCOME, QUALITY, count_if, scored
from graphwalk.reports.plots import Scene
from graphwalk.reports.suite_report import (
    PLAYER,
    Column,
    Grouping,
    Measure,
    Report,
    ResultRecord,
    SuiteReport,
    table_of,
)
from graphwalk.reports.text_table import TextTable, dollars, duration, integer, one_decimal, short, two_decimals
from graphwalk.sanitise import one_line
from graphwalk.suites.ask.pictures import AskPictures, ask_scene
from graphwalk.suites.ask.task import AskTask
from graphwalk.suites.suite import Pictures, Presentation, Suite

_STEPS = (
    Column("Calls", "tool_calls", integer),
    Column("Cited", "cited", integer, optional=4),
    Column("Grounded", "grounded", two_decimals, optional=2),
    Column("Time", "seconds", duration, optional=3),
    Column("Tokens", "tokens", short, optional=1),
    Column("Cost", "cost", dollars, optional=1),
)
_LEGENDS = {
    "answers": "number of questions with an answer",
    "cited": "keys named in answers",
    "grounded": "mean share of cited keys found in tool results",
}


def _asked(result: ResultRecord) -> str:
    """Return question and answer with a number, which keeps the questions in order."""
    answer = result["answer"] or f"({str(result['exit_status']).replace('_', ' ')})"
    return f"{result['task']['number']:>3}. {result['task']['question']} → {' '.join(answer.split())}"


def _questions(report: Report) -> Iterator[TextTable]:
    """Yield a table of all questions with their answers."""
    rows = report.groups.get("question", [])
    names = [Column("Question and answer", "question", lambda text: one_line(text.strip()), name=True)]
    if len({row["model"] for row in rows}) > 1:
        names.append(PLAYER[0])
    if rows:
        explained = (replace(column, legend={**LEGENDS, **_LEGENDS}[column.field]) for column in _STEPS)
        yield table_of("Questions", (*names, *explained), rows)


REPORT = SuiteReport(
    suite="ask",
    measures=(
        *OUTCOME,
        Measure("answered", "percent", scored("answered")),
        Measure("answers", "count", count_if(lambda result: bool(result["score"] and result["score"]["answered"]))),
        Measure("cited", "count", scored("cited")),
        *QUALITY,
        *EFFORT,
    ),
    groupings=(Grouping("question", "question", _asked, shown=False),),
    columns=(
        Column("Answers", "answers", integer),
        Column("N", "questions", integer),
        *_STEPS[1:3],
        Column("Calls per\nquestion", "calls_per_question", one_decimal, optional=3),
        *_STEPS[3:],
        Column("Tool time", "tool_seconds", duration, optional=6),
        Column("Failed", "infrastructure_failures", integer, optional=5),
    ),
    group_columns=_STEPS,
    compared=("answered",),
    legends=_LEGENDS,
    tables=_questions,
)


class AskPresentation(Presentation[AskTask]):
    pictures: ClassVar[Pictures | None] = AskPictures()

    def report(self, suite: Suite[Any, Any]) -> SuiteReport:
        return REPORT

    def scene(self, record: ResultRecord) -> Scene:
        return ask_scene(record)

"""Report of questions without targets: answers, calls, time, tokens and cost."""

from collections.abc import Iterator
from functools import cache

from graphwalk.reports.measures import EFFORT, OUTCOME, QUALITY, count_if, layout, scored
from graphwalk.reports.report import Report
from graphwalk.reports.suite_report import PLAYER, Column, Grouping, Measure, ResultRecord, SuiteReport, table_of
from graphwalk.reports.text_table import TextTable
from graphwalk.sanitise import one_line


def _question_and_answer(result: ResultRecord) -> str:
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
        yield table_of("Questions", (*names, *layout("ask")["questions"]), rows)


@cache
def ask_report() -> SuiteReport:
    return SuiteReport(
        suite="ask",
        measures=(
            *OUTCOME,
            Measure("answered", "percent", scored("answered")),
            Measure("answers", "count", count_if(lambda result: bool(result["score"] and result["score"]["answered"]))),
            Measure("cited", "count", scored("cited")),
            *QUALITY,
            *EFFORT,
        ),
        groupings=(Grouping("question", "question", _question_and_answer, shown=False),),
        columns=layout("ask")["results"],
        group_columns=layout("ask")["questions"],
        compared=("answered",),
        tables=_questions,
    )

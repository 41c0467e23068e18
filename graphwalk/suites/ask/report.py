"""Report of questions without targets: answers, calls, time, tokens and cost."""

from collections.abc import Iterator
from functools import cache

from graphwalk.reports.measures import declared_report, layout
from graphwalk.reports.report import Report
from graphwalk.reports.suite_report import PLAYER, Grouping, ResultRecord, SuiteReport
from graphwalk.reports.text_table import Column, TextTable, table_of
from graphwalk.sanitise import one_line
from graphwalk.types.episode import Score


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
    return declared_report(
        "ask",
        Score,
        {"answers": lambda result: float((result["score"] or {}).get("answered", False))},
        groupings=(Grouping("question", "question", _question_and_answer, shown=False),),
        tables=_questions,
    )

"""The tables of questions that are laid out like the paper's, and the one of mistakes and waste."""

from collections.abc import Iterator

from graphwalk.report.common import WASTE
from graphwalk.report.counts import Line, common_facts, counts_table, line_of
from graphwalk.report.declared import Column, Report
from graphwalk.report.formats import integer
from graphwalk.report.layout import TextTable
from graphwalk.report.tables import players_table
from graphwalk.suites.questions.report.baselines import CHANCE, EMPTY, PAR
from graphwalk.suites.questions.report.paper import CATEGORIES
from graphwalk.suites.questions.scoring import ERROR_CLASSES

_FACTS = common_facts(EMPTY, CHANCE, PAR)
_NOTE = "right/asked. rows: median size of the right answer. chance %: one valid row at random. (n): known for n tasks."
_MISTAKES = tuple(
    Column(name.replace("_", " "), name, integer, optional=place // 2) for place, name in enumerate(ERROR_CLASSES)
)


def more_tables(report: Report) -> Iterator[TextTable]:
    if len(report.groups.get("question", ())):
        names = ("category", "question")
        yield counts_table("Right answers by question", names, list(_questions(report)), _FACTS, _note(report))
    sizes = list(dict.fromkeys(row["nodes"] for row in report.groups.get("nodes", ())))
    if len(sizes) > 1:
        lines = [line_of(report, (str(size),), "nodes", size) for size in sizes]
        yield counts_table("Right answers by graph size", ("nodes",), lines, _FACTS, _note(report))
    last_mile = Column("last mile", "last_mile", integer, optional=3)
    yield from players_table(report, "Mistakes and waste", (*_MISTAKES, last_mile, *WASTE))


def _note(report: Report) -> str:
    return f"{_NOTE} (paper): {report.reference.source}." if report.reference else _NOTE


def _questions(report: Report) -> Iterator[Line]:
    """The questions of each category with its total, and the total of all."""
    rows = report.groups["question"]
    asked = list(dict.fromkeys(row["question"] for row in rows))
    categories = list(dict.fromkeys(row["category"] for row in report.groups.get("category", ())))
    category_of = {question: name for name, questions in CATEGORIES.items() for question in questions}
    for category in categories:
        members = [question for question in asked if category_of.get(question) == category]
        for place, question in enumerate(members):
            yield line_of(report, ("" if place else category, question), "question", question)
        yield line_of(report, ("" if members else category, f"all {category}"), "category", category)
    for question in asked:
        if category_of.get(question) not in categories:
            yield line_of(report, ("", question), "question", question)
    yield line_of(report, ("", "all"))

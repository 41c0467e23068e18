"""Variants in a report."""

from graphwalk.reports.formats import to_markdown
from graphwalk.suites.registry import suite_named
from tests.reports.results import QUESTIONS, build_report, result

DECLARED = suite_named("questions").report()


def test_variants_are_rows_in_the_order_of_their_numbers() -> None:
    """The first five graphs need 10 turns, the last one 20."""
    log = [
        result(setting=f"tools:turn_limit={n}", graph=graph, question=question, correct=n >= 10 + 10 * (graph == 5))
        for n in (5, 20, 10)
        for graph in range(6)
        for question in range(len(QUESTIONS))
    ]
    log[0] |= {"exit_status": "context_overflow"}
    log[1] |= {"exit_status": "turn_limit"}
    report = build_report(log, DECLARED)
    assert [row["setting"] for row in report.rows] == [f"tools:turn_limit={n}" for n in (5, 10, 20)]
    assert [row["correct"] for row in report.rows] == [0, 15, 18]
    assert (report.rows[0]["context_overflows"], report.rows[0]["turn_limits"]) == (1, 1)
    assert "Answers forced by a limit" in to_markdown(report)

"""Variants in a report."""

from graphwalk.reports.formats import to_markdown
from graphwalk.suites.registry import suite_named
from tests.reports.results import QUESTIONS, build_report, result

DECLARED = suite_named("questions").report()


def played(settings, correct, graphs=6):
    return [
        result(setting=f"tools:{variant}", graph=graph, question=question, correct=correct(variant, graph))
        for variant in settings
        for graph in range(graphs)
        for question in range(len(QUESTIONS))
    ]


def budgets():
    """The first five graphs need 10 turns, the last one 20."""
    return played(
        [f"turn_limit={n}" for n in (5, 10, 20)], lambda variant, graph: int(variant[11:]) >= (10 + 10 * (graph == 5))
    )


def test_variants_are_rows_in_the_order_of_their_numbers_with_calls_and_overflows():
    log = budgets()
    log[0] |= {"exit_status": "context_overflow"}
    log[1] |= {"exit_status": "turn_limit"}
    report = build_report(log, DECLARED)
    assert [row["setting"] for row in report.rows] == [f"tools:turn_limit={n}" for n in (5, 10, 20)]
    assert [row["correct"] for row in report.rows] == [0, 15, 18]
    assert (report.rows[0]["context_overflows"], report.rows[0]["turn_limits"]) == (1, 1)
    assert "Answers forced by a limit" in to_markdown(report)
    text = to_markdown(report)
    assert "Variants on the same tasks" in text
    assert "Variants on" not in to_markdown(build_report([result()], DECLARED))

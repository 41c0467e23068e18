"""Variants in a report: their table and the plot."""

from graphwalk.reports.common_plots import by_variant
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


def test_a_numeric_factor_is_plotted_over_its_values_and_others_by_name():
    (plot,) = by_variant(build_report(budgets(), DECLARED))
    assert (plot.kind, plot.x) == ("lines", "turn limit")
    assert [(point.x, round(point.y, 1)) for point in plot.panels[0].series[0].points] == [
        (5.0, 0.0),
        (10.0, 83.3),
        (20.0, 100.0),
    ]
    log = played(["compaction=none", "compaction=window"], lambda variant, graph: graph > 2)
    (plot,) = by_variant(build_report(log, DECLARED))
    assert (plot.kind, [point.x for point in plot.panels[0].series[0].points]) == (
        "dots",
        ["compaction=none", "compaction=window"],
    )
    assert not list(by_variant(build_report([result()], DECLARED)))

"""Variants in a report: their table, the shares of the variance, and the plot."""

import random

from graphwalk.reports.common_plots import by_variant
from graphwalk.reports.formats import to_markdown
from graphwalk.reports.observations import observe
from graphwalk.reports.report import build_report, report_on
from graphwalk.suites.registry import suite_named
from tests.reports.results import QUESTIONS, result

DECLARED = suite_named("questions").report()


def played(settings, correct, graphs=6, repeats=1):
    return [
        result(
            setting=f"tools:{variant}", graph=graph, question=question, repeat=repeat, correct=correct(variant, graph)
        )
        for variant in settings
        for graph in range(graphs)
        for question in range(len(QUESTIONS))
        for repeat in range(repeats)
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
    assert "Shares of the variance of accuracy" in text
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


def test_the_shares_of_the_variance_name_each_factor():
    names = [f"wording={w},tool_words={t}" for w in ("standard", "held_out") for t in ("whole", "short")]
    report = build_report(played(names, lambda variant, graph: "standard" in variant or graph < 1), DECLARED)
    (row,) = report.variance_shares
    assert (row["model"], row["setting"], row["variants"], row["tasks"], row["graphs"]) == (
        "test/one",
        "tools",
        4,
        18,
        6,
    )
    shares = row["shares"]
    assert shares["wording"] > 60
    assert shares["tool_words"] == 0
    assert abs(shares["task"] + shares["variant"] + shares["rest"] - 100) < 0.01
    low, high = row["intervals"]["variant"]
    assert low <= shares["variant"] <= high
    assert report.as_dict()["variance_shares"] == report.variance_shares


def test_only_tasks_known_in_all_variants_count_and_repeats_show_the_interaction():
    draw = random.Random(1)
    log = played(["a=1", "a=2"], lambda variant, graph: draw.random() < 0.5, repeats=3)
    without = [one for one in log if (one["setting"], one["task_id"]) != ("tools:a=1", log[0]["task_id"])]
    (row,) = report_on(observe(without, DECLARED)).variance_shares
    assert row["tasks"] == 17
    assert set(row["shares"]) == {"task", "variant", "interaction", "rest"}
    assert row["shares"]["rest"] > 50

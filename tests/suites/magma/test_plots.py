"""Plots of MAGMA, each after a figure of the paper."""

from statistics import fmean

import pytest

from graphwalk.reports.plots import Plot
from graphwalk.suites.magma.plots import magma_plots
from graphwalk.suites.magma.suite import MagmaSuite
from tests.reports.results import build_report
from tests.suites.magma.logged_runs import logged

DECLARED = MagmaSuite().report()


def plots(states: dict[str, list[bool]]) -> dict[str, Plot]:
    results = logged(states, setting="is")
    return {plot.name: plot for plot in magma_plots(build_report(results, DECLARED))}


def test_a_plot_for_each_algorithm_has_a_line_for_each_size() -> None:
    by_name = plots({"bfs   5 1": [True, False], "bfs  10 2": [True, True, False], "dfs   5 3": [True, True]})
    (panel,) = by_name["exact-by-step-bfs"].panels
    lines = {series.name: [(p.x, p.y) for p in series.points] for series in panel.series}
    assert panel.title == "us/gpt-4o · is"
    assert lines == {"5 nodes": [(1, 100), (2, 0)], "10 nodes": [(1, 100), (2, 100), (3, 0)]}
    assert [series.name for series in by_name["exact-by-step-dfs"].panels[0].series] == ["5 nodes"]
    assert "exact-by-step-dijkstra" not in by_name


def test_averages_over_sizes_have_a_row_per_algorithm_beside_the_papers() -> None:
    states = {"bfs   5 1": [True, True], "bfs  10 2": [False, True], "dfs   5 3": [True, False]}
    run = logged(states, setting="io_reasoning")
    paper = DECLARED.reference("magma-paper")
    by_name = {plot.name: plot for plot in magma_plots(build_report(run, DECLARED, reference=paper))}
    for measure, name, expected in (
        ("accuracy", "final", {"bfs": 100, "dfs": 0}),
        ("intermediate_exact", "earlier", {"bfs": 50, "dfs": 100}),
        ("trajectory_exact", "states", {"bfs": 75, "dfs": 50}),
    ):
        (panel,) = by_name[f"{name}-average"].panels
        ours, *published = panel.series
        assert {point.x: point.y for point in ours.points} == expected
        assert f"{name}-by-size" in by_name
        means = {series.name: {point.x: point.y for point in series.points} for series in published}
        rows = [row for row in paper.groups["case"] if (row["model"], row["setting"]) == ("gpt-4o", "io_reasoning")]
        figures = [row[measure] for row in rows if row["case"] in ("bfs   5", "bfs  10") and measure in row]
        assert means.get("gpt-4o · io_reasoning (paper)", {}).get("bfs") == (
            pytest.approx(fmean(figures)) if figures else None
        )
        assert bool(figures) == (measure != "accuracy")

"""Plots of MAGMA, each after a figure of the paper."""

from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.analysis.suites.magma_plots import magma_plots
from graphwalk.reports.plots import Plot
from graphwalk.suites.magma.suite import MagmaSuite
from tests.reports.results import build_report
from tests.suites.magma.logged_runs import logged

DECLARED = analysis_of(MagmaSuite()).report()


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

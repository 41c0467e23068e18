"""Plots of MAGMA, each after a figure of the paper."""

import asyncio
from pathlib import Path
from statistics import fmean

import pytest

from graphwalk.reports.plots import Plot
from graphwalk.suites.magma.plots import magma_plots
from graphwalk.suites.magma.scene import magma_scene
from graphwalk.suites.magma.suite import MagmaSuite
from graphwalk.suites.magma.task import MagmaTask
from tests.reports.results import build_report
from tests.suites.magma.logged_runs import logged, results

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


def test_the_average_is_over_5_to_15_nodes() -> None:
    by_name = plots({"bfs 5 1": [True], "bfs 15 2": [False, True], "bfs 20 3": [False], "mst_prim 4 4": [True]})
    (panel,) = by_name["exact-by-step-average"].panels
    assert panel.title == "bfs"
    assert [(p.x, p.y) for p in panel.series[0].points] == [(1, 50), (2, 100)]


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


def test_errors_are_drawn_by_player_up_to_15_nodes_and_by_algorithm_over_all() -> None:
    traces = [{"algorithm": ["bfs", "mst_prim"], "nodes": [5, 20], "count": 2}]
    run = asyncio.run(results("expert", "random", settings=("is",), traces=traces))
    by_name = {plot.name: plot for plot in magma_plots(build_report(run, DECLARED))}

    def missing(sizes: tuple[int, ...]) -> float:
        mine = [one for one in run if one["model"] == "random" and one["task"]["template"] == "bfs"]
        return fmean(one["score"]["false_negatives"] for one in mine if one["task"]["n"] in sizes)

    (player,) = by_name["errors-per-reply"].panels
    assert (player.title, [series.name for series in player.series]) == ("random · is", ["bfs", "mst prim"])
    assert player.series[0].points[1].y == pytest.approx(missing((5,)))
    algorithms = by_name["errors-by-algorithm"].panels
    assert [panel.title for panel in algorithms] == ["bfs", "mst prim"]
    (bfs,) = algorithms[0].series
    assert (bfs.name, bfs.points[1].y) == ("random · is", pytest.approx(missing((5, 20))))


def test_the_page_names_the_figure_of_each_plot() -> None:
    page = Path("docs/method.md").read_text("utf-8")
    names = {name.replace("exact-by-step-bfs", "exact-by-step-ALGORITHM") for name in plots({"bfs   5 1": [True]})}
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    figures = {name: row[2] for row in rows for name in names if f"`{name}`" in row[1]}
    assert names - figures.keys() == {"cost-against-accuracy"}
    assert all("Figure" in figure for figure in figures.values())


@pytest.mark.parametrize(("step", "caption"), [(0, "state 0, before the first step: exact"), (2, "state after step 2")])
def test_a_scene_numbers_states_as_the_prompts_do(step: int, caption: str) -> None:
    traces = [{"algorithm": "dijkstra", "nodes": 5, "count": 1}]
    run = asyncio.run(results("expert", settings=("is",), traces=traces, first_state="paper"))
    record = next(one for one in run if one["task"]["step"] == step)
    scene = magma_scene(MagmaTask.model_validate(record["task"]), record)
    assert scene.steps[-1].caption.startswith(caption)
    earlier = ["state 0, before the first step", f"state after step 1 of {record['task']['total_steps']}"][:step]
    assert [one.caption for one in scene.steps[:-1]] == [f"{state}, given in the prompt" for state in earlier]

"""The minimum detectable effect of a plan."""

import asyncio
from pathlib import Path

import pytest
from scipy import stats

import graphwalk
from graphwalk.analysis.estimate import estimate_run
from graphwalk.experiments.loading import load_experiment
from graphwalk.runs.episodes.resolve import resolve
from graphwalk.variables import read_variables


def effect(*, graphs: int, **flags: int) -> float | None:
    small = {"models": ["scripted/expert"], "suite.graphs.*.nodes": 30}
    config = load_experiment("quickstart", (), {**small, **flags}, graphs=graphs)
    estimate = asyncio.run(estimate_run(resolve(config, read_variables())))
    return estimate.minimum_detectable_effect


def test_a_dry_run_shows_the_minimum_detectable_effect() -> None:
    two, four = effect(graphs=2), effect(graphs=4, repeats=2)
    assert two is not None
    assert four is not None
    assert 30 < four < two <= 100


def test_the_clusters_of_a_plan_are_those_of_its_report(tmp_path: Path) -> None:
    """Traces of several algorithms share graphs, and all states of a trace are one question."""
    data = {
        "name": "magma",
        "suite": {"name": "magma", "traces": [{"algorithm": ["bfs", "dfs", "mst_prim"], "nodes": 5, "count": 8}]},
        "models": ["scripted/expert", "scripted/flawed"],
        "settings": ["is"],
    }
    estimate = asyncio.run(estimate_run(resolve(load_experiment(data), read_variables())))
    row = graphwalk.run(data, out=tmp_path / "run").report()["rows"][0]
    assert row["graphs"] < row["tasks"] == 24
    assert f"({row['graphs']} graphs × {row['tasks'] / row['graphs']:.0f} tasks × 1;" in estimate.notes[-1]


def test_on_one_graph_the_minimum_detectable_effect_is_over_its_questions() -> None:
    quantiles = stats.t.ppf([0.975, 0.8], 11).sum()  # of twelve questions
    for repeats, variance in ((1, 0.125 + 0.25), (4, 0.125 + 0.25 / 4)):
        expected = 100 * quantiles * (variance / 12) ** 0.5
        assert effect(graphs=1, repeats=repeats) == pytest.approx(expected, abs=0.06)
    assert effect(graphs=1, limit=1) is None

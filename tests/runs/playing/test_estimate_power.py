"""The minimum detectable effect of a plan, and the number of graphs that a difference needs."""

import asyncio
import json
from pathlib import Path

import pytest
from scipy import stats
from typer.testing import CliRunner

import graphwalk
from graphwalk.cli.app import app
from graphwalk.errors import ConfigError
from graphwalk.experiments.loading import load_experiment
from graphwalk.runs.episodes.resolve import resolve
from graphwalk.runs.finished.reporting import measured_pairs
from graphwalk.runs.playing.estimate import estimate_run
from graphwalk.settings import read_settings


def effect(*, graphs: int, **flags: int) -> float | None:
    config = load_experiment("quickstart", (), flags, graphs=graphs)
    estimate = asyncio.run(estimate_run(resolve(config, read_settings())))
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
    estimate = asyncio.run(estimate_run(resolve(load_experiment(data), read_settings())))
    row = graphwalk.run(data, out=tmp_path / "run").rows()[0]
    assert row["graphs"] < row["tasks"] == 24
    assert f"({row['graphs']} graphs × {row['tasks'] / row['graphs']:.0f} tasks × 1;" in estimate.notes[-1]


def test_on_one_graph_the_minimum_detectable_effect_is_over_its_questions() -> None:
    quantiles = stats.t.ppf([0.975, 0.8], 11).sum()  # of twelve questions
    for repeats, variance in ((1, 0.125 + 0.25), (4, 0.125 + 0.25 / 4)):
        expected = 100 * quantiles * (variance / 12) ** 0.5
        assert effect(graphs=1, repeats=repeats) == pytest.approx(expected, abs=0.06)
    assert effect(graphs=1, limit=1) is None


def power(*words: str) -> list[dict[str, float]]:
    done = CliRunner().invoke(app, ["power", *words, "--json"])
    assert done.exit_code == 0, done.output
    rows: list[dict[str, float]] = json.loads(done.stdout)
    return rows


def test_smaller_differences_need_more_graphs() -> None:
    (ten,), (five,) = power("--difference", "10"), power("--difference", "5")
    assert 3.5 * ten["graphs_needed"] < five["graphs_needed"] < 4.5 * ten["graphs_needed"]
    (more,) = power("--difference", "10", "--repeats", "8", "--tasks-per-graph", "48")
    assert more["graphs_needed"] < ten["graphs_needed"]
    (seen,) = power("--difference", "10", "--graphs", str(int(ten["graphs_needed"])))
    assert seen["smallest_difference"] == pytest.approx(10, abs=0.5)
    assert seen["smallest_difference"] <= 10


def test_the_spread_is_measured_in_a_run(tmp_path: Path) -> None:
    run = graphwalk.run("quickstart", models=["scripted/flawed", "scripted/random"], out=tmp_path / "run")
    (pair,) = measured_pairs(run.path, (), ())
    assert (pair.first.model, pair.second.model, pair.design.tasks_per_graph) == (
        "scripted/flawed",
        "scripted/random",
        12,
    )
    assert pair.spread.tasks > 0
    (row,) = power("--run", str(run.path))
    assert (row["first"], row["tasks_per_graph"]) == ("scripted/flawed tools", 12)
    with pytest.raises(ConfigError, match="shows no spread"):
        measured_pairs(run.path, ["scripted/flawed"], ())

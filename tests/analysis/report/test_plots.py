"""The first plot of a run: models in their settings."""

import polars as pl

from graphwalk.analysis.report.plots import plots_of
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.suites.suite import suite_named
from tests.analysis.report.results import build_report, result


def test_models_and_chance_have_a_dot_in_each_setting() -> None:
    """Each model is right on the first question of each graph, on the second only by walking."""
    results = [
        result(model, setting, graph, question, correct=question == 0 or setting == "tools")
        for model in ("test/0", "test/1")
        for setting in ("no_tools", "tools")
        for graph in (0, 2)
        for question in (0, 1)
    ]
    entries = [entry | {"task": entry["task"] | {"candidates": 4, "gold_size": 1}} for entry in results]
    plot = plots_of(build_report(entries, analysis_of(suite_named("questions")).report()))[0]
    assert plot.points.select("player", "x", "y").rows() == [
        ("test/0", "no_tools", 50.0),
        ("test/0", "tools", 100.0),
        ("test/1", "no_tools", 50.0),
        ("test/1", "tools", 100.0),
        ("chance", "no_tools", 25.0),
        ("chance", "tools", 25.0),
    ]
    ours = plot.points.filter(~pl.col("published"))
    assert ours.select(((pl.col("low") < 100) & (pl.col("high") > 50)).all()).item()

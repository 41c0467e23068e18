"""The first plot of a run: models in their settings."""

from itertools import product

import polars as pl

from graphwalk.analysis.report.names import model_names
from graphwalk.analysis.report.plot_files import canvas_of
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
    assert plot.points.select("contestant", "x", "y").rows() == [
        ("0", "no_tools", 50.0),
        ("0", "tools", 100.0),
        ("1", "no_tools", 50.0),
        ("1", "tools", 100.0),
        ("chance", "no_tools", 25.0),
        ("chance", "tools", 25.0),
    ]
    ours = plot.points.filter(~pl.col("published"))
    assert ours.select(((pl.col("low") < 100) & (pl.col("high") > 50)).all()).item()


def test_series_have_distinct_names_and_proven_answers_the_colour_of_their_player() -> None:
    """Four models whose names agree in their first 60 characters, each with a series of proven answers."""
    models = [f"openai-api/local/{'a-model-of-a-long-name-' * 2}{end}" for end in ("one", "two", "three", "four")]
    results = [result(model, graph=graph) for model, graph in product(models, range(3))]
    for one in results:
        one["score"]["proven"] = one["graph"]["nodes"] == 100
    plot = plots_of(build_report(results, analysis_of(suite_named("questions")).report()))[0]
    with canvas_of(plot, "none") as canvas:
        containers = canvas.axes[0].containers
        looks = {one.get_label().replace("\n", " "): one.lines[0] for one in containers}
    del looks["chance"]
    assert len(looks) == len(containers) - 1 == 8
    assert not any("…" in name or name.startswith("openai-api") for name in looks)
    colours = {name: line.get_color() for name, line in looks.items()}
    assert len(set(colours.values())) == 4
    for name, line in looks.items():
        assert (line.get_markerfacecolor() == "none") == name.endswith("right and proven")
        assert colours[name] == colours[name.removesuffix(", right and proven")]


def test_models_lose_only_whole_parts_that_all_of_them_have() -> None:
    assert model_names(["a/b/one", "a/b/other"]) == {"a/b/one": "one", "a/b/other": "other"}
    assert model_names(["a/b", "a/b/c"]) == {"a/b": "b", "a/b/c": "b/c"}
    assert model_names(["a/one", "b/one"]) == {"a/one": "a/one", "b/one": "b/one"}
    assert model_names(["a/one", "a/one"]) == {"a/one": "a/one"}

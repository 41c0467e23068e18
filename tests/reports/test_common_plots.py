"""The first plot of a run: models in their settings."""

from graphwalk.reports.common_plots import by_model
from graphwalk.reports.plots import Plot
from graphwalk.reports.report import Report
from graphwalk.suites.questions.report import question_report
from tests.reports.results import build_report, result


def report(
    models: int = 1, settings: tuple[str, ...] = ("no_tools", "tools"), graphs: tuple[int, ...] = (0, 2)
) -> Report:
    """Each model is right on the first question of each graph, on the second only by walking."""
    results = [
        result(f"test/{model}", setting, graph, question, correct=question == 0 or setting == "tools")
        for model in range(models)
        for setting in settings
        for graph in graphs
        for question in (0, 1)
    ]
    return build_report(results, question_report())


def first(of: Report) -> Plot:
    (plot,) = by_model(of)
    return plot


def test_one_size_has_a_total_per_model_and_setting_walking_first() -> None:
    plot = first(report(models=2))
    assert [panel.title for panel in plot.panels] == ["test/0", "test/1"]
    for panel in plot.panels:
        assert [(one.name, [point.y for point in one.points]) for one in panel.series] == [
            ("tools", [100.0]),
            ("no_tools", [50.0]),
        ]
        assert all(point.low < 100 and point.high > 50 for one in panel.series for point in one.points)


def test_several_sizes_have_a_point_each() -> None:
    plot = first(report(graphs=(0, 1)))
    assert [[(point.x, point.y) for point in one.points] for one in plot.panels[0].series] == [
        [(100.0, 100.0), (500.0, 100.0)],
        [(100.0, 50.0), (500.0, 50.0)],
    ]
    assert plot.x == "nodes of the graph"

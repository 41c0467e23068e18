"""Tokens that were walked, drawn beside those of the whole graph."""

from typing import Any

from graphwalk.reports.observations import observe
from graphwalk.reports.plots import Plot
from graphwalk.reports.report import report_on
from graphwalk.suites.questions.report import question_report
from tests.reports.results import result


def figures(sizes: dict[int, int | None]) -> list[Plot]:
    def record(number: int, nodes: int, tokens: int | None) -> dict[str, Any]:
        counted = {} if tokens is None else {"text_tokens": tokens}
        return result(graph=number) | {"graph": {"digest": f"g{number}", "nodes": nodes, **counted}}

    observed = observe([record(number, *size) for number, size in enumerate(sizes.items())], question_report())
    return report_on(observed).plots


def named(made: list[Plot]) -> Plot | None:
    return next((figure for figure in made if figure.name == "tokens-against-whole-graph"), None)


def test_a_line_for_the_walks_and_one_for_the_text() -> None:
    drawn = named(figures({100: 40_000, 1_000_000: 450_000_000}))
    assert drawn is not None
    assert drawn.logarithmic
    lines = {series.name: [(point.x, point.y) for point in series.points] for series in drawn.panels[0].series}
    assert lines == {
        "whole graph as text (JSON)": [(100.0, 40_000.0), (1_000_000.0, 450_000_000.0)],
        "test/one": [(100.0, 110.0), (1_000_000.0, 110.0)],
    }

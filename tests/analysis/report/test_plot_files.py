"""Drawn plots: a player looks the same in all of them."""

from pathlib import Path

import pytest

from graphwalk.analysis.report.plot_files import canvas_of, styles_of
from graphwalk.analysis.report.plots import plots_of
from graphwalk.analysis.report.report import report_of
from graphwalk.runs.folder import RunFolder

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("suite", ["questions", "magma"])
def test_a_player_has_one_colour_and_marker_in_all_plots_of_a_run(suite: str) -> None:
    plots = plots_of(report_of(RunFolder.open(ROOT / "tests" / "data" / "runs" / suite)))

    styles, drawn = styles_of(plots), dict[str, set[tuple[str, str]]]()
    for plot in plots:
        with canvas_of(plot, "path", styles) as canvas:
            (legend,) = canvas.legends
            for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True):
                drawn.setdefault(text.get_text(), set()).add((handle.get_color(), handle.get_marker()))
    assert len(drawn) == len(set.union(*drawn.values()))

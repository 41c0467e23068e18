"""Drawn plots: styles of lines, places on the axes, titles and colour scales."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.text import Text

from graphwalk.reports.plot_files import canvas_of, styles_of
from graphwalk.reports.plots import Panel, Plot, PlotPoint, Series
from graphwalk.runs.finished.reporting import report_of
from graphwalk.runs.folder.run_folder import RunFolder

ROOT = Path(__file__).parents[2]


def test_a_player_has_one_colour_and_marker_in_all_plots_of_a_run() -> None:
    folder = RunFolder.open(ROOT / "tests" / "data" / "runs" / "questions")
    plots = report_of(folder).plots
    styles, drawn = styles_of(plots), dict[str, set[tuple[str, str]]]()
    for plot in plots:
        if plot.kind in ("dots", "lines", "points", "steps"):
            with canvas_of(plot, "path", styles) as canvas:
                (legend,) = canvas.legends
                for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True):
                    marker = styles[text.get_text()]["marker"] if plot.kind == "steps" else handle.get_marker()
                    drawn.setdefault(text.get_text(), set()).add((handle.get_color(), marker))
    assert len(drawn) == len(set.union(*drawn.values())) == 2


def models(count: int, sizes: int, settings: int = 2) -> Plot:
    """Accuracy of models with names of 60 characters, in settings, over sizes or in total."""
    xs = [100.0 * (n + 1) for n in range(sizes)] if sizes > 1 else ["tools"]
    panels = tuple(
        Panel(
            tuple(Series(f"setting_{s}", tuple(PlotPoint(x, 20 * s, 0, 90) for x in xs)) for s in range(settings)),
            f"openai-api/laboratory/{number}-mini-2026-04-14-instruct-reasoning"[:60].ljust(60, "x"),
        )
        for number in range(count)
    )
    levels = (Series("chance", tuple(PlotPoint(x, 5) for x in xs)),)
    return Plot("models", "Models", "models", panels, "nodes", "accuracy in %", percent=True, levels=levels)


@pytest.mark.parametrize("sizes", [1, 5])
@pytest.mark.parametrize("count", [1, 3, 5])
def test_long_names_of_models_fit_a_column_and_do_not_overlap(count: int, sizes: int) -> None:
    with canvas_of(models(count, sizes), "path") as canvas:
        canvas.draw_without_rendering()
        assert canvas.get_size_inches()[0] == 3.3
        texts = [text for text in canvas.findobj(Text) if re.search("[a-z]", text.get_text())]
        boxes = [text.get_window_extent() for text in texts]
        names = [text.get_text().replace("\n", "") for text in texts]
        assert all(any(panel.title in name for name in names) for panel in models(count, sizes).panels)
        assert {"setting_0", "setting_1", "chance"} <= set(names)
        assert all(box.x0 >= -1 and box.x1 <= canvas.bbox.x1 + 1 and box.y0 >= -1 for box in boxes)
        assert not any(one.shrunk(0.9, 0.7).overlaps(other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize("xs", [(5.83, 6.17), (0.01, 9.0), (12.0,), (0.0003, 0.0004)])
def test_no_point_is_cut_off(xs: tuple[float, ...]) -> None:
    series = tuple(
        Series(f"player {x}", (PlotPoint(x, y, 0.0, 100.0),)) for x, y in zip(xs, (100.0, 0.0), strict=False)
    )
    with canvas_of(Plot("cost", "Cost", "points", (Panel(series),), "calls", percent=True), "path") as canvas:
        canvas.draw_without_rendering()
        (axes,) = canvas.axes
        for line in axes.lines:
            radius = line.get_markersize() / 2 * canvas.dpi / 72
            for x, y in line.get_transform().transform(line.get_xydata()):
                assert all(axes.bbox.contains(x + dx, y + dy) for dx in (-radius, radius) for dy in (-radius, radius))

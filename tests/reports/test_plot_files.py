"""Drawn plots: styles of lines, places on the axes, titles and colour scales."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.text import Text

from graphwalk.reports.plot_files import canvas_of, styles_of
from graphwalk.reports.plots import Panel, Plot, PlotKind, PlotPoint, Series
from graphwalk.runs.finished.reporting import report_of
from graphwalk.runs.folder.run_folder import RunFolder

ROOT = Path(__file__).parents[2]

SIZES = (5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20, 50, 100)
LONG = "openai/gpt-4.1-mini-2025-04-14 · io_reasoning"


def lines(count: int, *titles: str, published: bool = False) -> Plot:
    points = (PlotPoint(0.0, 90, 80, 95), PlotPoint(1.0, 70, 60, 75))
    series = tuple(Series(f"{size} nodes", points, published) for size in SIZES[:count])
    return Plot("plot", "Plot", "lines", tuple(Panel(series, title) for title in titles), "step", "y", percent=True)


@pytest.mark.parametrize("published", [False, True])
def test_fourteen_lines_differ_in_colour_or_marker(published: bool) -> None:
    with canvas_of(lines(14, "bfs", published=published), "path") as canvas:
        drawn = [line for line in canvas.axes[0].lines if len(set(line.get_xdata())) > 1]
        styles = {(line.get_color(), line.get_marker()) for line in drawn}
    assert len(drawn) == len(styles) == 14


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_title_fits_over_its_panel(count: int) -> None:
    with canvas_of(lines(2, *[LONG] * count), "path") as canvas:
        canvas.draw_without_rendering()
        for axes in canvas.axes:
            title = next(text for text in axes.findobj(Text) if "gpt" in text.get_text())
            assert title.get_text().replace("\n", "").replace(" ", "") == LONG.replace(" ", "")
            assert title.get_window_extent().x1 <= axes.get_window_extent().x1 + 1


def test_every_matrix_has_its_own_colour_scale() -> None:
    panels = tuple(
        Panel((Series("a", (PlotPoint("missing", size),)), Series("b", (PlotPoint("missing", 10 * size),))), title)
        for title, size in (("one", 1.0), ("two", 2.0))
    )
    with canvas_of(Plot("heat", "Heat", "heat", panels), "path") as canvas:
        shades = [[float(shade) for shade in axes.collections[0].get_array().ravel()] for axes in canvas.axes]
    assert shades == [[0.1, 1.0], [0.1, 1.0]]


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


@pytest.mark.parametrize(("count", "settings"), [(5, 3), (1, 3), (4, 1)])
def test_a_model_has_a_colour_and_a_setting_a_marker(count: int, settings: int) -> None:
    styles = list(styles_of([models(count, 1, settings)]).values())
    colours, markers = ([style[part] for style in styles] for part in ("color", "marker"))
    assert len({*zip(colours, markers, strict=True)}) == len(styles) == count * settings
    if count > 1 < settings:
        assert [len(set(colours[n : n + settings])) for n in range(0, len(styles), settings)] == [1] * count
        assert markers == markers[:settings] * count


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


@pytest.mark.parametrize("kind", ["steps", "points"])
def test_ticks_of_calls_are_whole_numbers(kind: PlotKind) -> None:
    points = (PlotPoint(0.0, 0.0), PlotPoint(1.0, 40.0), PlotPoint(3.0, 60.0))
    with canvas_of(Plot("calls", "Calls", kind, (Panel((Series("a", points),)),), "tool calls"), "path") as canvas:
        canvas.draw_without_rendering()
        (axes,) = canvas.axes
        assert [tick for tick in axes.get_xticks() if 0 <= tick <= 3] == [0, 1, 2, 3]

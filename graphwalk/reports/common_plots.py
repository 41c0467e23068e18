"""Plots for any suite, from the rows of its report and its observed episodes."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from graphwalk.reports.plots import AND, Panel, Plot, PlotPoint, Series
from graphwalk.reports.suite_report import CHANCE
from graphwalk.sanitise import one_line

if TYPE_CHECKING:
    from graphwalk.reports.report import Report

_NUMBER = re.compile(r"\d+(\.\d+)?")
_WIDE = 20
_SIZES = {"nodes": "nodes of the graph", "n": "nodes of the graph", "size": "cells per side"}
"""Groupings by size, with the titles of their axes."""
_MOST_MODELS, _MOST_SETTINGS = 8, 6


def common_plots(report: "Report") -> Iterator[Plot]:
    """Yield accuracy by every shown breakdown, and the plots about effort."""
    for grouping in report.suite.groupings:
        if grouping.shown:
            yield by_group(report, grouping.name, f"Accuracy by {grouping.title}")
    yield from effort_plots(report)


def effort_plots(report: "Report") -> Iterator[Plot]:
    """Yield plots of accuracy by variant, by number of calls, and by cost."""
    yield from by_variant(report)
    yield within_calls(report)
    yield cost_against_accuracy(report)


def by_model(report: "Report") -> Iterator[Plot]:
    """Yield the accuracy of each model in each setting: over sizes if there are several, else in total."""
    measure = report.suite.compared[0]
    scored = [row for row in report.rows if row.get(measure) is not None]
    models = list(dict.fromkeys(row["model"] for row in sorted(scored, key=lambda row: -row[measure])))
    every = list(dict.fromkeys(row["setting"] for row in scored))
    first_variants = {setting.partition(":")[0]: setting for setting in reversed(every)}
    settings = every if len(every) <= _MOST_SETTINGS else [*first_variants.values()]
    settings.sort(key=lambda setting: not setting.startswith("tools"))
    size = next((name for name in _SIZES if len({row[name] for row in report.groups.get(name, ())}) > 1), "")
    series = partial(series_of, grouping=size or "setting", measure=measure, settings=1, x=float if size else one_line)
    shown = [row for setting in settings for row in report.groups.get(size, scored) if row["setting"] == setting]
    panels = tuple(
        Panel(
            tuple(series({**row, "model": row["setting"]} for row in shown if row["model"] == model)), one_line(model)
        )
        for model in sorted(models[:_MOST_MODELS])
    )
    chance = (row for row in report.baseline_groups.get(size, report.baselines) if row["model"] == CHANCE)
    levels = tuple(series(chance))
    about = "Bars: 95 % intervals, clustered by graph." + " Thin line: chance." * bool(levels)
    if (len(panels), len(settings)) != (len(models), len(every)):
        about += f" {len(panels)} of {len(models)} models, {len(settings)} of {len(every)} settings and variants."
    wide = bool(size) and is_wide(float(p.x) for panel in panels for one in panel.series for p in one.points)
    names, axes = ("accuracy-by-model", "Accuracy by model and setting"), (_SIZES.get(size, ""), "accuracy in %")
    if len(settings) == len(every) or len(settings) > 1:  # else the variants have a plot of their own
        yield Plot(*names, "models", panels, *axes, about, percent=True, logarithmic=wide, levels=levels)


def player_name(row: Mapping[str, Any], settings: int = 2) -> str:
    """Return model and setting, or the model alone if all have one setting."""
    return one_line(row["model"]) + (f"{AND}{one_line(row['setting'])}" if settings > 1 else "")


def _settings(report: "Report") -> int:
    return len({row["setting"] for row in report.rows})


def by_group(report: "Report", grouping: str, title: str) -> Plot:
    """Plot a line per group with a dot and interval per player; published players are hollow."""
    groups = {str(row[grouping]) for row in report.groups.get(grouping, ())}
    published = [row for row in report.published.groups.get(grouping, ()) if str(row[grouping]) in groups]
    series = _ours_and(published, report, grouping, "accuracy", one_line)
    name = f"accuracy-by-{grouping.replace('_', '-')}"
    about = "Lines: 95 % intervals, clustered by graph." + (" Hollow: published results." if report.reference else "")
    return Plot(name, title, "dots", (Panel(series),), y="accuracy in %", about=about, percent=True)


def against_size(
    report: "Report",
    grouping: str,
    title: str,
    x: str,
    measure: str = "accuracy",
    y: str = "accuracy in %",
    *,
    percent: bool = True,
    baselines: Sequence[str] = (),
) -> Plot:
    """Plot a line per player against a numeric grouping. `baselines` are drawn like published players."""
    published = report.published.groups.get(grouping, ())
    computed = [row for row in report.baseline_groups.get(grouping, ()) if row["model"] in baselines]
    series = (
        *_ours_and(published, report, grouping, measure, float),
        *series_of(computed, grouping, measure, 1, True, x=float),
    )
    about = "Bars: 95 % intervals, clustered by graph." + (" Dashed: published results." if published else "")
    about += " Dashed grey: the scripted expert." if computed else ""
    name = f"{measure}-by-{grouping.replace('_', '-')}"
    wide = is_wide(float(point.x) for one in series for point in one.points)
    return Plot(name, title, "lines", (Panel(series),), x, y, about, percent, logarithmic=wide)


def _ours_and(
    published: Iterable[Mapping[str, Any]],
    report: "Report",
    grouping: str,
    measure: str,
    x: Callable[[Any], str | float],
) -> tuple[Series, ...]:
    """Return the players of a run, then published ones."""
    settings, ours = _settings(report), report.groups.get(grouping, ())
    others = series_of(published, grouping, measure, settings, True, x=x, mark=report.published.mark)
    return (*series_of(ours, grouping, measure, settings, x=x), *others)


def by_variant(report: "Report") -> Iterator[Plot]:
    """Yield accuracy by variant: over the values of a single numeric factor as lines, else as dots."""
    rows = [
        {**row, "setting": setting, "variant": variant}
        for row in report.rows
        for setting, colon, variant in [row["setting"].partition(":")]
        if colon
    ]
    factors = {level.partition("=")[0] for row in rows for level in row["variant"].split(",")}
    name = factors.pop().replace("_", " ") if len(factors) == 1 else "variant"
    numeric = name != "variant" and all(_NUMBER.fullmatch(_level(row["variant"])) for row in rows)
    x: Callable[[str], str | float] = (lambda variant: float(_level(variant))) if numeric else one_line
    if rows:
        settings = len({row["setting"] for row in rows})
        yield Plot(
            "accuracy-by-variant",
            f"Accuracy by {name}",
            "lines" if numeric else "dots",
            (Panel(tuple(series_of(rows, "variant", "accuracy", settings, x=x))),),
            name if numeric else "",
            "accuracy in %",
            "The same tasks in all variants. Bars: 95 % intervals, clustered by graph.",
            percent=True,
        )


def _level(variant: str) -> str:
    """Return the level of a variant of one factor: "5" of "turn_limit=5"."""
    return variant.partition("=")[2]


def is_wide(numbers: Iterable[float]) -> bool:
    """Return True for numbers over several orders of magnitude, which need a logarithmic axis."""
    values = list(numbers)
    return bool(values) and min(values) > 0 and max(values) > _WIDE * min(values)


def series_of(
    rows: Iterable[Mapping[str, Any]],
    grouping: str,
    measure: str,
    settings: int = 2,
    published: bool = False,
    *,
    x: Callable[[Any], str | float] = one_line,
    mark: str = "",
) -> Iterator[Series]:
    """Yield the rows of each player as points, except rows without a value. `x` places a group."""
    by_player: dict[str, list[PlotPoint]] = {}
    for row in rows:
        if row.get(measure) is not None:
            name = player_name(row, settings) + mark * published
            by_player.setdefault(name, []).append(point(row, measure, x(row[grouping])))
    for name, points in by_player.items():
        yield Series(name, tuple(points), published)


def point(row: Mapping[str, Any], measure: str, x: str | float) -> PlotPoint:
    low, high = row.get("intervals", {}).get(measure, (None, None))
    return PlotPoint(x, float(row[measure]), low, high)


def within_calls(report: "Report", title: str = "Correct answers by number of calls") -> Plot:
    """Plot the share of tasks solved with at most a number of tool calls."""
    observed = report.observed
    calls, right = observed.column("calls_per_question"), observed.column("accuracy")
    settings = len({player.setting for player in observed.players})
    series = []
    for player in observed.players:
        numbers = observed.rows_of(player)
        numbers = numbers[~np.isnan(right[numbers]) & ~np.isnan(calls[numbers])]
        most = float(calls[numbers].max(initial=0))
        needed = calls[numbers][right[numbers] > 0]
        if most:
            xs = (0.0, *np.unique(needed[needed > 0]).tolist(), most)
            points = (PlotPoint(x, 100.0 * float((needed <= x).sum()) / len(numbers)) for x in xs)
            series.append(Series(player_name(player._asdict(), settings), tuple(points)))
    y, about = "correct with at most x calls, in %", "Accuracy that a limit on calls would have allowed."
    return Plot("right-within-calls", title, "steps", (Panel(tuple(series)),), "tool calls", y, about, percent=True)


_PRICES = (
    ("cost_per_question", "US dollars per task"),
    ("tokens_per_question", "tokens per task"),
    ("calls_per_question", "tool calls per task"),
)


def _cost(row: Mapping[str, Any]) -> dict[str, float]:
    """Return the mean cost of a task, if the cost of every episode is known."""
    has_cost = row.get("cost") is not None and not row.get("cost_unknown") and row.get("tasks")
    return {"cost_per_question": row["cost"] / row["tasks"]} if has_cost else {}


def cost_against_accuracy(report: "Report") -> Plot:
    """Plot accuracy against cost; without prices against tokens, else calls."""
    rows = [row | _cost(row) for row in report.rows if row.get("accuracy") is not None]
    field, unit = next((p for p in _PRICES if any(row.get(p[0]) for row in rows)), _PRICES[-1])
    priced = [row for row in rows if row.get(field)]
    series = tuple(
        Series(player_name(row, _settings(report)), (point(row, "accuracy", float(row[field])),)) for row in priced
    )
    wide = is_wide(row[field] for row in priced)
    name, title, y = "cost-against-accuracy", "Accuracy against cost", "accuracy in %"
    about = "Upper left is better. Bars: 95 % intervals, clustered by graph."
    return Plot(name, title, "points", (Panel(series),), unit, y, about, percent=True, logarithmic=wide)


def outcomes(report: "Report", title: str = "Answers by outcome") -> Plot:
    """Plot the shares of the episodes that are correct, that have each cause of wrong answers, and that failed."""
    settings = _settings(report)
    named = {
        "correct": "correct",
        **{cause.field: cause.text.lower() for cause in report.suite.causes},
        "infrastructure_failures": "failed",
    }
    totals = [(row, sum(row.get(field) or 0 for field in named)) for row in report.rows]
    series = []
    for field, outcome in named.items():
        shares = [(player_name(row, settings), 100.0 * (row.get(field) or 0) / n) for row, n in totals if n]
        if any(share for _, share in shares):
            series.append(Series(outcome, tuple(PlotPoint(*share) for share in shares)))
    causes = [cause for cause in report.suite.causes if any(row.get(cause.field) for row in report.rows)]
    legends = [f"{cause.text}: {cause.legend}" for cause in causes if cause.legend]
    about = ". ".join(["Failed: infrastructure errors", *legends]) + "."
    return Plot("outcomes", title, "stacked", (Panel(tuple(series)),), y="episodes in %", about=about, percent=True)

"""`graphwalk power`: the number of graphs needed to detect a difference."""

from collections.abc import Iterator
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphwalk.cli.options import Json
from graphwalk.errors import ConfigError, counted
from graphwalk.terminal.console import data

if TYPE_CHECKING:
    from graphwalk.evaluation.power import Design, Spread

_TASKS = 12
"""Tasks per graph in the paper's experiments."""


def power(
    difference: Annotated[
        float, typer.Option("--difference", "-d", min=0.1, max=100, help="Difference to detect, in percentage points.")
    ] = 10,
    power: Annotated[float, typer.Option(min=1, max=99, help="Statistical power, in percent.")] = 80,
    alpha: Annotated[float, typer.Option(min=0.01, max=50, help="Significance level α, in percent.")] = 5,
    run: Annotated[Path | None, typer.Option(help="Run to estimate the variance from.")] = None,
    model: Annotated[list[str] | None, typer.Option("--model", "-m", help="Only this model of the run.")] = None,
    setting: Annotated[list[str] | None, typer.Option(help="Only this setting of the run.")] = None,
    first: Annotated[
        float | None, typer.Option(min=0, max=100, help="Assumed first accuracy in percent. Default: 50.")
    ] = None,
    second: Annotated[
        float | None, typer.Option(min=0, max=100, help="Assumed second accuracy. Default: --first less --difference.")
    ] = None,
    tasks_per_graph: Annotated[
        int | None, typer.Option(min=1, help="Tasks per graph. Default: as in the run, else 12.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Repeats of each task. Default: as in the run, else 1.")
    ] = None,
    graphs: Annotated[
        int | None, typer.Option(min=2, help="Also print the minimum detectable effect with N graphs.")
    ] = None,
    json: Json = False,
) -> None:
    """Compute the number of graphs that a comparison needs.

    Results on one graph are correlated, so the graph is the unit of sampling. Formula: docs/statistics.md.
    """
    from graphwalk.evaluation.power import Design, graphs_needed, minimum_detectable_effect

    if run is not None and (first is not None or second is not None):
        raise ConfigError("--run cannot be combined with --first or --second", hint="pass one or the other")
    if run is None and (model or setting):
        flag = "--model" if model else "--setting"
        raise ConfigError(f"{flag} requires --run", hint="--run FOLDER")
    chances = {"alpha": alpha / 100, "power": power / 100}
    rows: list[dict[str, Any]] = []
    for names, spread, seen in _cases(run, model or [], setting or [], first, second, difference):
        design = Design(tasks_per_graph or seen.tasks_per_graph, *[repeats or seen.first_repeats] * 2)
        needed = graphs_needed(difference / 100, design, spread, **chances)
        effect = graphs and minimum_detectable_effect(graphs, design, spread, **chances)
        rows.append(
            {
                **names,
                "difference": difference,
                **chances,
                "tasks_per_graph": design.tasks_per_graph,
                "repeats": design.first_repeats,
                "graphs_needed": needed,
                **({"graphs": graphs, "smallest_difference": round(100 * effect, 2)} if graphs and effect else {}),
            }
        )
    data(dumps(rows, indent=2) if json else "\n".join(line for one in rows for line in _text(one)))


def _cases(
    run: Path | None,
    models: list[str],
    settings: list[str],
    first: float | None,
    second: float | None,
    difference: float,
) -> "Iterator[tuple[dict[str, Any], Spread, Design]]":
    """Yield names of the compared models, the spread of their results, and the default design."""
    from graphwalk.evaluation.power import Design, assumed_spread
    from graphwalk.runs.finished.reporting import measured_pairs

    if run is not None:
        for pair in measured_pairs(run, models, settings):
            names = {"first": " ".join(pair.first), "second": " ".join(pair.second)}
            yield names, pair.spread, pair.design
        return
    better = 50.0 if first is None else first
    other = max(0.0, better - difference) if second is None else second
    yield {"first": better, "second": other}, assumed_spread(better / 100, other / 100), Design(_TASKS)


def _text(one: dict[str, Any]) -> Iterator[str]:
    measured = isinstance(one["first"], str)
    yield (
        f"{one['first']} − {one['second']}"
        if measured
        else (f"accuracies of {one['first']:g} and {one['second']:g} %, correlations assumed (docs/statistics.md)")
    )
    graphs = one["graphs_needed"]
    needed = "more than ten million graphs" if graphs is None else counted(graphs, "graph")
    plan = f"{counted(one['tasks_per_graph'], 'task')} each, {counted(one['repeats'], 'repeat')}"
    chances = f"power {100 * one['power']:g} %, α {100 * one['alpha']:g} %"
    yield f"  {one['difference']:g} points: {needed} ({plan}; {chances})"
    if "smallest_difference" in one:
        yield f"  {counted(one['graphs'], 'graph')}: {one['smallest_difference']:.1f} points"

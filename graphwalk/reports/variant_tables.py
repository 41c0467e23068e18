"""Shares of the variance between the variants of a run (`vary` of an experiment), on identical tasks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphwalk.evaluation.statistics import Outcomes
from graphwalk.evaluation.variance import INTERACTION, REST, TASK, VARIANT, variance_shares
from graphwalk.reports.compare import player_outcomes
from graphwalk.reports.observations import Observations, Player
from graphwalk.reports.suite_report import PERCENT, PLAYER, Column, table_of
from graphwalk.reports.text_table import TextTable, integer, one_decimal
from graphwalk.types.episode import setting_of

_DIGITS = 6
_TITLES = {TASK: "Tasks %", VARIANT: "Variants %", INTERACTION: "Tasks × variants %", REST: "Rest %"}
_LEGENDS = {
    TASK: "share of the variance between tasks",
    VARIANT: "between variants, the same for all tasks",
    INTERACTION: "between variants, different from task to task",
    REST: "chance; without repeats also what differs from task to task",
}


def levels_of(setting: str) -> dict[str, str]:
    """Return factor → level of a setting: {"turn_limit": "5"} of "tools:turn_limit=5"."""
    variant = setting.partition(":")[2]
    return {factor: level for factor, _, level in (part.partition("=") for part in variant.split(",")) if factor}


def variance_rows(observed: Observations, seed: int) -> list[dict[str, Any]]:
    """Return for each model and setting with variants the shares of the variance of the first compared measure.

    A row has `model`, `setting`, `variants`, `tasks`, `graphs`, `shares` (component or factor → percent) and
    `intervals`. Only tasks that are known in all variants count.
    """
    groups: dict[tuple[str, str], list[Player]] = {}
    for player in observed.players:
        if levels_of(player.setting):
            groups.setdefault((player.model, setting_of(player.setting)), []).append(player)
    rows = []
    for (model, setting), players in groups.items():
        outcomes = [player_outcomes(observed, observed.rows_of(player)) for player in players]
        by_task = _complete_tasks(outcomes)
        if row := _shares(by_task, outcomes, [levels_of(player.setting) for player in players], observed.tries, seed):
            rows.append({"model": model, "setting": setting, **row})
    return rows


def _complete_tasks(outcomes: Sequence[Outcomes]) -> dict[Any, list[float]]:
    """Return (graph, task) → the outcome in each variant, for tasks that are known in all."""
    columns = [dict(zip(one.keys, one.values[:, 0].tolist(), strict=True)) for one in outcomes]
    shared = [key for key in columns[0] if all(key in column for column in columns)]
    by_task = {key: [column[key] for column in columns] for key in shared}
    return {key: values for key, values in by_task.items() if not np.isnan(values).any()}


def _shares(
    by_task: Mapping[Any, list[float]],
    outcomes: Sequence[Outcomes],
    levels: Sequence[Mapping[str, str]],
    repeats: int,
    seed: int,
) -> dict[str, Any] | None:
    if not by_task:
        return None
    names = list(levels[0]) if len(levels[0]) > 1 else []
    factors = {name: [level.get(name, "") for level in levels] for name in names}
    factors = {name: values for name, values in factors.items() if len(set(values)) > 1}
    numbers = {graph: number for number, graph in enumerate(dict.fromkeys(graph for graph, _ in by_task))}
    graphs = np.array([numbers[graph] for graph, _ in by_task], dtype=np.int64)
    noise = float(np.mean([one.noise[0] for one in outcomes])) if repeats > 1 else None
    shares = variance_shares(np.array(list(by_task.values())), graphs, factors, noise=noise, repeats=repeats, seed=seed)
    if shares is None:
        return None
    percent = {name: round(PERCENT * share.value, _DIGITS) for name, share in shares.items()}
    intervals = {
        name: [round(PERCENT * share.low, _DIGITS), round(PERCENT * share.high, _DIGITS)]
        for name, share in shares.items()
        if share.low is not None and share.high is not None
    }
    sizes = {"variants": len(levels), "tasks": len(by_task), "graphs": len(numbers)}
    return {**sizes, "shares": percent, "intervals": intervals}


def variance_table(rows: Sequence[Mapping[str, Any]], measure: str) -> TextTable:
    """Lay out the rows of `variance_rows`."""
    names = list(dict.fromkeys(name for row in rows for name in row["shares"]))
    factors = [name for name in names if name not in _TITLES]
    ordered = [name for name in (TASK, VARIANT, *factors, INTERACTION, REST) if name in names]
    columns = [*PLAYER, *(Column(name.capitalize(), name, integer, 1) for name in ("variants", "tasks", "graphs"))]
    for name in ordered:
        title, legend = _TITLES.get(name, f"{name} %"), _LEGENDS.get(name, f"of these, main effect of {name}")
        columns.append(Column(title, f"share {name}", one_decimal, interval=one_decimal, legend=legend))
    rows = [
        {
            **row,
            **{f"share {name}": value for name, value in row["shares"].items()},
            "intervals": {f"share {name}": ends for name, ends in row["intervals"].items()},
        }
        for row in rows
    ]
    note = "Two-way layout of tasks and variants; intervals: bootstrap over graphs (docs/statistics.md, Variance)."
    return table_of(f"Shares of the variance of {measure}", columns, rows, note)

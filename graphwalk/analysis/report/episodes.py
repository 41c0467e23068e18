"""The results of a run as a data frame with a row per episode, and the rows of reports made of it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import polars as pl

from graphwalk.analysis.report.suite_report import (
    ACCURACY,
    BASELINE,
    CONSTANT,
    DIGITS,
    PERCENT,
    PROVEN,
    Grouping,
    ReportRow,
    SuiteReport,
    baseline_result,
    in_order,
)
from graphwalk.analysis.statistics import estimate_means, estimate_shares, tasks_of
from graphwalk.errors import ConfigError
from graphwalk.models.finish_reasons import is_unknown
from graphwalk.runs.experiment import DEFAULT_PROTOCOL
from graphwalk.runs.record import ResultRecord
from graphwalk.sanitise import one_line
from graphwalk.suites.setting import Setting

PLAYER = ("model", "setting")
_KEY = (*PLAYER, "task_id", "repeat")
FEWEST_FOR_CONSTANT = 5
"""Tasks of a kind from which a constant answer is chosen."""
_BATCH = 1000
"""Episodes that are held as Python objects."""
Row = tuple[Any, ...]
_COLUMNS = {
    **dict.fromkeys((*PLAYER, "task_id"), pl.String),
    "repeat": pl.Int64,
    **dict.fromkeys(("graph", "question", "twin_of", "failure"), pl.String),
}
"""Graph and question are the clusters of statistics. `twin_of`: the same task on the original graph, if this one is on
its anonymised copy. `failure`: the infrastructure error that ended the episode. Groups (`by NAME`) and measures follow.
"""


@dataclass(frozen=True)
class Observations:
    """The measured episodes of a run, those of its baselines, and the notes that they require."""

    suite: SuiteReport
    episodes: pl.DataFrame
    baselines: pl.DataFrame
    remarks: Sequence[str] = ()


def observe(results: Iterable[ResultRecord], suite: SuiteReport, protocol: str = DEFAULT_PROTOCOL) -> Observations:
    """Measure results, in any order. Of a repeated episode, the last result counts."""
    baselines, tasks, remarks = list[Row](), set[str](), set[str | None]()
    constants: dict[str, list[_ConstantTask]] = {}

    unknown_ends: Counter[str] = Counter()

    def counted_ends() -> Iterator[ResultRecord]:
        for result in results:
            for turn in result.get("trajectory", {}).get("turns", ()):
                reason = turn.get("finish_reason", "")
                unknown_ends[one_line(reason)] += is_unknown(reason)
            yield result

    def episodes() -> Iterator[Row]:
        for result in suite.records(counted_ends(), protocol):
            if result["task_id"] not in tasks:
                tasks.add(result["task_id"])
                baselines.extend(tuple(_values(baseline, suite)) for baseline in suite.baselines(result))
                if answers := frozenset(suite.right_answers(result)):
                    scored = {
                        correct: tuple(_values(baseline_result(result, CONSTANT, {"correct": correct}), suite))
                        for correct in (True, False, None)
                    }
                    constants.setdefault(result["task"]["template"], []).append(_ConstantTask(answers, scored))
            remarks.add(suite.remark(result))
            if result["usage"].get("estimated"):
                remarks.add("Tokens and cost are partly estimated, since a provider does not report usage.")
            yield tuple(_values(result, suite))

    frame = _frame(episodes(), suite)
    for of_kind in constants.values():
        baselines += _constant_results(of_kind)
    for reason, number in unknown_ends.items():
        if number:
            remarks.add(f'Replies that ended with "{reason}", which is not known, and are taken as whole: {number:,}.')
    frame = _with_unknown_as_unproven(frame)
    return Observations(suite, frame, _frame(baselines, suite), sorted(filter(None, remarks)))


@dataclass(frozen=True)
class _ConstantTask:
    """A task for the best constant answer: its right answers, and the row if a constant is right, wrong or unknown."""

    right_answers: frozenset[str]
    row_if: Mapping[bool | None, Row]


def _constant_results(tasks: Sequence[_ConstantTask]) -> list[Row]:
    """Return the rows of one constant for all tasks of a kind: the most frequent right answer, of several the first.

    With few tasks it would be right by its choice alone, and is unknown.
    """
    if len(tasks) < FEWEST_FOR_CONSTANT:
        return [task.row_if[None] for task in tasks]

    counts = Counter(answer for task in tasks for answer in task.right_answers)
    constant = min(counts, key=lambda answer: (-counts[answer], answer))
    return [task.row_if[constant in task.right_answers] for task in tasks]


def _with_unknown_as_unproven(episodes: pl.DataFrame) -> pl.DataFrame:
    """Return the episodes with answers of unknown proof as unproven, if any proof of their player is known.

    So the share of right and proven answers is one of all scored answers. It is unknown for a player without tools.
    """
    if PROVEN not in episodes.columns:
        return episodes
    is_known = pl.col(PROVEN).is_not_null().any().over(PLAYER)
    is_scored = pl.col(ACCURACY).is_not_null()
    filled = [
        pl.when(is_known & is_scored).then(pl.col(name).fill_null(0.0)).otherwise(pl.col(name)).alias(name)
        for name in (PROVEN, "proven")
    ]
    return episodes.with_columns(filled)


def _values(result: ResultRecord, suite: SuiteReport) -> Iterator[Any]:
    """Yield the values of an episode in the order of the columns."""
    yield from (result[name] for name in _KEY)
    yield from suite.cluster(result["task_id"], result["task"])
    yield result["task"].get("twin_of")
    error = result.get("trajectory", {}).get("error")
    yield f"{result['exit_status']}: {one_line(error.splitlines()[0])}" if error else None
    yield from (grouping.value(result) for grouping in suite.all_groupings.values())
    for measure in suite.measures:
        value = measure.value(result)
        yield None if value is None else float(value)


def _frame(rows: Iterable[Row], suite: SuiteReport) -> pl.DataFrame:
    columns = {
        **_COLUMNS,
        **{grouping.column: None for grouping in suite.all_groupings.values()},
        **{measure.name: pl.Float64 for measure in suite.measures},
    }
    rows, parts = iter(rows), [pl.DataFrame([], columns)]
    while batch := list(islice(rows, _BATCH)):
        parts.append(pl.DataFrame(batch, columns, orient="row", infer_schema_length=None))
    return pl.concat(parts, how="vertical_relaxed").unique(_KEY, keep="last").sort(_KEY)


def players_of(episodes: pl.DataFrame) -> list[tuple[str, str]]:
    """Return the models and settings, in which numbers are sorted as numbers."""
    return sorted(episodes.select(PLAYER).unique().rows(), key=lambda player: (player[0], in_order(player[1])))


def chosen(episodes: pl.DataFrame, models: Sequence[str], settings: Sequence[str]) -> pl.DataFrame:
    """Return the episodes with these models and settings (default: all). Raise ConfigError for an unknown name."""
    players = players_of(episodes)
    played = {setting for _, setting in players}
    names = {model for model, _ in players} | played | {Setting.parse(setting).name for setting in played}
    if unknown := [name for name in (*models, *settings) if name not in names]:
        choices = ", ".join(sorted(map(" ".join, players))) or "none yet"
        raise ConfigError(f"no model or setting {unknown[0]!r} in this run", hint=f"one of: {choices}")
    of_settings = [one for one in played if not settings or one in settings or Setting.parse(one).name in settings]
    of_models = models or [model for model, _ in players]
    return episodes.filter(pl.col("model").is_in(of_models), pl.col("setting").is_in(of_settings))


def rows_of(episodes: pl.DataFrame, suite: SuiteReport, grouping: Grouping | None = None) -> list[ReportRow]:
    """Return a row per model and setting, or per group, model and setting."""
    by = list(PLAYER)
    if grouping:
        by.append(grouping.column)
        if isinstance(episodes.schema[grouping.column], pl.List):
            episodes = episodes.explode(grouping.column)
        episodes = episodes.drop_nulls(grouping.column)
    if episodes.is_empty():
        return []
    sums, medians, means, shares = (
        [measure.name for measure in suite.measures if measure.kind in kinds]
        for kinds in (("count", "total"), ("median",), ("mean", "amount"), ("share", "percent"))
    )
    tasks = tasks_of(episodes, by, medians + means + shares)
    all_tasks = {key: len(part) for key, part in tasks.partition_by(by, as_dict=True).items()}
    known_sums = (pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()) for name in sums)
    figures = [
        estimate_means(tasks, by, means),
        estimate_shares(tasks, by, shares),
        episodes.group_by(by).agg(known_sums).unpivot(index=by, variable_name="measure"),
        tasks.group_by(by).agg(pl.col(medians).median()).unpivot(index=by, variable_name="measure"),
    ]
    rows = []
    for key, part in pl.concat(figures, how="diagonal").partition_by(by, as_dict=True).items():
        model, setting, *groups = key
        named = {"model": model, "setting": setting, **({grouping.name: groups[0]} if grouping else {})}
        row = {**named, **_figures({row["measure"]: row for row in part.to_dicts()}, suite, setting)}
        if model == CONSTANT and row["tasks"] < all_tasks[key]:
            # The constants of some kinds are not known: those of the others are no baseline for all questions.
            row |= dict.fromkeys(("correct", ACCURACY))
        rows.append(row)

    def order(row: ReportRow) -> tuple[Any, ...]:
        group = grouping.sort_key(row[grouping.name]) if grouping else ()
        return group, row["model"], in_order(row["setting"])

    return sorted(rows, key=order)


def _figures(estimates: Mapping[str, Mapping[str, Any]], suite: SuiteReport, setting: str) -> ReportRow:
    """Return the measures of a row with their intervals, which baselines lack: they are computed, not measured."""
    accuracy = estimates[ACCURACY]
    graphs = accuracy["clusters"] if accuracy["unit"] == "graph" else min(accuracy["clusters"], 1)
    figures: ReportRow = {"tasks": int(accuracy["n"]), "graphs": int(graphs), "unit": accuracy["unit"]}
    intervals, no_interval = {}, {}
    for measure in suite.measures:
        name, estimate, scale = measure.name, estimates[measure.name], PERCENT if measure.kind == "percent" else 1
        value, low = estimate["value"], estimate["low"]
        if value is None:
            figures[name] = None
            continue
        figures[name] = round(value) if measure.kind == "count" else round(scale * value, DIGITS)
        if setting != BASELINE and estimate["reason"]:
            no_interval[name] = estimate["reason"]
        elif setting != BASELINE and low is not None:
            low = max(low, 0.0) if measure.kind == "amount" else low
            intervals[name] = [round(scale * end, DIGITS) for end in (low, estimate["high"])]
    return {**figures, "intervals": intervals, "no_interval": no_interval}

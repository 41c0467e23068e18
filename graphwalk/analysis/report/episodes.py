"""The results of a run as a data frame with a row per episode, and the rows of reports made of it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import polars as pl

from graphwalk.analysis.report.rows import Contestant, Interval, ReportRow
from graphwalk.analysis.report.suite_report import (
    ACCURACY,
    BASELINE,
    CONSTANT,
    DIGITS,
    PERCENT,
    PROVEN,
    Grouping,
    Kind,
    Measure,
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

CONTESTANT = ("model", "setting")
"""The columns of a contestant."""
_KEY = (*CONTESTANT, "task_id", "repeat")
FEWEST_FOR_CONSTANT = 5
"""Tasks of a kind from which a constant answer is chosen."""
_BATCH = 1000
"""Episodes that are held as Python objects."""
Row = tuple[Any, ...]
"""The values of an episode in the order of the columns."""
_COLUMNS: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys((*CONTESTANT, "task_id"), pl.String),
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
    observer = _Observer(suite)
    episodes = _frame(observer.rows(results, protocol), suite)
    baselines = _frame(observer.baseline_rows(), suite)
    return Observations(suite, _with_unknown_as_unproven(episodes), baselines, sorted(observer.notes()))


@dataclass(frozen=True)
class _ConstantTask:
    """A task for the best constant answer: its right answers, and the row if a constant is right, wrong or unknown."""

    right_answers: frozenset[str]
    row_if: Mapping[bool | None, Row]


class _Observer:
    """Measures results one by one, and collects the baselines of their tasks and the notes that they require."""

    def __init__(self, suite: SuiteReport) -> None:
        self._suite = suite
        self._tasks: set[str] = set()
        self._baselines: list[Row] = []
        self._constants: dict[str, list[_ConstantTask]] = {}
        """Kind of question → its tasks."""
        self._remarks: set[str] = set()
        self._unknown_ends: Counter[str] = Counter()

    def rows(self, results: Iterable[ResultRecord], protocol: str) -> Iterator[Row]:
        for result in self._suite.records(self._with_ends_counted(results), protocol):
            if result["task_id"] not in self._tasks:
                self._tasks.add(result["task_id"])
                self._add_baselines(result)
            remark = self._suite.remark(result)
            if remark:
                self._remarks.add(remark)
            if result["usage"].get("estimated"):
                self._remarks.add("Tokens and cost are partly estimated, since a provider does not report usage.")
            yield _row(result, self._suite)

    def baseline_rows(self) -> list[Row]:
        """Return the rows of baselines; the best constant is known when all results are."""
        rows = list(self._baselines)
        for tasks in self._constants.values():
            rows += _constant_results(tasks)
        return rows

    def notes(self) -> Iterator[str]:
        yield from self._remarks
        for reason, number in self._unknown_ends.items():
            yield f'Replies that ended with "{reason}", which is not known, and are taken as whole: {number:,}.'

    def _with_ends_counted(self, results: Iterable[ResultRecord]) -> Iterator[ResultRecord]:
        # Before `records` of the suite, which may leave trajectories out.
        for result in results:
            for turn in result.get("trajectory", {}).get("turns", ()):
                reason = turn.get("finish_reason", "")
                if is_unknown(reason):
                    self._unknown_ends[one_line(reason)] += 1
            yield result

    def _add_baselines(self, result: ResultRecord) -> None:
        for baseline in self._suite.baselines(result):
            self._baselines.append(_row(baseline, self._suite))

        answers = frozenset(self._suite.right_answers(result))
        if not answers:
            return
        row_if = {}
        for correct in (True, False, None):
            row_if[correct] = _row(baseline_result(result, CONSTANT, {"correct": correct}), self._suite)
        self._constants.setdefault(result["task"]["template"], []).append(_ConstantTask(answers, row_if))


def _constant_results(tasks: Sequence[_ConstantTask]) -> list[Row]:
    """Return the rows of one constant for all tasks of a kind: the most frequent right answer, of several the first.

    With few tasks it would be right by its choice alone, and is unknown.
    """
    if len(tasks) < FEWEST_FOR_CONSTANT:
        return [task.row_if[None] for task in tasks]

    # {"Ada": 3, "Bo": 3, "Ida": 1}: "Ada" is the constant.
    counts: Counter[str] = Counter()
    for task in tasks:
        counts.update(task.right_answers)
    constant = min(counts, key=lambda answer: (-counts[answer], answer))
    return [task.row_if[constant in task.right_answers] for task in tasks]


def _with_unknown_as_unproven(episodes: pl.DataFrame) -> pl.DataFrame:
    """Return the episodes with answers of unknown proof as unproven, if any proof of their contestant is known.

    So the share of right and proven answers is one of all scored answers. It is unknown for a contestant without tools.
    """
    if PROVEN not in episodes.columns:
        return episodes
    is_known = pl.col(PROVEN).is_not_null().any().over(CONTESTANT)
    is_scored = pl.col(ACCURACY).is_not_null()
    filled = [
        pl.when(is_known & is_scored).then(pl.col(name).fill_null(0.0)).otherwise(pl.col(name)).alias(name)
        for name in (PROVEN, "proven")
    ]
    return episodes.with_columns(filled)


def _row(result: ResultRecord, suite: SuiteReport) -> Row:
    task = result["task"]
    error = result.get("trajectory", {}).get("error")
    failure = None
    if error:
        # model_error: HTTP 503
        failure = f"{result['exit_status']}: {one_line(error.splitlines()[0])}"

    row = [result[name] for name in _KEY]
    row += suite.cluster(result["task_id"], task)
    row += [task.get("twin_of"), failure]
    row += [grouping.value(result) for grouping in suite.all_groupings.values()]
    for measure in suite.measures:
        value = measure.value(result)
        row.append(None if value is None else float(value))
    return tuple(row)


def _frame(rows: Iterable[Row], suite: SuiteReport) -> pl.DataFrame:
    columns: dict[str, type[pl.DataType] | None] = {**_COLUMNS}
    for grouping in suite.all_groupings.values():
        # Texts, numbers or lists of texts, as the values are.
        columns[grouping.column] = None
    for measure in suite.measures:
        columns[measure.name] = pl.Float64

    parts = [pl.DataFrame([], columns)]
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        parts.append(pl.DataFrame(batch, columns, orient="row", infer_schema_length=None))
    return pl.concat(parts, how="vertical_relaxed").unique(_KEY, keep="last").sort(_KEY)


def contestants_of(episodes: pl.DataFrame) -> list[Contestant]:
    """Return the models and settings, in which numbers are sorted as numbers."""
    pairs = episodes.select(CONTESTANT).unique().rows()
    contestants = [Contestant(model, Setting.parse(setting)) for model, setting in pairs]
    return sorted(contestants, key=_order)


def _order(contestant: Contestant) -> tuple[str, list[str | int]]:
    return contestant.model, in_order(str(contestant.setting))


def chosen(episodes: pl.DataFrame, models: Sequence[str], settings: Sequence[str]) -> pl.DataFrame:
    """Return the episodes with these models and settings (default: all). Raise ConfigError for an unknown name.

    The name of a setting includes all its variants.
    """
    contestants = contestants_of(episodes)
    names: set[str] = set()
    for model, setting in contestants:
        names |= {model, str(setting), setting.name}
    unknown = [name for name in (*models, *settings) if name not in names]
    if unknown:
        choices = ", ".join(sorted(str(contestant) for contestant in contestants)) or "none yet"
        raise ConfigError(f"no model or setting {unknown[0]!r} in this run", hint=f"one of: {choices}")

    if models:
        episodes = episodes.filter(pl.col("model").is_in(models))
    if settings:
        played = {str(setting) for _, setting in contestants if str(setting) in settings or setting.name in settings}
        episodes = episodes.filter(pl.col("setting").is_in(sorted(played)))
    return episodes


def rows_of(episodes: pl.DataFrame, suite: SuiteReport, grouping: Grouping | None = None) -> list[ReportRow]:
    """Return a row per model and setting, or per group, model and setting."""
    by = list(CONTESTANT)
    if grouping:
        by.append(grouping.column)
        # An episode may be in several groups.
        if isinstance(episodes.schema[grouping.column], pl.List):
            episodes = episodes.explode(grouping.column)
        episodes = episodes.drop_nulls(grouping.column)
    if episodes.is_empty():
        return []

    sums = _names_of(suite, "count", "total")
    medians = _names_of(suite, "median")
    means = _names_of(suite, "mean", "amount")
    shares = _names_of(suite, "share", "percent")
    tasks = tasks_of(episodes, by, medians + means + shares)
    # The sum of nothing is unknown, not 0.
    known_sums = [pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()) for name in sums]
    figures = [
        estimate_means(tasks, by, means),
        estimate_shares(tasks, by, shares),
        episodes.group_by(by).agg(known_sums).unpivot(index=by, variable_name="measure"),
        tasks.group_by(by).agg(pl.col(medians).median()).unpivot(index=by, variable_name="measure"),
    ]

    all_tasks = {key: len(part) for key, part in tasks.partition_by(by, as_dict=True).items()}
    rows = []
    for key, part in pl.concat(figures, how="diagonal").partition_by(by, as_dict=True).items():
        estimates = {line["measure"]: _Estimate.of(line) for line in part.to_dicts()}
        row = _report_row(Contestant(key[0], Setting.parse(key[1])), estimates, suite)
        if grouping:
            row = replace(row, group=key[2])
        if row.model == CONSTANT and (row.tasks or 0) < all_tasks[key]:
            # The constants of some kinds are not known: those of the others are no baseline for all questions.
            row = replace(row, figures={**row.figures, "correct": None, ACCURACY: None})
        rows.append(row)

    rows.sort(key=lambda row: _order(row.contestant))
    if grouping:
        rows.sort(key=lambda row: grouping.sort_key(row.group))
    return rows


def _names_of(suite: SuiteReport, *kinds: Kind) -> list[str]:
    return [measure.name for measure in suite.measures if measure.kind in kinds]


@dataclass(frozen=True)
class _Estimate:
    """A line of statistics.py: a value, and the ends of its interval or the reason why there is none."""

    value: float | None
    low: float | None
    high: float | None
    reason: str | None
    tasks: float | None
    clusters: float | None
    """Graphs or questions; None of sums and medians, as tasks and unit."""
    unit: str | None

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> "_Estimate":
        return cls(
            value=line["value"],
            low=line["low"],
            high=line["high"],
            reason=line["reason"],
            tasks=line["n"],
            clusters=line["clusters"],
            unit=line["unit"],
        )

    def figure(self, measure: Measure) -> float | None:
        if self.value is None:
            return None
        if measure.kind == "count":
            return round(self.value)
        return round(_scale(measure) * self.value, DIGITS)

    def interval(self, measure: Measure) -> Interval | None:
        if self.value is None or self.low is None or self.high is None:
            return None
        # A mean of non-negative values is not negative.
        low = max(self.low, 0.0) if measure.kind == "amount" else self.low
        scale = _scale(measure)
        return Interval(round(scale * low, DIGITS), round(scale * self.high, DIGITS))


def _scale(measure: Measure) -> int:
    return PERCENT if measure.kind == "percent" else 1


def _report_row(contestant: Contestant, estimates: Mapping[str, _Estimate], suite: SuiteReport) -> ReportRow:
    """Return a row with intervals, which baselines lack: they are computed, not measured."""
    figures: dict[str, float | None] = {}
    intervals: dict[str, Interval] = {}
    no_interval: dict[str, str] = {}
    for measure in suite.measures:
        estimate = estimates[measure.name]
        figures[measure.name] = estimate.figure(measure)
        if estimate.value is None or contestant.setting.name == BASELINE:
            continue
        interval = estimate.interval(measure)
        if estimate.reason:
            no_interval[measure.name] = estimate.reason
        elif interval is not None:
            intervals[measure.name] = interval

    accuracy = estimates[ACCURACY]
    clusters = int(accuracy.clusters or 0)
    return ReportRow(
        contestant,
        figures,
        tasks=int(accuracy.tasks or 0),
        graphs=clusters if accuracy.unit == "graph" else min(clusters, 1),
        unit=accuracy.unit,
        intervals=intervals,
        no_interval=no_interval,
    )

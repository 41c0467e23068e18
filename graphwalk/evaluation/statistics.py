"""Intervals and tests for tasks that share graphs; docs/statistics.md has formulas, sources and coverage.

The graph is the cluster, or the question if all tasks are on one graph. Repeats of a task are averaged first, so that a
task counts once.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, log2
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from graphwalk.seeds import generator

Table = NDArray[np.float64]
Numbers = NDArray[np.int64]
Unit = Literal["graph", "question"]
_Name = TypeVar("_Name", bound=Hashable)

CONFIDENCE = 0.95
ALPHA = 0.05
"""Significance level of tests."""
MOST_UNITS_EXACT = 16
"""All 2^C assignments of signs are tried up to here."""
DRAWS = 9_999
_BLOCK = 4_000_000
"""Sums of signs held in memory at a time."""


@dataclass(frozen=True)
class Outcomes:
    """Scores of one agent: one row per task, one column per measure.

    `values`, shape (tasks, measures): the mean of the task's repeats, NaN where none is known. `graphs`, shape
    (tasks,): the number of the graph of each task; `questions`: of its question, which several tasks share only if they
    are parts of one. `keys`: (graph, task) as given. `episodes`, shape (measures,): known values before averaging.
    """

    values: Table
    graphs: Numbers
    questions: Numbers
    keys: tuple[tuple[Hashable, Hashable], ...]
    episodes: Numbers

    @property
    def unit(self) -> Unit:
        """The independent unit of intervals: the question if all tasks are on one graph."""
        return "graph" if len(np.unique(self.graphs)) > 1 else "question"

    @property
    def means(self) -> Table:
        """The mean of each measure over the tasks where it is known, NaN without any: of correctness, the accuracy."""
        is_known = ~np.isnan(self.values)
        with np.errstate(invalid="ignore"):
            means: Table = np.where(is_known, self.values, 0.0).sum(axis=0) / is_known.sum(axis=0)
        return means

    @property
    def clusters(self) -> Numbers:
        """The number of the unit of each task, shape (tasks,)."""
        return self.graphs if self.unit == "graph" else self.questions


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over tasks with its interval.

    `value` is None if unknown. `low`, `high`, `error` (the cluster-robust standard error) and `df` (the degrees of
    freedom of t) are None if there is no interval, for the `reason` given. `n` counts tasks, `clusters` their units:
    graphs, or the questions of one graph.
    """

    value: float | None
    low: float | None
    high: float | None
    error: float | None
    n: int
    clusters: int
    df: float | None = None
    reason: str = ""
    unit: Unit = "graph"

    @property
    def graphs(self) -> int:
        """The number of graphs of the tasks."""
        return self.clusters if self.unit == "graph" else min(self.clusters, 1)

    def scaled(self, factor: float) -> "Estimate":
        """Return the estimate in another unit, for example percent; `factor` is positive."""
        names = ("value", "low", "high", "error")
        scaled = {name: part * factor for name in names if (part := getattr(self, name)) is not None}
        return replace(self, **scaled)


@dataclass(frozen=True, slots=True)
class Comparison:
    """First minus second, for one measure.

    `difference`: mean over tasks with its t interval. `p_value`: of `sign_flips`; None if there are fewer than two
    graphs, or questions on one graph; 1 if no task differs. `first_better`, `second_better`, `equal`: tasks.
    """

    difference: Estimate
    p_value: float | None
    first_better: int
    second_better: int
    equal: int


def outcomes_of(
    values: ArrayLike,
    graphs: Sequence[Hashable],
    tasks: Sequence[Hashable] | None = None,
    questions: Sequence[Hashable] | None = None,
) -> Outcomes:
    """Average the repeats of each task.

    `values`, shape (episodes,) or (episodes, measures); NaN is unknown. `graphs`, `tasks` and `questions` name the
    graph, the task and the question of each episode; without `tasks`, every episode is a task of its own, and without
    `questions` every task a question. Raise ValueError if lengths differ.
    """
    table = np.asarray(values, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    named = list(zip(graphs, range(len(graphs)) if tasks is None else tasks, strict=True))
    if len(named) != len(table):
        raise ValueError(f"{len(table)} rows of values, but {len(named)} graphs")
    rows, keys = _numbered(named)
    of_graphs, _ = _numbered(graph for graph, _ in keys)
    of_tasks = dict(zip(named, named if questions is None else questions, strict=True))
    of_questions, _ = _numbered(of_tasks[key] for key in keys)
    is_known = ~np.isnan(table)
    filled = np.where(is_known, table, 0.0)
    counts, sums = (_sums_by(rows, part, len(keys)) for part in (is_known.astype(np.float64), filled))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / counts
    return Outcomes(means, of_graphs, of_questions, tuple(keys), is_known.sum(axis=0))


def _numbered(names: Iterable[_Name]) -> tuple[Numbers, list[_Name]]:
    """Number names from 0 in order of appearance; return the number of each, and the names by number."""
    number_of: dict[_Name, int] = {}
    numbers = np.array([number_of.setdefault(name, len(number_of)) for name in names], dtype=np.int64)
    return numbers, list(number_of)


def _sums_by(numbers: Numbers, table: Table, size: int) -> Table:
    """Sum the rows of `table` that have the same number; shape (size, columns)."""
    sums = np.zeros((size, table.shape[1]))
    np.add.at(sums, numbers, table)
    return sums


@dataclass(frozen=True)
class _Clustered:
    """Per measure: known tasks `n`, units that have one, their mean, its standard error, degrees of freedom of t.

    `error` and `df` are NaN below two units. `counts` and `sums`, shape (units, measures): known tasks of each unit,
    and the sum of their values.
    """

    unit: Unit
    n: Numbers
    clusters: Numbers
    mean: Table
    error: Table
    df: Table
    counts: Table
    sums: Table


def _clustered(outcomes: Outcomes) -> _Clustered:
    is_known, numbers = ~np.isnan(outcomes.values), outcomes.clusters
    groups = int(numbers.max(initial=-1)) + 1
    counts = _sums_by(numbers, is_known.astype(np.float64), groups)
    sums = _sums_by(numbers, np.where(is_known, outcomes.values, 0.0), groups)
    mean, error, df = _mean_of(counts, sums)
    return _Clustered(outcomes.unit, is_known.sum(axis=0), (counts > 0).sum(axis=0), mean, error, df, counts, sums)


def _mean_of(counts: Table, sums: Table) -> tuple[Table, Table, Table]:
    """Return the mean s̄, its standard error, and the degrees of freedom of t; NaN below two units.

    SE² = C/(C-1) · Σ_units (Σ_tasks (s - s̄))² / n² (E. Miller, arXiv 2411.00640). Degrees of freedom are C - 1 if units
    have equally many tasks; else C is n² / Σ n_c², and they are at least 1.
    """
    n, clusters = counts.sum(axis=0), (counts > 0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums.sum(axis=0) / n
        deviations = np.where(counts > 0, sums - mean * counts, 0.0)
        error = np.sqrt(clusters / (clusters - 1) * (deviations**2).sum(axis=0)) / n
        df = np.maximum(n**2 / (counts**2).sum(axis=0) - 1, 1)
    several = clusters > 1
    return mean, np.where(several, error, np.nan), np.where(several, df, np.nan)


def _bounds(mean: Table, error: Table, df: Table) -> tuple[Table, Table]:
    half = stdtrit(df, (1 + CONFIDENCE) / 2) * error
    return mean - half, mean + half


def estimate_means(outcomes: Outcomes) -> list[Estimate]:
    """Estimate amounts and differences by mean ± t · SE; no interval where every unit has the same mean."""
    clustered = _clustered(outcomes)
    low, high = _bounds(clustered.mean, clustered.error, clustered.df)
    scale = np.abs(np.where(np.isnan(outcomes.values), 0.0, outcomes.values)).max(axis=0, initial=0.0)
    flat = np.nan_to_num(clustered.error) <= 1e-12 * scale
    return list(_estimates(clustered, low, high, flat))


def estimate_shares(outcomes: Outcomes) -> list[Estimate]:
    """Estimate each measure with values between 0 and 1.

    The interval is that of a mean after one more graph with the average number of tasks, half of them right, is added,
    as A. Agresti and B. Coull (1998) add successes and failures. Its standard error is at least that of independent
    tasks. On one graph it is Wilson's interval over its questions.
    """
    clustered = _clustered(outcomes)
    if clustered.unit == "question":
        low, high = _wilson(clustered.mean, clustered.clusters)
    else:
        low, high = _share_bounds(clustered)
    low = np.clip(np.minimum(low, clustered.mean), 0, 1)  # rounding must not leave the share outside
    high = np.clip(np.maximum(high, clustered.mean), 0, 1)
    return list(_estimates(clustered, low, high, np.zeros(len(clustered.n), dtype=np.bool_)))


def _share_bounds(clustered: _Clustered) -> tuple[Table, Table]:
    with np.errstate(invalid="ignore", divide="ignore"):
        size = clustered.n / clustered.clusters
        mean, error, df = _mean_of(np.vstack([clustered.counts, size]), np.vstack([clustered.sums, size / 2]))
        independent = np.sqrt(mean * (1 - mean) / (clustered.n + size))
    return _bounds(mean, np.maximum(error, independent), df)


def _wilson(share: Table, n: Numbers) -> tuple[Table, Table]:
    """Return E. B. Wilson's score interval (1927) of shares of n independent outcomes."""
    z = ndtri((1 + CONFIDENCE) / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return centre - half, centre + half


def _estimates(clustered: _Clustered, low: Table, high: Table, flat: NDArray[np.bool_]) -> Iterator[Estimate]:
    columns = (flat, clustered.n, clustered.clusters, clustered.mean, low, high, clustered.error, clustered.df)
    for is_flat, n, clusters, mean, *spread in zip(*(column.tolist() for column in columns), strict=True):
        reason = f"all {clustered.unit}s have the same mean" if is_flat else ""
        if clusters < 2:
            reason = f"only one {clustered.unit} is known" if n else "nothing is known"
        bottom, top, error, df = [None] * 4 if reason else spread
        yield Estimate(mean if n else None, bottom, top, error, n, clusters, df, reason, clustered.unit)


def paired(first: Outcomes, second: Outcomes) -> Outcomes:
    """Subtract second from first on common tasks; NaN if either is unknown. `episodes`: the fewer of both."""
    row_of = {key: row for row, key in enumerate(second.keys)}
    common = [(row, row_of[key]) for row, key in enumerate(first.keys) if key in row_of]
    of_first, of_second = np.array(common, dtype=np.int64).reshape(-1, 2).T
    return Outcomes(
        first.values[of_first] - second.values[of_second],
        first.graphs[of_first],
        first.questions[of_first],
        tuple(first.keys[row] for row in of_first),
        np.minimum(first.episodes, second.episodes),
    )


def compare(first: Outcomes, second: Outcomes, *, seed: int) -> list[Comparison]:
    """Compare two players on identical tasks, measure by measure; `seed` is for drawn sign flips."""
    differences = paired(first, second)
    better, worse = (differences.values > 0).sum(axis=0).tolist(), (differences.values < 0).sum(axis=0).tolist()
    columns = zip(estimate_means(differences), sign_flips(differences, seed=seed), better, worse, strict=True)
    compared = []
    for estimate, p_value, more, less in columns:
        p = None if estimate.clusters < 2 else p_value if more or less else 1.0
        compared.append(Comparison(estimate, p, more, less, estimate.n - more - less))
    return compared


def sign_flips(differences: Outcomes, *, seed: int) -> list[float]:
    """Test per measure, two-sided, that neither player is better; return the mid-p-values.

    If both players are equally good, the difference on each graph, or on each question of one graph, could as well have
    the other sign. Assignments with a difference equal to the observed one count by half (H. O. Lancaster, 1961). A
    drawn test counts the observed assignment as one of the draws (B. Phipson and G. K. Smyth, 2010).
    """
    units = differences.clusters
    groups = int(units.max(initial=-1)) + 1
    totals = _sums_by(units, np.where(np.isnan(differences.values), 0.0, differences.values), groups)
    exact = groups <= MOST_UNITS_EXACT
    observed = np.abs(totals.sum(axis=0))
    slack = 1e-9 * np.abs(totals).sum(axis=0)
    beyond, equal, tried = (0.0, 0.0, 0) if exact else (0.0, 1.0, 1)
    for signs in _signs(groups, seed, exact):
        for_all = np.abs(signs @ totals)
        further = (for_all > observed + slack).sum(axis=0)
        beyond, equal = beyond + further, equal + (for_all >= observed - slack).sum(axis=0) - further
        tried += len(signs)
    p_values: list[float] = np.broadcast_to((beyond + equal / 2) / tried, observed.shape).tolist()
    return p_values


def _signs(groups: int, seed: int, exact: bool) -> Iterator[Table]:
    """Yield assignments of +1 and -1, shape (rows, groups): `DRAWS` random ones, or all up to a turn of all signs."""
    if exact:
        numbers = np.arange(2 ** max(groups - 1, 0))
        yield np.where((numbers[:, None] >> np.arange(groups)) & 1, -1.0, 1.0)
        return
    random = generator(seed, "sign-flips", groups)
    rows = max(1, min(DRAWS, _BLOCK // groups))
    for begin in range(0, DRAWS, rows):
        yield np.where(random.integers(0, 2, size=(min(rows, DRAWS - begin), groups), dtype=np.int8), -1.0, 1.0)


def least_p_value(units: int) -> float:
    """Return the smallest `Comparison.p_value` that a number of graphs, or of questions on one graph, can reach."""
    return 0.5**units if units <= MOST_UNITS_EXACT else 0.5 / (DRAWS + 1)


def units_needed(least: float) -> int:
    """Return the number of graphs, or of questions on one graph, with which a p-value can be as small as `least`."""
    return ceil(log2(1 / least))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number by S. Holm's step-down method (1979); the order is kept."""
    order = np.argsort(p_values, kind="stable")
    stepped = np.arange(len(p_values), 0, -1) * np.asarray(p_values, dtype=np.float64)[order]
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted.tolist()

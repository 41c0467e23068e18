"""Intervals and tests for tasks that share graphs; docs/statistics.md has formulas, sources and coverage.

Data frames have a row per episode or task, with the columns `graph`, `task_id` and `question`, those of `by` (the names
of a player, a group or a pair), and measures, null where unknown. The cluster is the graph, or the question if all
tasks of a player are on one graph. Repeats of a task are averaged first, so that a task counts once.
"""

from collections.abc import Iterator, Sequence
from math import ceil, log2

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from graphwalk.seeds import generator

CONFIDENCE = 0.95
ALPHA = 0.05
"""Significance level of tests."""
MOST_CLUSTERS_EXACT = 16
"""All 2^C assignments of signs are tried up to here."""
DRAWS = 9_999
_BLOCK = 4_000_000
"""Sums of signs held in memory at a time."""


def tasks_of(episodes: pl.DataFrame, by: Sequence[str], measures: Sequence[str]) -> pl.DataFrame:
    """Average the repeats of each task."""
    tasks = episodes.group_by(*by, "graph", "task_id", "question", maintain_order=True)
    return tasks.agg(pl.col(measures).mean())


def estimate_means(tasks: pl.DataFrame, by: Sequence[str], measures: Sequence[str]) -> pl.DataFrame:
    """Estimate amounts and differences by mean ± t · SE; no interval where every cluster has the same mean.

    Return a row for each of `by` and each measure: the mean `value` of `n` known tasks of `clusters` graphs or
    questions (`unit`), its cluster-robust standard `error`, degrees of freedom `df`, and the ends `low` and `high` of
    the interval. `reason`: why the last four are null.
    """
    means = _means(_clusters(tasks, by, measures), by)
    is_flat = pl.col("error") <= 1e-12 * pl.col("largest_sum")
    means = means.with_columns(low=pl.col("value") - pl.col("half"), high=pl.col("value") + pl.col("half"))
    return _with_reasons(means, pl.when(is_flat).then(pl.format("all {}s have the same mean", "unit")))


def estimate_shares(tasks: pl.DataFrame, by: Sequence[str], measures: Sequence[str]) -> pl.DataFrame:
    """Estimate measures with values between 0 and 1; return what `estimate_means` does.

    The interval is that of a mean after one more graph with the average number of tasks, half of them right, is added,
    as A. Agresti and B. Coull (1998) add successes and failures. Its standard error is at least that of independent
    tasks. On one graph it is E. B. Wilson's score interval (1927) over its questions.
    """
    clusters = _clusters(tasks, by, measures)
    means = _means(clusters, by)
    size, share = pl.col("n") / pl.col("clusters"), pl.col("value")
    half_right = means.select(*by, "unit", "measure", count=size, sum=size / 2)
    wider = _means(pl.concat([clusters, half_right], how="diagonal"), by)
    independent = pl.col("t") * (share * (1 - share) / pl.col("n")).sqrt()
    wider = wider.select(centre=share, half=pl.max_horizontal("half", independent))
    n, z = pl.col("clusters"), float(ndtri((1 + CONFIDENCE) / 2))
    wilson = means.select(
        centre=(share + z**2 / (2 * n)) / (1 + z**2 / n),
        half=z / (1 + z**2 / n) * (share * (1 - share) / n + z**2 / (4 * n**2)).sqrt(),
    )
    on_graphs = means["unit"] == "graph"
    centre, half = (wider[name].zip_with(on_graphs, wilson[name]) for name in ("centre", "half"))
    ends = means.with_columns(  # rounding must not leave the share outside
        low=pl.min_horizontal(centre - half, share).clip(0, 1), high=pl.max_horizontal(centre + half, share).clip(0, 1)
    )
    return _with_reasons(ends, pl.lit(None, pl.String))


def _clusters(tasks: pl.DataFrame, by: Sequence[str], measures: Sequence[str]) -> pl.DataFrame:
    """Return for each measure and cluster the `count` of known tasks and the `sum` of their values."""
    on_graphs = pl.col("graph").n_unique().over(by) > 1
    index = [*by, "unit", "cluster"]
    grouped = tasks.with_columns(
        unit=pl.when(on_graphs).then(pl.lit("graph")).otherwise(pl.lit("question")),
        cluster=pl.when(on_graphs).then("graph").otherwise("question"),
    ).group_by(index, maintain_order=True)
    counts, sums = grouped.agg(pl.col(measures).count().cast(pl.Float64)), grouped.agg(pl.col(measures).sum())
    long = counts.unpivot(measures, index=index, variable_name="measure", value_name="count")
    return long.with_columns(sums.unpivot(measures, value_name="sum")["sum"])


def _means(clusters: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Return the mean s̄ of n tasks with its standard error, and half of its t interval.

    SE² = C/(C-1) · Σ_clusters (Σ_tasks (s - s̄))² / n² (E. Miller, arXiv 2411.00640). Degrees of freedom are C - 1 if
    clusters have equally many tasks; else C is n² / Σ n_c², and they are at least 1.
    """
    count, n = pl.col("count"), pl.col("count").sum()
    number = (count > 0).sum().cast(pl.Float64)
    mean = pl.col("sum").sum() / n
    squares = ((pl.col("sum") - mean * count) ** 2).sum()
    means = clusters.group_by(*by, "unit", "measure", maintain_order=True).agg(
        n=n,
        clusters=number,
        value=mean.fill_nan(None),
        error=pl.when(number > 1).then((number / (number - 1) * squares).sqrt() / n),
        df=pl.when(number > 1).then((n**2 / (count**2).sum() - 1).clip(1)),
        largest_sum=pl.col("sum").abs().max(),
    )
    t = pl.Series(stdtrit(means["df"].to_numpy(), (1 + CONFIDENCE) / 2))
    return means.with_columns(t=t, half=t * means["error"])


def _with_reasons(means: pl.DataFrame, reason: pl.Expr) -> pl.DataFrame:
    """Add the reason for which an interval is missing, and leave out its parts."""
    one = pl.when(pl.col("n") > 0).then(pl.format("only one {} is known", "unit")).otherwise(pl.lit("nothing is known"))
    means = means.with_columns(reason=pl.when(pl.col("clusters") < 2).then(one).otherwise(reason))
    parts = pl.col("error", "df", "low", "high")
    return means.with_columns(pl.when(pl.col("reason").is_null()).then(parts)).drop("t", "half", "largest_sum")


def compare(tasks: pl.DataFrame, pairs: pl.DataFrame, measures: Sequence[str], *, seed: int) -> pl.DataFrame:
    """Compare pairs of players on identical tasks; `seed` is for drawn sign flips.

    `tasks` has a `model` and a `setting`, `pairs` those of the first and the second player. Return what
    `estimate_means` does for first − second, with the `p_value` of `sign_flips` (null below two clusters, 1 if no task
    differs), the means `first_mean` and `second_mean` on the same tasks, and the tasks `first_better`, `second_better`
    and `equal`. Pairs without a common task are left out.
    """
    by, difference = pairs.columns, pl.col("difference")
    differences = subtract(tasks, pairs, measures)
    long = differences.unpivot(measures, index=by, variable_name="measure", value_name="difference")
    firsts = differences.unpivot([f"{name} of first" for name in measures], value_name="first")["first"]
    better = (
        long.with_columns(firsts)
        .group_by(*by, "measure")
        .agg(
            first_mean=pl.col("first").filter(difference.is_not_null()).mean(),
            first_better=(difference > 0).sum(),
            second_better=(difference < 0).sum(),
            equal=(difference == 0).sum(),
        )
    )
    compared = estimate_means(differences, by, measures).join(better, on=[*by, "measure"], maintain_order="left")
    compared = compared.join(
        sign_flips(differences, by, measures, seed=seed), on=[*by, "measure"], maintain_order="left"
    )
    differs = pl.col("first_better") + pl.col("second_better") > 0
    return compared.with_columns(
        second_mean=pl.col("first_mean") - pl.col("value"),
        p_value=pl.when(pl.col("clusters") > 1).then(pl.when(differs).then("p_value").otherwise(1.0)),
    )


def subtract(tasks: pl.DataFrame, pairs: pl.DataFrame, measures: Sequence[str]) -> pl.DataFrame:
    """Subtract the second player of each pair from the first on their common tasks; null if either is unknown.

    The values of the first are in the columns `MEASURE of first`.
    """
    first, second = (
        tasks.rename({name: f"{side}_{name}" for name in ("model", "setting")}) for side in ("first", "second")
    )
    both = pairs.join(first, on=["first_model", "first_setting"], maintain_order="left_right").join(
        second, on=["second_model", "second_setting", "graph", "task_id"], suffix=" of second", maintain_order="left"
    )
    differences = [pl.col(measure) - pl.col(f"{measure} of second") for measure in measures]
    firsts = [pl.col(measure).alias(f"{measure} of first") for measure in measures]
    return both.select(*pairs.columns, "graph", "task_id", "question", *differences, *firsts)


def sign_flips(differences: pl.DataFrame, by: Sequence[str], measures: Sequence[str], *, seed: int) -> pl.DataFrame:
    """Test per measure, two-sided, that neither player is better; return the mid-p-value of each pair and measure.

    If both players are equally good, the difference on each graph, or on each question of one graph, could as well have
    the other sign. Assignments with a difference equal to the observed one count by half (H. O. Lancaster, 1961). A
    drawn test counts the observed assignment as one of the draws (B. Phipson and G. K. Smyth, 2010).
    """
    rows = []
    for pair, clusters in _clusters(differences, by, measures).partition_by(by, as_dict=True).items():
        totals = clusters["sum"].to_numpy().reshape(len(measures), -1).T
        rows += [(*pair, measure, p) for measure, p in zip(measures, _mid_p(totals, seed), strict=True)]
    columns = {**dict.fromkeys([*by, "measure"], pl.String), "p_value": pl.Float64}
    return pl.DataFrame(rows, columns, orient="row")


def _mid_p(totals: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return the mid-p-value of each column of the differences by cluster."""
    exact = len(totals) <= MOST_CLUSTERS_EXACT
    observed = np.abs(totals.sum(axis=0))
    slack = 1e-9 * np.abs(totals).sum(axis=0)
    beyond, equal, tried = (0.0, 0.0, 0) if exact else (0.0, 1.0, 1)
    for signs in _signs(len(totals), seed, exact):
        for_all = np.abs(signs @ totals)
        further = (for_all > observed + slack).sum(axis=0)
        beyond, equal = beyond + further, equal + (for_all >= observed - slack).sum(axis=0) - further
        tried += len(signs)
    return np.asarray((beyond + equal / 2) / tried)


def _signs(clusters: int, seed: int, exact: bool) -> Iterator[NDArray[np.float64]]:
    """Yield assignments of +1 and -1, shape (rows, clusters): `DRAWS` random ones, or all up to a turn of all signs."""
    if exact:
        numbers = np.arange(2 ** max(clusters - 1, 0))
        yield np.where((numbers[:, None] >> np.arange(clusters)) & 1, -1.0, 1.0)
        return
    random = generator(seed, "sign-flips", clusters)
    rows = max(1, min(DRAWS, _BLOCK // clusters))
    for begin in range(0, DRAWS, rows):
        yield np.where(random.integers(0, 2, size=(min(rows, DRAWS - begin), clusters), dtype=np.int8), -1.0, 1.0)


def least_p_value(clusters: int) -> float:
    """Return the smallest p-value that a number of graphs, or of questions on one graph, can reach."""
    return 0.5**clusters if clusters <= MOST_CLUSTERS_EXACT else 0.5 / (DRAWS + 1)


def units_needed(least: float) -> int:
    """Return the number of graphs, or of questions on one graph, with which a p-value can be as small as `least`."""
    return ceil(log2(1 / least))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for their number by S. Holm's step-down method (1979); the order is kept, None stays None."""
    p_of = {index: p for index, p in enumerate(p_values) if p is not None}
    adjusted = list[float | None]([None] * len(p_values))
    highest = 0.0
    for rank, index in enumerate(sorted(p_of, key=p_of.__getitem__)):
        highest = min(max(highest, (len(p_of) - rank) * p_of[index]), 1.0)
        adjusted[index] = highest
    return adjusted

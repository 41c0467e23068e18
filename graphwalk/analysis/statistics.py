"""Intervals and tests for tasks that share graphs; docs/statistics.md has formulas, sources and coverage.

Data frames have a row per episode or task, with the columns `graph`, `task_id` and `question`, those of `by` (the names
of a contestant, a group or a pair), and measures, null where unknown. The cluster is the graph, or the question if all
tasks of a contestant are on one graph. Repeats of a task are averaged first, so that a task counts once.
"""

from collections.abc import Sequence
from decimal import ROUND_DOWN, Context
from fractions import Fraction
from math import ceil, gcd, lcm, log2

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from graphwalk.seeds import generator

CONFIDENCE = 0.95
ALPHA = 0.05
"""Significance level of tests."""
MOST_CLUSTERS_EXACT = 20
"""Up to here all 2^C assignments of signs are tried, whatever the differences are."""
DRAWS = 9_999
_BLOCK = 4_000_000
"""Random signs held in memory at a time."""
_MOST_ADDITIONS = 200_000_000
"""Additions for the exact distribution of whole numbers: a second."""
_LARGEST_DENOMINATOR = 2_520
"""The least common multiple of 1 to 10: averages over up to ten repeats are exact."""
_ROUNDING = 1e-9
"""Relative difference of sums that are equal but for rounding."""


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

    The interval is that of a mean after one more graph, half of its tasks right, is added, as A. Agresti and B. Coull
    (1998) add successes and failures. It has as many tasks as the graph of an average task. The standard error is at
    least that of independent tasks. On one graph it is E. B. Wilson's score interval (1927) over its questions.
    """
    clusters = _clusters(tasks, by, measures)
    means = _means(clusters, by)
    share = pl.col("value")
    size = pl.col("typical_size")
    half_right = means.select(*by, "unit", "measure", count=size, sum=size / 2)
    wider = _means(pl.concat([clusters, half_right], how="diagonal"), by)
    independent = pl.col("t") * (share * (1 - share) / pl.col("n")).sqrt()
    wider = wider.select(centre=share, half=pl.max_horizontal("half", independent))
    n = pl.col("clusters")
    z = float(ndtri((1 + CONFIDENCE) / 2))
    wilson = means.select(
        centre=(share + z**2 / (2 * n)) / (1 + z**2 / n),
        half=z / (1 + z**2 / n) * (share * (1 - share) / n + z**2 / (4 * n**2)).sqrt(),
    )
    on_graphs = means["unit"] == "graph"
    centre = wider["centre"].zip_with(on_graphs, wilson["centre"])
    half = wider["half"].zip_with(on_graphs, wilson["half"])
    # Rounding must not leave the share outside.
    low = pl.min_horizontal(centre - half, share)
    high = pl.max_horizontal(centre + half, share)
    ends = means.with_columns(low=low.clip(0, 1), high=high.clip(0, 1))
    return _with_reasons(ends, pl.lit(None, pl.String))


def _clusters(tasks: pl.DataFrame, by: Sequence[str], measures: Sequence[str]) -> pl.DataFrame:
    """Return for each measure and cluster the `count` of known tasks and the `sum` of their values."""
    on_graphs = pl.col("graph").n_unique().over(by) > 1
    index = [*by, "unit", "cluster"]
    grouped = tasks.with_columns(
        unit=pl.when(on_graphs).then(pl.lit("graph")).otherwise(pl.lit("question")),
        cluster=pl.when(on_graphs).then("graph").otherwise("question"),
    ).group_by(index, maintain_order=True)
    counts = grouped.agg(pl.col(measures).count().cast(pl.Float64))
    sums = grouped.agg(pl.col(measures).sum())
    # Both have the same lines in the same order, so that a column of one fits the other.
    long = counts.unpivot(measures, index=index, variable_name="measure", value_name="count")
    return long.with_columns(sums.unpivot(measures, value_name="sum")["sum"])


def _means(clusters: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Return the mean s̄ of n tasks with its standard error, and half of its t interval.

    SE² = Σ_clusters (Σ_tasks (s - s̄))² / (1 - w) / n², where w is the share of the cluster in the tasks: CR2 of R. M.
    Bell and D. F. McCaffrey (2002) for a mean, with their degrees of freedom for independent tasks. If clusters have
    equally many tasks, 1 / (1 - w) is C / (C - 1), and the degrees of freedom are C - 1.
    """
    count = pl.col("count")
    n = count.sum()
    clusters_known = (count > 0).sum().cast(pl.Float64)
    has_error = clusters_known > 1
    mean = pl.col("sum").sum() / n

    weight = count / n
    squares = ((pl.col("sum") - mean * count) ** 2 / (1 - weight)).sum()

    # The sum over all pairs of different clusters; rounding must not make it negative.
    leverage = weight**2 / (1 - weight)
    of_pairs = (leverage.sum() ** 2 - (leverage**2).sum()).clip(0)
    freedom = 1 / ((weight**2).sum() + of_pairs)

    means = clusters.group_by(*by, "unit", "measure", maintain_order=True).agg(
        n=n,
        clusters=clusters_known,
        value=mean.fill_nan(None),
        error=pl.when(has_error).then(squares.sqrt() / n),
        df=pl.when(has_error).then(freedom.clip(1)),
        largest_sum=pl.col("sum").abs().max(),
        typical_size=(count**2).sum() / n,
    )
    t = pl.Series(stdtrit(means["df"].to_numpy(), (1 + CONFIDENCE) / 2))
    return means.with_columns(t=t, half=t * means["error"])


def _with_reasons(means: pl.DataFrame, reason: pl.Expr) -> pl.DataFrame:
    """Add the reason for which an interval is missing, and leave out its parts."""
    one = pl.when(pl.col("n") > 0).then(pl.format("only one {} is known", "unit")).otherwise(pl.lit("nothing is known"))
    means = means.with_columns(reason=pl.when(pl.col("clusters") < 2).then(one).otherwise(reason))
    parts = pl.col("error", "df", "low", "high")
    means = means.with_columns(pl.when(pl.col("reason").is_null()).then(parts))
    return means.drop("t", "half", "largest_sum", "typical_size")


def compare_pairs(tasks: pl.DataFrame, pairs: pl.DataFrame, measures: Sequence[str], *, seed: int) -> pl.DataFrame:
    """Compare pairs of contestants on identical tasks; `seed` is for drawn sign flips.

    `tasks` has a `model` and a `setting`, `pairs` those of the first and the second contestant. Return what
    `estimate_means` does for first − second, with `p_value` and `p_exact` of `sign_flips` (no p below two clusters, 1
    if no task differs), the means `first_mean` and `second_mean` on the same tasks, and the tasks `first_better`,
    `second_better` and `equal`. Pairs without a common task are left out.
    """
    by = pairs.columns
    index = [*by, "measure"]
    difference = pl.col("difference")
    differences = subtract(tasks, pairs, measures)

    # A line for each task and measure, with the difference and the value of the first contestant.
    long = differences.unpivot(measures, index=by, variable_name="measure", value_name="difference")
    firsts = differences.unpivot([f"{name} of first" for name in measures], value_name="first")
    better = (
        long.with_columns(firsts["first"])
        .group_by(index)
        .agg(
            first_mean=pl.col("first").filter(difference.is_not_null()).mean(),
            first_better=(difference > 0).sum(),
            second_better=(difference < 0).sum(),
            equal=(difference == 0).sum(),
        )
    )

    compared = estimate_means(differences, by, measures)
    compared = compared.join(better, on=index, maintain_order="left")
    compared = compared.join(sign_flips(differences, by, measures, seed=seed), on=index, maintain_order="left")
    differs = pl.col("first_better") + pl.col("second_better") > 0
    return compared.with_columns(
        second_mean=pl.col("first_mean") - pl.col("value"),
        p_value=pl.when(pl.col("clusters") > 1).then(pl.when(differs).then("p_value").otherwise(1.0)),
    )


def subtract(tasks: pl.DataFrame, pairs: pl.DataFrame, measures: Sequence[str]) -> pl.DataFrame:
    """Subtract the second contestant of each pair from the first on their common tasks; null if either is unknown.

    The values of the first are in the columns `MEASURE of first`.
    """
    first = tasks.rename({"model": "first_model", "setting": "first_setting"})
    second = tasks.rename({"model": "second_model", "setting": "second_setting"})
    both = pairs.join(first, on=["first_model", "first_setting"], maintain_order="left_right")
    # Where both have a column of this name, that of the second contestant becomes "accuracy of second".
    same_task = ["second_model", "second_setting", "graph", "task_id"]
    both = both.join(second, on=same_task, suffix=" of second", maintain_order="left")

    columns = [pl.col(pairs.columns), pl.col("graph", "task_id", "question")]
    for measure in measures:
        columns.append(pl.col(measure) - pl.col(f"{measure} of second"))
    for measure in measures:
        columns.append(pl.col(measure).alias(f"{measure} of first"))
    return both.select(columns)


def sign_flips(differences: pl.DataFrame, by: Sequence[str], measures: Sequence[str], *, seed: int) -> pl.DataFrame:
    """Test per measure, two-sided, that neither contestant is better.

    Return the mid-p-value `p_value` of each pair and measure, and in `p_exact` whether all assignments are counted. If
    both are equally good, the difference on each graph, or on each question of one graph, could as well have the other
    sign. Assignments with a difference equal to the observed one count by half (H. O. Lancaster, 1961).
    """
    index = [*by, "measure"]
    rows = []
    for key, clusters in _clusters(differences, by, measures).partition_by(index, as_dict=True).items():
        p_value, is_exact = _mid_p(clusters["sum"].to_numpy(), seed)
        rows.append((*key, p_value, is_exact))

    columns: dict[str, type[pl.DataType]] = dict.fromkeys(index, pl.String)
    columns["p_value"] = pl.Float64
    columns["p_exact"] = pl.Boolean
    return pl.DataFrame(rows, columns, orient="row")


def _mid_p(totals: NDArray[np.float64], seed: int) -> tuple[float, bool]:
    """Return the mid-p-value of the differences by cluster, and whether it is exact."""
    # The sign of 0 changes nothing.
    totals = totals[totals != 0]
    if len(totals) <= MOST_CLUSTERS_EXACT:
        return _mid_p_of_all(totals), True

    whole = _as_whole_numbers(totals)
    if whole is not None and len(whole) * sum(map(abs, whole)) <= _MOST_ADDITIONS:
        return _mid_p_of_whole_numbers(whole), True
    return _drawn_mid_p(totals, seed), False


def _mid_p_of_all(totals: NDArray[np.float64]) -> float:
    """Count all assignments, up to a turn of all signs, which changes no absolute sum."""
    sums = totals[:1] if len(totals) else np.zeros(1)
    for total in totals[1:]:
        sums = np.concatenate([sums + total, sums - total])

    beyond, equal = _further_and_equal(sums, totals)
    return (beyond + equal / 2) / len(sums)


def _further_and_equal(sums: NDArray[np.float64], totals: NDArray[np.float64]) -> tuple[int, int]:
    """Return how many sums are further from 0 than that of the totals, and how many are as far."""
    observed = abs(totals.sum())
    slack = _ROUNDING * np.abs(totals).sum()
    distances = np.abs(sums)
    beyond = int((distances > observed + slack).sum())
    equal = int((distances >= observed - slack).sum()) - beyond
    return beyond, equal


def _as_whole_numbers(totals: NDArray[np.float64]) -> list[int] | None:
    """Return totals multiplied so that they are whole numbers without a common divisor, None if that is not possible.

    Example: 0.5, -1 and 0.75 become 2, -4 and 3. Differences of right answers are multiples of 1 / repeats.
    """
    slack = _ROUNDING * np.abs(totals).max()
    fractions = []
    for total in totals.tolist():
        fraction = Fraction(total).limit_denominator(_LARGEST_DENOMINATOR)
        if abs(float(fraction) - total) > slack:
            return None
        fractions.append(fraction)

    multiple = lcm(*(fraction.denominator for fraction in fractions))
    if multiple > _LARGEST_DENOMINATOR:
        return None
    whole = [int(fraction * multiple) for fraction in fractions]
    divisor = gcd(*whole)
    return [number // divisor for number in whole]


def _mid_p_of_whole_numbers(totals: Sequence[int]) -> float:
    """Compute the distribution of the sum over all assignments, one total after the other.

    A sum of signed sizes is twice the sum of those with a plus, less the sum of all. `shares[s]` is the share of the
    assignments whose sizes with a plus add up to s.
    """
    sizes = [abs(total) for total in totals if total]
    sum_of_all = sum(sizes)
    shares = np.zeros(sum_of_all + 1)
    shares[0] = 1.0
    for size in sizes:
        with_plus = np.zeros_like(shares)
        with_plus[size:] = shares[:-size]
        shares = (shares + with_plus) / 2

    observed = abs(sum(totals))
    distances = np.abs(2 * np.arange(sum_of_all + 1) - sum_of_all)
    return float(shares[distances > observed].sum() + shares[distances == observed].sum() / 2)


def _drawn_mid_p(totals: NDArray[np.float64], seed: int) -> float:
    """Estimate the mid-p-value from random assignments.

    The observed assignment counts as one of them (B. Phipson and G. K. Smyth, 2010).
    """
    random = generator(seed, "sign-flips", len(totals))
    rows = max(1, min(DRAWS, _BLOCK // len(totals)))
    beyond = 0
    equal = 1
    for begin in range(0, DRAWS, rows):
        shape = (min(rows, DRAWS - begin), len(totals))
        signs = np.where(random.integers(0, 2, size=shape, dtype=np.int8), -1.0, 1.0)
        further, as_far = _further_and_equal(signs @ totals, totals)
        beyond += further
        equal += as_far
    return (beyond + equal / 2) / (DRAWS + 1)


def least_p_value(clusters: int) -> float:
    """Return the smallest exact p-value that a number of graphs, or of questions on one graph, can reach."""
    return 0.5**clusters


def units_needed(least: float) -> int:
    """Return the number of graphs, or of questions on one graph, with which a p-value can be as small as `least`."""
    return ceil(log2(1 / least))


def lower_bound_in_words(p_value: float) -> str:
    """Return two digits of a p-value, rounded down: 0.37 for 0.375."""
    return f"{Context(prec=2, rounding=ROUND_DOWN).create_decimal_from_float(p_value):f}"


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for their number by S. Holm's step-down method (1979); the order is kept, None stays None."""
    # [0.04, None, 0.01] becomes [0.04, None, 0.02]: the smallest is multiplied by 2, the next one by 1.
    p_of = {index: p for index, p in enumerate(p_values) if p is not None}
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(p_of, key=p_of.__getitem__)):
        highest = min(max(highest, (len(p_of) - rank) * p_of[index]), 1.0)
        adjusted[index] = highest
    return adjusted

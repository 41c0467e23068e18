"""How tasks lie in graphs: means, and what their spread over graphs says of the mean of all."""

from dataclasses import dataclass

import numpy as np

from graphwalk.scoring.statistics.outcomes import Numbers, Outcomes, Table, sums_by


@dataclass(frozen=True)
class Clustered:
    """Per measure, each of shape (measures,): known tasks `n`, graphs with one, their mean, and its variance.

    `size`: tasks in the graph of a task drawn at random. `variance` and the degrees of freedom `df` of t are NaN below
    two graphs. `counts`, `means`, shape (graphs, measures): known tasks of each graph and their mean (0 for none).
    `within`: squared distances of all tasks from the mean of their graph, summed.
    """

    n: Numbers
    clusters: Numbers
    mean: Table
    variance: Table
    size: Table
    df: Table
    counts: Table
    means: Table
    within: Table


def clustered(outcomes: Outcomes) -> Clustered:
    """Mean s̄ and its variance C/(C-1) · Σ_graphs (Σ_tasks (s - s̄))² / n², as in Miller (arXiv 2411.00640).

    Degrees of freedom are C - 1 where graphs hold equally many tasks; else C is n² / Σ n_c², since a graph with most
    of the tasks makes the others count for little. They are at least 1.
    """
    known = ~np.isnan(outcomes.values)
    groups = int(outcomes.graphs.max(initial=-1)) + 1
    counts = sums_by(outcomes.graphs, known.astype(np.float64), groups)
    n, clusters = known.sum(axis=0), (counts > 0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, outcomes.values, 0.0).sum(axis=0) / n
        deviations = sums_by(outcomes.graphs, np.where(known, outcomes.values - mean, 0.0), groups)
        variance = clusters / (clusters - 1) * (deviations**2).sum(axis=0) / n**2
        size = (counts**2).sum(axis=0) / n
        df = np.maximum(n / size - 1, 1)
        means = np.where(counts > 0, mean + deviations / counts, 0.0)
    within = (np.where(known, outcomes.values - means[outcomes.graphs], 0.0) ** 2).sum(axis=0)
    several = clusters > 1
    spread, freedom = np.where(several, variance, np.nan), np.where(several, df, np.nan)
    return Clustered(n, clusters, mean, spread, size, freedom, counts, means, within)

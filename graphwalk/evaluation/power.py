"""Statistical power: graphs needed for a difference, and the minimum detectable effect of given graphs."""

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from graphwalk.evaluation.statistics import Outcomes, paired

_MOST_GRAPHS = 10_000_000


@dataclass(frozen=True, slots=True)
class Spread:
    """Components of the variance of the paired difference.

    `graphs`: between the mean differences of graphs. `tasks`: between the tasks of a graph. `first`, `second`: between
    repeats of one task, for each player. In squared units of the measure; a share's unit is 1.
    """

    graphs: float
    tasks: float
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class Design:
    """A planned comparison: tasks per graph, and repeats of each task by each player."""

    tasks_per_graph: int
    first_repeats: int = 1
    second_repeats: int = 1

    def variance_of_a_graph(self, spread: Spread) -> float:
        """Return τ² + (ω² + σ₁²/K₁ + σ₂²/K₂) / m."""
        noise = spread.first / self.first_repeats + spread.second / self.second_repeats
        return spread.graphs + (spread.tasks + noise) / self.tasks_per_graph


def graphs_needed(
    difference: float, design: Design, spread: Spread, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Return the fewest graphs with which a two-sided t test finds `difference`; None above ten million.

    C = (t_{1-α/2} + t_power)² · (τ² + (ω² + σ₁²/K₁ + σ₂²/K₂)/m) / δ², both t with C - 1 degrees of freedom.
    """

    def detects(graphs: int) -> bool:
        effect = minimum_detectable_effect(graphs, design, spread, alpha=alpha, power=power)
        return effect is not None and effect <= abs(difference)

    graphs = bisect_left(range(_MOST_GRAPHS + 1), True, key=detects)
    return None if graphs > _MOST_GRAPHS else graphs


def minimum_detectable_effect(
    graphs: int, design: Design, spread: Spread, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Return the smallest true difference found with this power; None below two graphs."""
    if graphs < 2:
        return None
    quantiles = float(stdtrit(graphs - 1, 1 - alpha / 2) + stdtrit(graphs - 1, power))
    return quantiles * math.sqrt(design.variance_of_a_graph(spread) / graphs)


def assumed_spread(
    first: float, second: float, *, graph_correlation: float = 0.1, task_correlation: float = 0.5, shared: float = 0.5
) -> Spread:
    """Return the variances for two expected accuracies and correlations, all between 0 and 1.

    `graph_correlation`: of two tasks of a graph. `task_correlation`: of two repeats of a task, beyond its graph.
    `shared`: share of the difficulty of graphs and tasks that both players have in common.
    """
    one, two = first * (1 - first), second * (1 - second)
    apart = one + two - 2 * shared * math.sqrt(one * two)
    tasks = (1 - graph_correlation) * task_correlation
    noise = (1 - graph_correlation) * (1 - task_correlation)
    return Spread(graph_correlation * apart, tasks * apart, noise * one, noise * two)


def measured_spread(first: Outcomes, second: Outcomes, measure: int = 0) -> Spread | None:
    """Estimate the variances of one measure by analysis of variance; None without two graphs and a spare task.

    The noise of a player without repeats is a part of `tasks`.
    """
    differences = paired(first, second)
    is_known = ~np.isnan(differences.values[:, measure])
    values, numbers = differences.values[is_known, measure], differences.graphs[is_known]
    counts = np.bincount(numbers)
    present = counts > 0
    n, clusters = len(values), int(present.sum())
    if clusters < 2 or n <= clusters:
        return None
    sums, counts = np.bincount(numbers, weights=values)[present], counts[present]
    between = float((sums**2 / counts).sum())
    within = (float((values**2).sum()) - between) / (n - clusters)
    among = (between - values.sum() ** 2 / n) / (clusters - 1)
    usual_size = (n - (counts**2).sum() / n) / (clusters - 1)
    noise = [float(np.nan_to_num(player.noise[measure])) for player in (first, second)]
    repeats = [
        float(player.episodes[measure]) / int((~np.isnan(player.values[:, measure])).sum())
        for player in (first, second)
    ]
    averaged = noise[0] / repeats[0] + noise[1] / repeats[1]
    return Spread(max(0.0, float((among - within) / usual_size)), max(0.0, within - averaged), *noise)

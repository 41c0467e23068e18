"""Intervals of shares: what graphs show where they show enough, what a model of graphs says where they do not."""

import numpy as np

from graphwalk.scoring.statistics.beta_binomial import posterior_bounds
from graphwalk.scoring.statistics.clusters import Clustered
from graphwalk.scoring.statistics.outcomes import Numbers, Table
from graphwalk.scoring.statistics.wilson import wilson_bounds

SKEWNESS_WEIGHT = 30.0
"""How soon the model outweighs the spread that is seen, as the mean over graphs gets skewed."""
TAIL_OF_SKEWED, TAIL_BY_WEIGHT = 0.5, 4.0
"""The share of its tail that the model leaves out where the mean is near 0 or 1, and how soon it rises from there: in
which form the rates of graphs differ, which the model does not know, shows most in a tail."""
TAIL_OF_MANY, TAIL_BY_FEW = 0.6, 8.0
"""The most of it, and, over C, how much more: C graphs, if few, leave it every doubt about how they differ."""
TAIL_BY_LIKENESS = 2.5
"""Over C, how much more still where graphs differ by less than chance alone would let them."""
MOST_PER_EPISODE = 4.0
"""Tasks are worth at most so many times their episodes: graphs that agree by chance prove little."""


def share_bounds(seen: Clustered, episodes: Numbers, quantiles: Table, confidence: float) -> tuple[Table, Table]:
    """Lower and upper bounds of shares between 0 and 1; each shape (measures,), NaN where `quantiles` of t are.

    Between Wilson's bounds with p(1-p)/SE² tasks and t for z, and those of the beta-binomial model, on the scale of
    arcsin √p: the more of the former, the less skewed the mean over graphs is. See docs/statistics.md.
    """
    inside = (seen.mean > 0) & (seen.mean < 1)
    weight = np.where(inside, 1 / (1 + SKEWNESS_WEIGHT * _skewness_squared(seen)), 0.0)
    most = MOST_PER_EPISODE * episodes
    trials = seen.mean * (1 - seen.mean) / np.where(inside, seen.variance, 1.0)
    of_spread = wilson_bounds(seen.mean, np.where(inside, np.minimum(trials, most), most), quantiles)
    of_model = _model_bounds(seen, episodes, (1 - confidence) / 2 * _tail_factor(seen, weight))
    low, high = (_between(spread, model, weight) for spread, model in zip(of_spread, of_model, strict=True))
    low = np.where(seen.mean <= 0, 0.0, np.minimum(low, seen.mean))
    return low, np.where(seen.mean >= 1, 1.0, np.maximum(high, seen.mean))


def _between(spread: Table, model: Table, weight: Table) -> Table:
    angles = [np.arcsin(np.sqrt(np.clip(bound, 0, 1))) for bound in (spread, model)]
    return np.asarray(np.sin(weight * angles[0] + (1 - weight) * angles[1]) ** 2)


def _tail_factor(seen: Clustered, weight: Table) -> Table:
    """How much of what the model's bounds might leave out they do; all of it where everything is right, or wrong."""
    chance = seen.mean * (1 - seen.mean)
    inside, clusters = chance > 0, np.maximum(seen.clusters, 1)
    factor = np.minimum(TAIL_OF_SKEWED + TAIL_BY_WEIGHT * weight, TAIL_OF_MANY + TAIL_BY_FEW / clusters)
    design_effect = seen.n * seen.variance / np.where(inside, chance, 1.0)
    alike = np.clip(1 - np.nan_to_num(design_effect, nan=1.0), 0, 1)
    return np.where(inside, factor * (1 + TAIL_BY_LIKENESS / clusters * alike), 1.0)


def _skewness_squared(seen: Clustered) -> Table:
    """Of the mean, (1-2p)² / (n_eff · p(1-p)) as for n_eff ≤ n yes/no tasks; half a success and failure are added."""
    chance = seen.mean * (1 - seen.mean)
    effective = seen.n / np.maximum(seen.n * seen.variance / np.where(chance > 0, chance, 1.0), 1)
    guarded = (seen.mean * effective + 0.5) / (effective + 1)
    return np.asarray((1 - 2 * guarded) ** 2 / (effective * guarded * (1 - guarded)))


def _model_bounds(seen: Clustered, episodes: Numbers, tails: Table) -> tuple[Table, Table]:
    """Every graph counts with its tasks: to the power of its share of them, times the effective number of graphs.

    A task is worth one trial; more where the tasks of a graph differ by less than zeros and ones with the same mean.
    """
    binary = (seen.counts * seen.means * (1 - seen.means)).sum(axis=0)
    n = np.maximum(seen.n, 1)
    worth = np.clip((binary + 0.5) / (seen.within + 0.5), 1, np.maximum(MOST_PER_EPISODE * episodes / n, 1))
    powers = np.where(seen.n > 0, seen.counts / np.where(seen.n > 0, seen.size, 1.0), 0.0)
    return posterior_bounds(seen.means, seen.counts * worth, powers, tails)

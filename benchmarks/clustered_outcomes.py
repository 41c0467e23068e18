"""Outcomes of imagined contestants on graphs and tasks that are hard for reasons of their own, with known truth."""

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

SHARED = 0.5
"""Of the difficulty of graphs and tasks, as far as it is the same for two contestants."""
_NORMAL = NormalDist()
_GRID = np.linspace(-8, 8, 2001)
_DENSITY = np.exp(-(_GRID**2) / 2) / np.exp(-(_GRID**2) / 2).sum()


@dataclass(frozen=True)
class Cell:
    """One line of the tables: graphs, correlation of the outcomes of two tasks of a graph, repeats, accuracy.

    `tasks`: on each graph. `task_correlation`: of two repeats of one task, beyond what its graph explains.
    """

    graphs: int
    correlation: float
    repeats: int
    accuracy: float
    tasks: int = 12
    task_correlation: float = 0.5

    def ids(self) -> tuple[list[int], list[int]]:
        """The graph and the task of every episode, in the order of the rows that are drawn."""
        tasks = np.repeat(np.arange(self.graphs * self.tasks), self.repeats)
        return (tasks // self.tasks).tolist(), tasks.tolist()


def latent_normal(cell: Cell, random: np.random.Generator, draws: int, *accuracies: float) -> list[NDArray[np.float64]]:
    """Zeros and ones for one contestant per accuracy, each of shape (episodes, draws).

    An episode is right if a normal number is below a threshold; the number adds up a part of the graph, a part of the
    task and a part of its own. Their variances are such that the zeros and ones have the wanted correlations. Half of
    the variance of graphs and tasks is common to all contestants.
    """
    shape = (cell.graphs, cell.tasks, cell.repeats, draws)
    common = [_normal(random, shape, 2), _normal(random, shape, 1)]
    drawn = []
    for accuracy in accuracies:
        of_graphs = latent_correlation(accuracy, cell.correlation)
        of_tasks = latent_correlation(accuracy, cell.correlation + (1 - cell.correlation) * cell.task_correlation)
        number = np.float32(math.sqrt(1 - of_tasks)) * _normal(random, shape, 0)
        for shared, inner, variance in zip(common, (2, 1), (of_graphs, of_tasks - of_graphs), strict=True):
            number += np.float32(math.sqrt(variance * SHARED)) * shared
            number += np.float32(math.sqrt(variance * (1 - SHARED))) * _normal(random, shape, inner)
        drawn.append((number < _NORMAL.inv_cdf(accuracy)).reshape(-1, draws).astype(np.float64))
    return drawn


def beta_binomial(cell: Cell, random: np.random.Generator, draws: int) -> NDArray[np.float64]:
    """Zeros and ones of one contestant, shape (episodes, draws): the rates of graphs are beta distributed around the
    accuracy, those of tasks around the rate of their graph, with the same correlations."""
    rates = _beta(random, np.full((cell.graphs, 1, 1, draws), cell.accuracy), cell.correlation)
    rates = _beta(random, np.repeat(rates, cell.tasks, axis=1), cell.task_correlation)
    right = random.random((cell.graphs, cell.tasks, cell.repeats, draws)) < rates
    return right.reshape(-1, draws).astype(np.float64)


def _normal(random: np.random.Generator, shape: tuple[int, ...], inner: int) -> NDArray[np.float32]:
    """Normal numbers that are the same along the `inner` last axes before that of the draws."""
    reduced = shape[: 3 - inner] + (1,) * inner + shape[3:]
    return random.standard_normal(reduced, dtype=np.float32)


def _beta(random: np.random.Generator, mean: NDArray[np.float64], correlation: float) -> NDArray[np.float64]:
    if correlation == 0:
        return mean
    both = (1 - correlation) / correlation
    return random.beta(np.maximum(mean * both, 1e-9), np.maximum((1 - mean) * both, 1e-9))


@lru_cache
def latent_correlation(accuracy: float, correlation: float) -> float:
    """The correlation of two normal numbers whose falling below the threshold has the given correlation."""
    low, high = 0.0, 1 - 1e-9
    for _ in range(60 if correlation else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if _binary_correlation(accuracy, middle) < correlation else (low, middle)
    return low


def _binary_correlation(accuracy: float, latent: float) -> float:
    threshold = _NORMAL.inv_cdf(accuracy)
    rates = np.array([_NORMAL.cdf(z) for z in (threshold - math.sqrt(latent) * _GRID) / math.sqrt(1 - latent)])
    return float(((_DENSITY * rates**2).sum() - accuracy**2) / (accuracy * (1 - accuracy)))

"""What several tries at one task are worth: at least one of k right, and all of k right."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from graphwalk.scoring.statistics.estimates import CONFIDENCE, Estimate, estimate_shares
from graphwalk.scoring.statistics.outcomes import Table, numbered, outcomes_of


@dataclass(frozen=True, slots=True)
class PassRates:
    """pass@k (`any_of_k`) and pass^k (`all_of_k`); their `n` are the tasks with at least k tries."""

    any_of_k: Estimate
    all_of_k: Estimate


def pass_rates(
    right: ArrayLike,
    graphs: Sequence[Hashable],
    tasks: Sequence[Hashable],
    k: int,
    *,
    confidence: float = CONFIDENCE,
) -> PassRates:
    """Both rates over tasks, with intervals over graphs. `right`, shape (episodes,): 0 or 1, NaN where unknown."""
    values = np.asarray(right, dtype=np.float64)
    rows, keys = numbered(zip(graphs, tasks, strict=True))
    known = ~np.isnan(values)
    tries = np.bincount(rows[known], minlength=len(keys))
    successes = np.bincount(rows[known], weights=values[known], minlength=len(keys))
    rates = np.stack([pass_at_k(successes, tries, k), pass_hat_k(successes, tries, k)], axis=1)
    any_of_k, all_of_k = estimate_shares(outcomes_of(rates, [graph for graph, _ in keys]), confidence=confidence)
    return PassRates(any_of_k, all_of_k)


def pass_at_k(successes: ArrayLike, repeats: ArrayLike, k: int) -> Table:
    """Per task, the chance that at least one of `k` tries is right: 1 - C(n-c, k) / C(n, k), NaN if n < k.

    Unbiased (M. Chen et al., arXiv 2107.03374), unlike 1 - (1 - c/n)^k. `successes` c of `repeats` n, any shape.
    """
    right, tries = np.asarray(successes), np.asarray(repeats)
    return 1 - pass_hat_k(tries - right, tries, k)


def pass_hat_k(successes: ArrayLike, repeats: ArrayLike, k: int) -> Table:
    """Per task, the chance that all of `k` tries are right, pass^k: C(c, k) / C(n, k), NaN if n < k.

    Unbiased (S. Yao et al., τ-bench, arXiv 2406.12045). Raises ValueError if `k` is below 1.
    """
    if k < 1:
        raise ValueError(f"k counts tries and is at least 1, not {k}")
    right, tries = np.asarray(successes, dtype=np.float64), np.asarray(repeats, dtype=np.float64)
    steps = np.arange(k)
    with np.errstate(invalid="ignore", divide="ignore"):
        factors = np.maximum(right[..., None] - steps, 0) / (tries[..., None] - steps)
    return np.asarray(np.where(tries >= k, factors.prod(axis=-1), np.nan))

"""Share of the variance of outcomes that variants explain, with the graph as cluster; docs/statistics.md, Variance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from graphwalk.evaluation.statistics import CONFIDENCE, Numbers, Table
from graphwalk.seeds import generator

DRAWS = 999
TASK, VARIANT, INTERACTION, REST = "task", "variant", "interaction", "rest"


@dataclass(frozen=True, slots=True)
class Share:
    """A component of variance as a share of the total; `low` and `high` are None below two graphs."""

    value: float
    low: float | None
    high: float | None


def variance_shares(
    values: Table,
    graphs: Numbers,
    factors: Mapping[str, Sequence[str]],
    *,
    noise: float | None = None,
    repeats: int = 1,
    seed: int = 0,
    draws: int = DRAWS,
) -> dict[str, Share] | None:
    """Return component → its share of the variance; None if no outcome differs, or below two tasks or variants.

    `values`, shape (tasks, variants): outcomes without NaN, means of `repeats`. `graphs`, shape (tasks,): the number of
    the graph of each task. `factors`: name → level of each variant; all combinations of levels are there. `noise`:
    variance of the repeats of one task and variant; None without repeats: the interaction is part of the rest then.

    The components are those of a two-way layout of random effects, from its mean squares. Intervals, 95 %: bootstrap
    over graphs, shifted to the estimate, and expanded for few graphs (T. Hesterberg, American Statistician 69, 2015).
    """
    if min(values.shape) < 2 or np.ptp(values) == 0:
        return None
    layout = _Layout(factors, noise, repeats)
    estimates = layout.shares(values)
    clusters = [np.flatnonzero(graphs == graph) for graph in np.unique(graphs)]
    bounds: dict[str, tuple[float | None, float | None]] = dict.fromkeys(estimates, (None, None))
    if len(clusters) > 1:
        random = generator(seed, "variance-shares", len(clusters))
        drawn = [
            layout.shares(
                values[np.concatenate([clusters[n] for n in random.integers(0, len(clusters), len(clusters))])]
            )
            for _ in range(draws)
        ]
        tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
        df = len(clusters) - 1
        expanded = stdtrit(df, tails[1]) / ndtri(tails[1]) * np.sqrt((df + 1) / df)
        for name, share in estimates.items():
            sample = np.array([one[name] for one in drawn])
            # Tasks drawn twice count as independent, which makes all effects larger; the shift removes that.
            low, high = np.clip(expanded * (np.quantile(sample, tails) - sample.mean()) + share, 0, 1)
            bounds[name] = float(low), float(high)
    return {name: Share(min(1.0, max(0.0, share)), *bounds[name]) for name, share in estimates.items()}


@dataclass(frozen=True)
class _Layout:
    factors: Mapping[str, Sequence[str]]
    noise: float | None
    repeats: int

    def shares(self, values: Table) -> dict[str, float]:
        """Return the components divided by their sum; effects below 0 are kept, and count as 0 in the sum."""
        tasks, variants = values.shape
        mean, of_task, of_variant = values.mean(), values.mean(axis=1), values.mean(axis=0)
        residual = values - of_task[:, None] - of_variant + mean
        error = float((residual**2).sum() / ((tasks - 1) * (variants - 1)))
        effects = {
            TASK: float(of_task.var(ddof=1)) - error / variants,
            VARIANT: float(of_variant.var(ddof=1)) - error / tasks,
        }
        rest = {REST: error}
        if self.noise is not None:
            effects[INTERACTION] = error - self.noise / self.repeats
            rest = {REST: self.noise}
        total = sum(max(0.0, effect) for effect in effects.values()) + rest[REST]
        for name, levels in self.factors.items():
            means = [of_variant[[one == level for one in levels]].mean() for level in dict.fromkeys(levels)]
            between = variants * float(np.var(means)) - error * (len(means) - 1) / tasks
            effects[name] = between / (variants - 1)  # main effects and their interactions add up to the variants'
        return {name: part / total if total else 0.0 for name, part in {**effects, **rest}.items()}

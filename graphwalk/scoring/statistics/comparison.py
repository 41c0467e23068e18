"""Two players on identical tasks: the difference, its interval, and tests that neither is better."""

from dataclasses import dataclass

import numpy as np

from graphwalk.scoring.statistics.estimates import CONFIDENCE, Estimate, estimate_means
from graphwalk.scoring.statistics.mcnemar import mcnemar_exact
from graphwalk.scoring.statistics.outcomes import Outcomes
from graphwalk.scoring.statistics.sign_flips import SignFlips, sign_flips
from graphwalk.scoring.statistics.student import t_two_sided

MCNEMAR_IGNORES = "ignores that tasks share graphs"


@dataclass(frozen=True, slots=True)
class Comparison:
    """First minus second, for one measure.

    `difference`: mean over tasks with t interval over graphs. `t_p_value`: of the same t; None without an interval.
    `first_better`, `second_better`, `equal`: tasks. `mcnemar_p_value`: exact, and `mcnemar_ignores` says what.
    """

    difference: Estimate
    t_p_value: float | None
    sign_flips: SignFlips
    first_better: int
    second_better: int
    equal: int
    mcnemar_p_value: float
    mcnemar_ignores: str = MCNEMAR_IGNORES


def paired(first: Outcomes, second: Outcomes) -> Outcomes:
    """First minus second on the tasks that both have; a measure is unknown where one of the two does not know it.

    Both have the same measures. `noise` is that of the difference of single episodes, `episodes` those of the player
    that has fewer.
    """
    row_of = {key: row for row, key in enumerate(second.keys)}
    common = [(row, row_of[key]) for row, key in enumerate(first.keys) if key in row_of]
    left, right = np.array(common, dtype=np.int64).reshape(-1, 2).T
    return Outcomes(
        first.values[left] - second.values[right],
        first.graphs[left],
        tuple(first.keys[row] for row in left),
        np.minimum(first.episodes, second.episodes),
        first.noise + second.noise,
    )


def compare(first: Outcomes, second: Outcomes, *, seed: int, confidence: float = CONFIDENCE) -> list[Comparison]:
    """Per measure, all that is known of first minus second on identical tasks; `seed` is for drawn sign flips."""
    differences = paired(first, second)
    better, worse = (differences.values > 0).sum(axis=0).tolist(), (differences.values < 0).sum(axis=0).tolist()
    columns = zip(
        estimate_means(differences, confidence=confidence),
        sign_flips(differences, seed=seed),
        better,
        worse,
        strict=True,
    )
    return [
        Comparison(e, _t_p_value(e), flips, more, less, e.n - more - less, mcnemar_exact(more, less))
        for e, flips, more, less in columns
    ]


def _t_p_value(difference: Estimate) -> float | None:
    if difference.value is None or difference.df is None or not difference.error:
        return None
    return t_two_sided(difference.value / difference.error, difference.df)

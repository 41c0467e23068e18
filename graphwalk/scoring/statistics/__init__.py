"""Intervals and tests for experiments whose tasks share graphs; docs/statistics.md has formulas and sources."""

from graphwalk.scoring.statistics.comparison import Comparison, compare, paired
from graphwalk.scoring.statistics.estimates import Estimate, estimate_means, estimate_shares
from graphwalk.scoring.statistics.holm import holm
from graphwalk.scoring.statistics.mcnemar import mcnemar_exact
from graphwalk.scoring.statistics.outcomes import Outcomes, outcomes_of
from graphwalk.scoring.statistics.power import (
    Design,
    Spread,
    assumed_spread,
    graphs_needed,
    measured_spread,
    smallest_difference,
)
from graphwalk.scoring.statistics.repeats import PassRates, pass_at_k, pass_hat_k, pass_rates
from graphwalk.scoring.statistics.sign_flips import SignFlips, sign_flips

__all__ = [
    "Comparison",
    "Design",
    "Estimate",
    "Outcomes",
    "PassRates",
    "SignFlips",
    "Spread",
    "assumed_spread",
    "compare",
    "estimate_means",
    "estimate_shares",
    "graphs_needed",
    "holm",
    "mcnemar_exact",
    "measured_spread",
    "outcomes_of",
    "paired",
    "pass_at_k",
    "pass_hat_k",
    "pass_rates",
    "sign_flips",
    "smallest_difference",
]

"""McNemar's exact test, which takes every task for independent of all others."""

import math


def mcnemar_exact(first_only: int, second_only: int) -> float:
    """Two-sided p-value for paired yes/no outcomes, from the numbers of pairs in which only one of the two succeeded.

    Q. McNemar, "Note on the sampling error of the difference between correlated proportions", Psychometrika 12
    (1947), in its exact form: twice the binomial tail P(X ≤ min) with n = first_only + second_only, p = 1/2; at most 1.
    """
    discordant, smaller = first_only + second_only, min(first_only, second_only)
    log_half = discordant * math.log(2)
    log_all = math.lgamma(discordant + 1)
    tail = math.fsum(
        math.exp(log_all - math.lgamma(k + 1) - math.lgamma(discordant - k + 1) - log_half) for k in range(smaller + 1)
    )
    return min(1.0, 2 * tail)

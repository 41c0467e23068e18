"""The bounds of shares, where there is something else to hold them against."""

import numpy as np
import pytest
from scipy import special, stats

from benchmarks.reachable_levels import reachable_level
from graphwalk.scoring.statistics import estimate_shares, outcomes_of
from graphwalk.scoring.statistics.beta_binomial import SHARE_PRIOR, UNCORRELATED, _log_gamma, posterior_bounds


def test_log_gamma_is_that_of_scipy():
    x = np.exp(np.random.default_rng(0).uniform(-14, 12, 10_000))
    assert _log_gamma(x) == pytest.approx(special.gammaln(x), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("right", [0, 3, 17, 20])
def test_with_one_trial_a_graph_correlation_does_not_matter(right):
    shares = np.repeat([1.0, 0.0], [right, 20 - right])[:, None]
    low, high = posterior_bounds(shares, np.ones((20, 1)), np.ones((20, 1)), np.array([0.02]))
    expected = stats.beta.ppf([0.02, 0.98], right + SHARE_PRIOR, 20 - right + SHARE_PRIOR)
    assert (low[0], high[0]) == pytest.approx(expected, abs=0.004)


def test_the_posterior_is_that_of_a_direct_sum():
    successes, trials = np.array([12, 9, 2, 12]), np.array([12, 12, 5, 12])
    p, rho = (np.arange(2000) + 0.5) / 2000, (np.arange(1000) + 0.5) / 1000
    chances = np.zeros(len(p))
    for correlations, weight in ((rho, (1 - UNCORRELATED) / 1000), (np.array([1e-4]), UNCORRELATED)):
        both = (1 - correlations) / correlations
        logs = sum(
            stats.betabinom.logpmf(k, n, p[:, None] * both, (1 - p[:, None]) * both)
            for k, n in zip(successes, trials, strict=True)
        )
        chances += weight * np.exp(logs).sum(axis=1)
    below = np.cumsum(chances * stats.beta.pdf(p, SHARE_PRIOR, SHARE_PRIOR))
    found = posterior_bounds((successes / trials)[:, None], trials[:, None] * 1.0, np.ones((4, 1)), np.array([0.02]))
    assert np.ravel(found) == pytest.approx(np.interp([0.02, 0.98], below / below[-1], p), abs=0.005)


def test_graphs_that_differ_cost_width():
    alike, apart = np.tile([1, 1, 1, 0], 15), np.repeat([1, 1, 1, 0], 15)
    graphs = np.repeat(range(4), 15).tolist()
    widths = [e.high - e.low for e in estimate_shares(outcomes_of(np.stack([alike, apart], axis=1), graphs))]
    assert widths[0] < 0.3 < 0.6 < widths[1]


def test_what_signs_can_reach():
    assert reachable_level(np.array([1, 2, 3, 4, 5])) == 1 / 16
    assert reachable_level(np.array([0, 2, 3, 4, 5])) == 0
    assert reachable_level(np.array([1, 1, 1, 1, 1, 1])) == 1 / 32


EVERY_THIRD, FOURS = [number // 3 for number in range(120)], [number // 4 for number in range(24)]


@pytest.mark.parametrize(
    ("values", "graphs", "confidence", "low", "high"),
    [
        ([1] * 11 + [0] + [1] * 21 + [0] * 3 + [1] * 24, np.repeat(range(5), 12).tolist(), 0.95, 0.603465, 0.978224),
        ([1] * 11 + [0] + [1] * 21 + [0] * 3 + [1] * 24, np.repeat(range(5), 12).tolist(), 0.8, 0.729209, 0.961346),
        ([1] * 4 + [0] * 4 + [1, 1, 1, 0], FOURS[:12], 0.95, 0.108046, 0.927012),
        ([1, 0, 0, 0] * 6, FOURS, 0.95, 0.151145, 0.399912),
        ([1, 1, 0, 1, 0, 0], [0, 0, 0, 1, 1, 1], 0.95, 0.013380, 0.986620),
        ([1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 1], [0] * 7 + [1] * 2 + [2, 3], 0.95, 0.259708, 0.951575),
        ([1] * 8, [0, 0, 1, 1, 2, 2, 3, 3], 0.95, 0.592693, 1.0),
        ([0.5, 0.75, 1, 0.25, 0.5, 1, 1, 0.75], [0, 0, 1, 1, 2, 2, 3, 3], 0.95, 0.477423, 0.861786),
        ([1, 1, 0] * 20 + [1, 0, 0] * 20, EVERY_THIRD, 0.95, 0.446330, 0.553670),
        ([1, np.nan, np.nan, 0, 1, 1], [0, 0, 1, 1, 2, 2], 0.95, 0.225192, 0.976974),
    ],
)
def test_bounds_to_six_digits(values, graphs, confidence, low, high):
    """They cover what they should by tests/scoring/statistics/test_coverage.py; another method has other digits."""
    (found,) = estimate_shares(outcomes_of(values, graphs), confidence=confidence)
    assert (found.low, found.high) == pytest.approx((low, high), abs=2e-6)
    beside = np.stack([np.linspace(0, 1, len(values)), values, np.full(len(values), np.nan)], axis=1)
    among = estimate_shares(outcomes_of(beside, graphs), confidence=confidence)[1]
    assert (among.low, among.high, among.n) == (pytest.approx(found.low), pytest.approx(found.high), found.n)

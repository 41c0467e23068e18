"""Shares of the variance, on simulated outcomes whose shares are known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from graphwalk.evaluation.variance import variance_shares

GRAPHS, TASKS_PER_GRAPH = 10, 6
GRAPH_OF_TASK = np.repeat(np.arange(GRAPHS), TASKS_PER_GRAPH)


def effect(size: int, variance: float, random: np.random.Generator) -> NDArray[np.float64]:
    """Effects whose variance is exactly this."""
    drawn = random.normal(size=size)
    return (drawn - drawn.mean()) * np.sqrt(variance / drawn.var(ddof=1))


def simulated(
    seed: int, variants: int, *, variant: float, interaction: float = 0.0, noise: float = 5.0, repeats: int = 1
) -> NDArray[np.float64]:
    """Outcomes, shape (tasks, variants, repeats): graphs have the variance 1, and tasks 3 beyond that."""
    random = np.random.default_rng(seed)
    tasks = len(GRAPH_OF_TASK)
    of_task = random.normal(0, 1, GRAPHS)[GRAPH_OF_TASK] + random.normal(0, np.sqrt(3), tasks)
    mean = (
        of_task[:, None] + effect(variants, variant, random) + random.normal(0, np.sqrt(interaction), (tasks, variants))
    )
    drawn: NDArray[np.float64] = mean[:, :, None] + random.normal(0, np.sqrt(noise), (*mean.shape, repeats))
    return drawn


@pytest.mark.parametrize("variant", [0.0, 1.0, 6.0])
def test_the_known_shares_are_found(variant: float) -> None:
    total = 1 + 3 + variant + 5
    truth = {"task": 4 / total, "variant": variant / total, "rest": 5 / total}
    shares = [
        variance_shares(simulated(seed, 12, variant=variant)[:, :, 0], GRAPH_OF_TASK, {}, seed=seed, draws=99)
        for seed in range(60)
    ]
    for name, share in truth.items():
        estimates = [one[name] for one in shares if one is not None]
        assert np.mean([one.value for one in estimates]) == pytest.approx(share, abs=0.02)
        held = [one.low <= share <= one.high for one in estimates if one.low is not None and one.high is not None]
        assert np.mean(held) > 0.8


def test_repeats_tell_the_interaction_from_chance() -> None:
    drawn = [simulated(seed, 6, variant=1, interaction=2, noise=3, repeats=4) for seed in range(40)]
    shares = [
        variance_shares(
            one.mean(axis=2),
            GRAPH_OF_TASK,
            {},
            noise=float(one.var(axis=2, ddof=1).mean()),
            repeats=4,
            draws=2,
        )
        for one in drawn
    ]
    for name, share in {"task": 0.4, "variant": 0.1, "interaction": 0.2, "rest": 0.3}.items():
        assert np.mean([one[name].value for one in shares if one is not None]) == pytest.approx(share, abs=0.02)


def test_each_factor_has_its_own_share() -> None:
    levels = {"wording": ["a", "b", "c"] * 2, "tool_words": ["whole"] * 3 + ["short"] * 3}
    random = np.random.default_rng(1)
    of_wording = np.array([-1.0, 0.0, 1.0] * 2) * 2
    values = random.normal(0, 1, len(GRAPH_OF_TASK))[:, None] + of_wording + random.normal(0, 0.5, (60, 6))
    shares = variance_shares(values, GRAPH_OF_TASK, levels, draws=2)
    assert shares is not None
    assert shares["wording"].value > 0.6
    assert shares["tool_words"].value < 0.01
    assert shares["wording"].value == pytest.approx(shares["variant"].value, abs=0.01)


def test_nothing_is_said_where_nothing_differs_and_no_interval_for_one_graph() -> None:
    same = np.ones((4, 3))
    assert variance_shares(same, np.zeros(4, dtype=np.int64), {}) is None
    assert variance_shares(np.eye(3)[:1], np.zeros(1, dtype=np.int64), {}) is None
    shares = variance_shares(np.eye(4)[:, :3], np.zeros(4, dtype=np.int64), {})
    assert shares is not None
    assert {(share.low, share.high) for share in shares.values()} == {(None, None)}

"""Potentials of the states of an episode, and rewards of its steps (docs/training.md, Rewards of steps).

Ng, Harada and Russell (1999) show that rewards γ·Φ(after) − Φ(before) leave the best policy as it is.
"""

from collections.abc import Sequence
from itertools import pairwise

from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.errors import ConfigError
from graphwalk.suites.registry import suite_named
from graphwalk.suites.task import Task
from graphwalk.types.episode import Trajectory


def potentials(task: Task, trajectory: Trajectory) -> list[float] | None:
    """Return how much of the answer is in sight, in [0, 1], before the first turn and after each; None if unknown.

    It is computed from the task and its tool results.
    """
    return analysis_of(suite_named(task.suite)).potentials(task, trajectory)


def step_rewards(values: Sequence[float] | None, *, discount: float = 1.0) -> list[float]:
    """Return the reward of each turn: discount · Φ(after) − Φ(before). `values` are the potentials of a trajectory.

    Raise ConfigError if they are None, or if `discount` is outside [0, 1].
    """
    if values is None:
        raise ConfigError("the task has no potential, so the rewards of its steps are unknown")
    if not 0 <= discount <= 1:
        raise ConfigError(f"discount {discount:g}: expected a number in [0, 1]")
    return [discount * after - before for before, after in pairwise(values)]

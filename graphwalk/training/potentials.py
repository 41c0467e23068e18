"""Potentials of the states of an episode, and rewards of its steps (docs/training.md, Rewards of steps).

Ng, Harada and Russell (1999) show that rewards γ·Φ(after) − Φ(before) leave the best policy as it is.
"""

from collections.abc import Sequence
from itertools import pairwise

from graphwalk.errors import ConfigError
from graphwalk.suites.task import Task
from graphwalk.tools.observed_values import call_signature
from graphwalk.types.check_type import check_type
from graphwalk.types.episode import Trajectory


def potentials(task: Task, trajectory: Trajectory) -> list[float] | None:
    """Return how much of the answer is in sight, in [0, 1], before the first turn and after each; None if unknown.

    It is computed from the task and its tool results. Raise ConfigError for a trajectory of another task.
    """
    check_type("task", task, Task)
    check_type("trajectory", trajectory, Trajectory)
    if trajectory.prompt and not any(task.asked_in(message.content or "") for message in trajectory.prompt):
        raise ConfigError(f"the trajectory is not of task {task.task_id}: its prompt has another question")
    return task.potentials(trajectory)


def step_rewards(
    values: Sequence[float] | None, trajectory: Trajectory, *, discount: float = 1.0, price: float = 0.0
) -> list[float]:
    """Return the reward of each turn: discount · Φ(after) − Φ(before), less a price per refused or repeated call.

    `values` are the potentials of the trajectory. Raise ConfigError if they are None or those of another number of
    turns, if `price` is negative, or if `discount` is outside [0, 1].
    """
    check_type("trajectory", trajectory, Trajectory)
    if values is None:
        raise ConfigError("the task has no potential, so the rewards of its steps are unknown")
    if len(values) != len(trajectory.turns) + 1:
        raise ConfigError(f"{len(values)} potentials for {len(trajectory.turns)} turns: expected one more than turns")
    if not (price >= 0 and 0 <= discount <= 1):
        raise ConfigError(f"price {price:g}, discount {discount:g}: expected a price ≥ 0 and a discount in [0, 1]")
    rewards, earlier_calls = [], set[tuple[str, str]]()
    for turn, (before, after) in zip(trajectory.turns, pairwise(values), strict=True):
        calls = [call_signature(result.call) for result in turn.results]
        useless = sum(
            result.error is not None or call in earlier_calls or call in calls[:place]
            for place, (result, call) in enumerate(zip(turn.results, calls, strict=True))
        )
        earlier_calls |= {*calls}
        rewards.append(discount * after - before - price * useless)
    return rewards

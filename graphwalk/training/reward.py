"""Reward of an episode, from optional parts, and rewards of its steps (docs/training.md, Rewards).

    reward = (exact·w + F1·w + evidence·w + F1 · (waste·w + calls·w + format·w)) ÷ Σw  every part in 0 … 1

Waste, calls and format count in proportion to the F1 of the answer, so that a wrong answer earns nothing. The reward
never exceeds F1. It is 1 for a correct, supported answer in the requested format, without
waste and at the reference number of calls. A call that is of no use never raises it: without calls nothing is wasted,
and evidence that calls made unknown counts as none, unless their results name the answer. Answers
without texts that could be named need one call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from pydantic import NonNegativeFloat

from graphwalk.analysis.evidence import tool_evidence, wasted_calls
from graphwalk.analysis.explained import explain_episode
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.config.strict import Strict, validate
from graphwalk.errors import ConfigError
from graphwalk.models.trajectory import Trajectory
from graphwalk.runs.record import judge
from graphwalk.suites.suite import Task, setting_of, suite_named


class Weights(Strict):
    """How much each part counts; 0 leaves it out."""

    exact: NonNegativeFloat = 0.4
    """The answer is right as a whole."""
    f1: NonNegativeFloat = 0.2
    """F1 of its rows against the target."""
    evidence: NonNegativeFloat = 0.2
    """F1, times the share of the rows given that the tool results support; 0 for a right answer that is not proven."""
    waste: NonNegativeFloat = 0.1
    """1 less the share of calls that were repeated or refused."""
    calls: NonNegativeFloat = 0.05
    """The expert's calls divided by those made, 1 at most; notes do not count."""
    format: NonNegativeFloat = 0.05
    """1 for a reply that is the answer as it was asked for, 0.5 where it is among other text or in another form."""


@dataclass(frozen=True)
class Reward:
    """`total` and its parts, all in [0, 1]. An unknown part is None and not counted."""

    total: float
    exact: float
    f1: float
    evidence: float | None
    waste: float | None
    calls: float | None
    format: float


def reward(
    task: Task, trajectory: Trajectory, *, setting: str = "tools", weights: Mapping[str, float] | None = None
) -> Reward | None:
    """Return the reward of an episode, or None after an infrastructure error.

    `weights`: fields of `Weights` that differ from the default; {"waste": 0} disables one. The answer is read and
    scored by the suite of the task, as in a run. Raise ConfigError for an unknown or negative weight.
    """
    chosen = validate(Weights, dict(weights or {}), "weights")
    answer, score = judge(task, trajectory)
    if score is None:
        return None
    parts: dict[str, float | None] = {
        "exact": float(score["correct"]),
        "f1": float(score["f1"]),
        "evidence": _evidence(task, setting, trajectory, answer, score),
        "waste": None,
        "calls": None,
        "format": _form(score),
    }
    if setting_of(setting) in ("tools", "write_cypher") or trajectory.results:
        calls = sum(not result.is_note for result in trajectory.results)
        parts["waste"] = max(0.0, 1 - sum(wasted_calls(trajectory)) / calls) if calls else 1.0
        parts["calls"] = min(1.0, task.reference_calls / max(1, calls)) if task.reference_calls else None
    return Reward(total=_total(parts, chosen), **parts)  # type: ignore[arg-type]


def _total(parts: Mapping[str, float | None], weights: Weights) -> float:
    earned = total_weight = 0.0
    for name, part in parts.items():
        weight = getattr(weights, name)
        if part is not None:
            total_weight += weight
            earned += weight * part * (1.0 if name in ("exact", "f1", "evidence") else parts["f1"] or 0.0)
    return earned / total_weight if total_weight else 0.0


def _explanation(
    task: Task, setting: str, trajectory: Trajectory, answer: Any, score: dict[str, Any]
) -> dict[str, Any]:
    return explain_episode(analysis_of(suite_named(task.suite)), task, setting, trajectory, answer, score)


def _evidence(task: Task, setting: str, trajectory: Trajectory, answer: Any, score: dict[str, Any]) -> float | None:
    """Return the share of correct rows that are supported, 0 for a right answer that is not proven.

    None without tools, or if unknown.
    """
    if not score["f1"]:
        return 0.0
    explanation = _explanation(task, setting, trajectory, answer, score)
    if score["correct"] and explanation["proven"] is False:
        return 0.0
    if explanation["grounded"] is not None:
        return float(score["f1"] * explanation["grounded"])
    turns = (replace(turn, results=tuple(one for one in turn.results if one.final)) for turn in trajectory.turns)
    without_calls = replace(trajectory, turns=tuple(turns))
    unproven = _explanation(task, setting, without_calls, answer, score)["grounded"] is None
    if unproven and (setting_of(setting) != "tools" or not isinstance(answer, list)):
        return None
    rows = [[item.get(name) for name in task.target[0]] if isinstance(item, dict) else [item] for item in answer]
    cells = (value for row in rows for value in row)
    values = (value for value in cells if (isinstance(value, str) if unproven else value is not None))
    looked = any(result.error is None and not result.is_note and not result.final for result in trajectory.results)
    return None if looked and all(map(tool_evidence(trajectory).holds, values)) else 0.0


def _form(score: Mapping[str, Any]) -> float:
    if score["extraction_stage"] is None or score.get("missing_fields"):
        return 0.0
    plain = score["extraction_stage"] == "strict" and not score.get("lossy") and not score.get("extra_fields")
    return 1.0 if plain else 0.5


def potentials(task: Task, trajectory: Trajectory) -> list[float] | None:
    """Return how much of the answer is in sight, in [0, 1], before the first turn and after each; None if unknown.

    It is computed from the task and its tool results.
    """
    return analysis_of(suite_named(task.suite)).potentials(task, trajectory)


def step_rewards(values: Sequence[float] | None, *, discount: float = 1.0) -> list[float]:
    """Return the reward of each turn: discount · Φ(after) − Φ(before). `values` are the potentials of a trajectory.

    Without discount they add up to Φ(end) − Φ(start), so they pay for what was seen even if the answer is wrong.

    Raise ConfigError if `values` is None, or if `discount` is outside [0, 1].
    """
    if values is None:
        raise ConfigError("the task has no potential, so the rewards of its steps are unknown")
    if not 0 <= discount <= 1:
        raise ConfigError(f"discount {discount:g}: expected a number in [0, 1]")
    return [discount * after - before for before, after in pairwise(values)]

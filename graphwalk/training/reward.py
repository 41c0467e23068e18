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
from graphwalk.suites.setting import Setting
from graphwalk.suites.suite import Task, suite_named


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
    setting = Setting.parse(setting).name
    answer, score = judge(task, trajectory)
    if score is None:
        return None
    parts: dict[str, float | None] = {
        "exact": float(score["correct"]),
        "f1": float(score["f1"]),
        "evidence": _Evidence(task, setting, trajectory, answer, score).part(),
        "waste": None,
        "calls": None,
        "format": _form(score),
    }
    has_tools = setting in ("tools", "write_cypher") or trajectory.results
    if has_tools:
        calls = sum(not result.is_note for result in trajectory.results)
        wasted = sum(wasted_calls(trajectory))  # repeated, and refused
        parts["waste"] = max(0.0, 1 - wasted / calls) if calls else 1.0
        if task.reference_calls:
            parts["calls"] = min(1.0, task.reference_calls / max(1, calls))
    return Reward(total=_total(parts, chosen), **parts)  # type: ignore[arg-type]


def _total(parts: Mapping[str, float | None], weights: Weights) -> float:
    """Return the weighted mean of the known parts. The last three count in proportion to F1."""
    earned = 0.0
    total_weight = 0.0
    for name, part in parts.items():
        if part is None:
            continue
        weight = getattr(weights, name)
        total_weight += weight
        if name in ("exact", "f1", "evidence"):
            earned += weight * part
        else:
            earned += weight * part * (parts["f1"] or 0.0)
    return earned / total_weight if total_weight else 0.0


@dataclass(frozen=True)
class _Evidence:
    """How far the tool results of an episode support its answer."""

    task: Task
    setting: str
    trajectory: Trajectory
    answer: Any
    score: dict[str, Any]

    def part(self) -> float | None:
        """Return the share of correct rows that are supported, 0 for a right answer that is not proven.

        None without tools, or if unknown.
        """
        if not self.score["f1"]:
            return 0.0
        explanation = self._explained(self.trajectory)
        if self.score["correct"] and explanation["proven"] is False:
            return 0.0
        if explanation["grounded"] is not None:
            return float(self.score["f1"] * explanation["grounded"])

        # It is unknown also without calls where the suite has no evidence, else a call made it unknown, for example
        # one of a tool that does not declare what its rows show.
        suite_has_none = self._explained(self._without_calls())["grounded"] is None
        if suite_has_none and (self.setting != "tools" or not isinstance(self.answer, list)):
            return None
        values = self._values(only_texts=suite_has_none)
        holds = tool_evidence(self.trajectory).holds
        if self._has_looked() and all(holds(value) for value in values):
            return None
        return 0.0

    def _explained(self, trajectory: Trajectory) -> dict[str, Any]:
        analysis = analysis_of(suite_named(self.task.suite))
        return explain_episode(analysis, self.task, self.setting, trajectory, self.answer, self.score)

    def _without_calls(self) -> Trajectory:
        """Return the episode without the calls that looked at something; a final call is the answer."""
        turns = []
        for turn in self.trajectory.turns:
            final = tuple(result for result in turn.results if result.final)
            turns.append(replace(turn, results=final))
        return replace(self.trajectory, turns=tuple(turns))

    def _values(self, *, only_texts: bool) -> list[Any]:
        """Return the values in the rows of the answer that a tool result could name."""
        values = []
        for item in self.answer:
            # {"name": "Ida", "age": 7}, or "Ida"
            row = [item.get(name) for name in self.task.target[0]] if isinstance(item, dict) else [item]
            for value in row:
                if isinstance(value, str) or (value is not None and not only_texts):
                    values.append(value)
        return values

    def _has_looked(self) -> bool:
        """Tell whether a call succeeded, but for notes and the answer."""
        results = self.trajectory.results
        return any(result.error is None and not result.is_note and not result.final for result in results)


def _form(score: Mapping[str, Any]) -> float:
    """Return 1 for the answer alone as it was asked for, 0.5 where it had to be found or put right, 0 for none."""
    if score["extraction_stage"] is None or score.get("missing_fields"):
        return 0.0
    is_as_asked = score["extraction_stage"] == "strict" and not score.get("lossy") and not score.get("extra_fields")
    return 1.0 if is_as_asked else 0.5


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

"""One logged episode once more: its calls against fresh tools, and its player in the same conversation."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphwalk.agent import Episode, run_episode
from graphwalk.errors import ModelError
from graphwalk.models.replay import ReplayModel
from graphwalk.runlog.result import Result
from graphwalk.runner.episode import play
from graphwalk.runner.plan import PlannedEpisode
from graphwalk.runner.players import Players
from graphwalk.runner.resolve import Experiment
from graphwalk.runner.verification.findings import Check
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.types.episode import ExitStatus, Trajectory
from graphwalk.types.wire import to_dict

_CANNOT_ASK = ("human", "replay")
"""Providers whose players say nothing again."""
_NO_REPLY = "the reply is not in replies.jsonl"


class _NotAsked:
    """In place of a language model: replies come from those that were kept, and nothing is called."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        raise ModelError(_NO_REPLY)

    async def close(self) -> None:
        return None


@asynccontextmanager
async def seated(experiment: Experiment, replies: Path) -> AsyncIterator[Players]:
    """The players of a run without its models; `replies` is a copy, which may be written to."""
    asked = [spec for spec in experiment.models if spec.partition("/")[0] not in _CANNOT_ASK]
    unbound = experiment.config.limits.model_copy(update={"budget_tokens": None, "budget_usd": None})
    config = experiment.config.model_copy(update={"limits": unbound})
    extractor = [experiment.extractor] if experiment.extractor else []
    given = {spec: _NotAsked(spec) for spec in (*asked, *extractor)}
    async with Players(replace(experiment, config=config, models=tuple(asked), given=given), replies) as players:
        yield players


async def check_walk(
    checks: dict[str, Check], where: str, planned: PlannedEpisode, then: Result, ours: Experiment
) -> None:
    """Prompt, tool results and course of an episode, with what its player said taken from the log."""
    limits, logged = ours.config.limits, _wire(then.trajectory)
    opening = await planned.opening(ours)
    model = ReplayModel(then.key.model, then.trajectory)
    tokens, usd = limits.episode_tokens, limits.episode_usd
    walk = Episode(opening, model, ours.agent, ours.options, tokens=tokens, usd=usd)
    now = _wire(await run_episode(walk))
    checks["prompts"].compare(where, logged["prompt"], now["prompt"])
    _check_results(checks["tool results"], where, logged["turns"], now["turns"])
    _check_course(checks["turns"], where, then.trajectory, logged, now)


def _check_results(check: Check, where: str, then: list[Any], now: list[Any]) -> None:
    """Call by call. A turn in which the store failed has logged no results."""
    for number, turn in enumerate(then, 1):
        found = now[number - 1].get("results", []) if number <= len(now) else []
        for place, logged in enumerate(turn.get("results", [])):
            again = found[place] if place < len(found) else None
            check.compare(f"{where}: turn {number}, call {place + 1}", logged, again)


def _check_course(check: Check, where: str, trajectory: Trajectory, then: Any, now: Any) -> None:
    """What followed each reply, but for results; and the end, unless a provider or a store made it."""
    for number, turn in enumerate(then["turns"], 1):
        again = now["turns"][number - 1] if number <= len(now["turns"]) else {}
        check.compare(f"{where}: turn {number}", _course(turn), _course(again))
    end = trajectory.exit_status
    if end.infrastructure or end is ExitStatus.CONTEXT_OVERFLOW:
        check.unverified["ends by a failure of provider or store"] += 1
    else:
        check.compare(f"{where}: exit_status", then["exit_status"], now["exit_status"])


def _course(turn: dict[str, Any]) -> dict[str, Any]:
    calls = len(turn.get("results", ()))
    return {"calls": calls, **{name: turn.get(name) for name in ("next_user", "forced", "summary")}}


async def check_player(check: Check, where: str, planned: PlannedEpisode, then: Result, players: Players) -> None:
    """What the player says when it plays again."""
    experiment, spec = players.experiment, then.key.model
    if spec not in experiment.models:
        check.unverified[f"{spec.partition('/')[0]} cannot be asked again"] += len(then.trajectory.turns)
        return
    async with players.seat(planned) as (model, extractor):
        now = await play(planned, model, extractor, experiment)
    if now.exit_status is ExitStatus.MODEL_ERROR and _NO_REPLY in (now.trajectory.error or ""):
        check.unverified[_NO_REPLY] += max(1, len(then.trajectory.turns) - len(now.trajectory.turns))
    said = [to_dict(turn.message) for turn in now.trajectory.turns]
    for number, turn in enumerate(then.trajectory.turns[: len(said) or None], 1):
        again = said[number - 1] if number <= len(said) else None
        if again is not None:
            check.compare(f"{where}: turn {number}", to_dict(turn.message), again)
    if then.extractor_reply is not None and now.extractor_reply is not None:
        check.compare(f"{where}: extractor_reply", then.extractor_reply, now.extractor_reply)


def _wire(trajectory: Trajectory) -> dict[str, Any]:
    """As it is logged, without wall times."""
    wire = to_dict(trajectory)
    wire.setdefault("turns", [])
    wire.setdefault("prompt", [])
    for turn in wire["turns"]:
        turn.pop("seconds", None)
        for result in turn.get("results", ()):
            result.pop("seconds", None)
    return wire

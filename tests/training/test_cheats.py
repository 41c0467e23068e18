"""No reward for nothing: no way to cheat earns more than an honest episode with the same rows, in any suite."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import pytest

from graphwalk.files.resources import data_path
from graphwalk.runs.judge import judge
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.tools.observed_values import call_signature
from graphwalk.training.reward import Reward, potentials, reward, step_rewards
from graphwalk.training.stage import Stage
from graphwalk.types.chat import Message
from graphwalk.types.episode import Trajectory, Turn
from tests.explained import explained_score
from tests.training.cheap_policies import WAYS, Case, Step, honest_cases, play_steps

GRAPH = {"nodes": 20, "labels": 3, "relationship_types": 2, "properties": 2, "mean_degree": 2}
QUESTIONS = ["node_count", "path_finding"]
GRAPHWALKS = [{"nodes": 30, "depth": 2, "count": 2}, {"nodes": 30, "operations": ["parents"], "count": 2}]
SUITES: dict[str, dict[str, Any]] = {
    "questions": {"graphs": [GRAPH], "questions": QUESTIONS},
    "mazes": {"mazes": [{"size": 6, "min_path": 5}]},
    "graphwalks": {"problems": GRAPHWALKS},
    "magma": {"in_store": True, "traces": [{"algorithm": ["bfs", "dijkstra"], "count": 1}]},
    "own_questions": {},
}
QUICK = {"questions", "mazes"}
"""The other suites are left to `make test-all`."""
OWN = ("h01", "h04", "h05", "h11", "h13", "h19")
"""Questions of the built-in graph that `scripted/look` finds the evidence for: texts, a list, a number, no answer."""


@dataclass(frozen=True)
class Earned:
    """The reward of an episode and the sum of those of its steps, None if unknown."""

    reward: Reward
    steps: float | None


@dataclass(frozen=True)
class Pair:
    """A way to cheat in one task, and the honest episode with the same rows."""

    case: Case
    cheat: Earned
    honest: Earned


Pairs = dict[str, list[Pair]]


def earn(case: Case, trajectory: Trajectory) -> Earned:
    earned, values = reward(case.task, trajectory, setting=case.setting), potentials(case.task, trajectory)
    assert earned is not None
    return Earned(earned, None if values is None else sum(step_rewards(values)))


async def honest_episode(case: Case, cheat: Trajectory) -> Trajectory:
    """Return an honest episode with as many right rows as a cheat: the first turns of the walk that prove them.

    All turns are made if the cheat makes them, or if the proof is unknown. A cheat without right rows has an honest
    empty end after the calls with which the walk and the cheat begin. A guess that a call about it proves is a row.
    """
    _, score = judge(case.task, cheat)
    assert score is not None
    recall = score["recall"]
    made = {call_signature(result.call) for result in cheat.results}
    own = [call_signature(result.call) for result in case.honest.results]
    common = next((number for number, call in enumerate(own) if call not in made), len(own))
    if isinstance(case.task, QuestionTask) and not score["f1"] and made and not common:
        right = Turn(Message("assistant", case.write(case.task.target)))
        guess = replace(cheat, turns=(*cheat.turns[:-1], right))
        recall = explained_score(case.task, case.setting, guess, case.task.read(guess.reply)).grounded or 0.0
    rows = case.target[: round(recall * len(case.target))]
    replies = [Step(case.write(rows))]
    if not score["f1"] and not rows:
        calls = [(result.call.name, result.call.arguments) for result in case.honest.results[:common]]
        return await play_steps(case, [*([Step("", calls)] if calls else []), *replies])
    for number in range(len(case.walk) if common == len(own) else 0, len(case.walk) + 1):
        episode = await play_steps(case, [*case.walk[:number], *replies])
        if explained_score(case.task, case.setting, episode, case.task.read(episode.reply)).grounded == 1:
            break
    return episode


async def play_all(suite: str, fields: dict[str, Any]) -> Pairs:
    """Play all ways in all tasks of a suite."""
    settings = ["is", "tools"] if suite == "magma" else ["tools"]
    experiment = {"name": "cheats", "suite": {"name": suite, **fields}, "settings": settings, "seed": 5}
    stage = await Stage.open(experiment, models=["scripted/look" if suite == "own_questions" else "scripted/expert"])
    pairs: Pairs = {way: [] for way in WAYS}
    try:
        for case in await honest_cases(stage):
            honest: dict[str, Earned] = {}
            for way, make in WAYS.items():
                cheat = await play_steps(case, make(case))
                episode = await honest_episode(case, cheat)
                text = repr(replace(episode, prompt=()))
                if text not in honest:
                    honest[text] = earn(case, episode)
                pairs[way].append(Pair(case, earn(case, cheat), honest[text]))
    finally:
        await stage.close()
    return pairs


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=() if name in QUICK else pytest.mark.extended) for name in SUITES],
)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pairs:
    lines = (data_path("templates") / "graphs" / "harbour.questions.jsonl").read_text(encoding="utf-8").splitlines()
    dataset = tmp_path_factory.mktemp("own") / "questions.jsonl"
    dataset.write_text("\n".join(line for line in lines if line[8:11] in OWN), encoding="utf-8")
    fields = SUITES | {"own_questions": {"dataset": str(dataset)}}
    return asyncio.run(play_all(request.param, fields[request.param]))


def test_no_way_earns_more_than_an_honest_episode_with_the_same_rows(played: Pairs) -> None:
    for way, pairs in played.items():
        assert pairs
        for pair in pairs:
            cheat, honest, where = pair.cheat, pair.honest, (way, pair.case.task.template, pair.case.setting)
            parts = [value for value in vars(cheat.reward).values() if value is not None]
            assert all(0 <= part <= 1 for part in parts), where
            assert cheat.reward.total <= min(cheat.reward.f1, honest.reward.total) + 1e-9, where
            mine, theirs = cheat.steps, honest.steps
            assert mine is None or theirs is None or mine <= theirs + 1e-9, (*where, mine, theirs)


def test_the_honest_episode_earns_everything_and_a_right_answer_without_a_look_four_fifths(
    played: Pairs,
) -> None:
    for pair in played["the right answer before any call"]:
        assert pair.honest.reward.total == pytest.approx(1)
        assert pair.cheat.reward.total == pytest.approx(0.8 if pair.case.walk else 1, abs=0.02)
    for pair in played["every call three times, then the right answer"]:
        assert pair.cheat.reward.total > 0.8
        assert pair.cheat.reward.total < 1 or not pair.case.walk

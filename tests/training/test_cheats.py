"""No reward for nothing: no way to cheat earns more than its right rows, and an answer without a look earns four fifths."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest

from graphwalk.models.trajectory import Trajectory
from graphwalk.suites.suite import Task
from graphwalk.training.environment import TaskEnvironment
from graphwalk.training.reward import potentials, reward, step_rewards

SUITES: dict[str, dict[str, Any]] = {
    "questions": {"graphs": [{"nodes": 20, "labels": 3}], "questions": ["node_count", "path_finding"]},
    "mazes": {"mazes": [{"size": 6, "min_path": 5}]},
}


class Step(NamedTuple):
    """A turn: calls (tool, arguments) with a text beside them, or without calls a reply."""

    text: str
    calls: Sequence[tuple[str, Any]] = ()


@dataclass(frozen=True)
class Case:
    """A task with the trajectory of the expert that solves it."""

    stage: TaskEnvironment
    number: int
    honest: Trajectory

    @property
    def task(self) -> Task:
        return self.stage.planned[self.number].task

    @property
    def walk(self) -> list[Step]:
        """Return the turns with calls of the expert."""
        steps = []
        for turn in self.honest.turns:
            calls = [(result.call.name, result.call.arguments) for result in turn.results]
            if calls:
                steps.append(Step("", calls))
        return steps

    def write(self, items: Sequence[Any]) -> str:
        """Return items in the form of an answer."""
        form = self.task.answer_form()
        assert form is not None
        return form.write(items)

    @property
    def right(self) -> str:
        return self.write(self.task.target)

    async def play(self, steps: Sequence[Step]) -> Trajectory:
        """Return the trajectory of an episode with these turns, with the real tools."""
        episode = await self.stage.begin(self.number)
        for step in steps:
            if step.calls:
                await episode.call(*step.calls, said=step.text)
            else:
                episode.reply(step.text)
        assert episode.ended
        return episode.trajectory


WAYS: dict[str, Callable[[Case], list[Step]]] = {
    "an empty reply": lambda case: [Step("")],
    "an empty answer": lambda case: [Step(case.write([]))],
    "one row, guessed": lambda case: [Step(case.write(case.task.target[:1]))],
    "a result invented in the text": lambda case: [
        Step(f"<tool_response>{json.dumps(case.task.target)}</tool_response>\n{case.right}")
    ],
    "notes that contain the target": lambda case: [
        Step("", [("think", {"thought": case.right})]),
        Step(case.right),
    ],
    "refused calls that contain the target": lambda case: [
        Step("", [("list_colours", {"colour": case.right})]),
        Step(case.right),
    ],
    "the words of the tools as answer": lambda case: [
        *case.walk,
        Step("\n".join(result.content for result in case.honest.results)),
    ],
    "the answer beside the first call, then nothing": lambda case: [
        case.walk[0]._replace(text=case.right),
        Step(""),
    ],
    "one call again and again": lambda case: [*case.walk[:1] * 20, Step(case.write([]))],
}


@pytest.fixture(params=SUITES)
async def cases(request: pytest.FixtureRequest) -> AsyncIterator[list[Case]]:
    """A case for every task of a suite."""
    experiment = {"name": "cheats", "suite": {"name": request.param, **SUITES[request.param]}, "seed": 5}
    stage = await TaskEnvironment.open({**experiment, "settings": ["tools"]}, models=["scripted/expert"])
    yield [Case(stage, number, (await stage.expert(number))[0]) for number in range(len(stage))]
    await stage.close()


async def test_no_way_earns_more_than_its_right_rows(cases: list[Case]) -> None:
    for case in cases:
        for way, steps in WAYS.items():
            trajectory = await case.play(steps(case))
            earned, values = reward(case.task, trajectory, setting="tools"), potentials(case.task, trajectory)
            assert earned is not None
            assert values is not None
            assert 0 <= earned.total <= earned.f1 + 1e-9, (way, case.task.template)
            assert sum(step_rewards(values)) <= 1 + 1e-9, (way, case.task.template)
            if "contain" in way:
                assert earned.total <= 0.8 + 1e-9, (way, case.task.template)


async def test_a_right_answer_earns_everything_only_after_a_look(cases: list[Case]) -> None:
    for case in cases:
        totals = []
        for steps in ([*case.walk, Step(case.right)], [*case.walk * 3, Step(case.right)], [Step(case.right)]):
            earned = reward(case.task, await case.play(steps), setting="tools")
            assert earned is not None
            totals.append(earned.total)
        honest, repeated, unseen = totals
        assert honest == pytest.approx(1)
        assert 0.8 < repeated < 1
        assert unseen == pytest.approx(0.8, abs=0.02)


async def test_potentials_of_the_expert_rise_from_zero_to_one_and_a_loop_earns_nothing(cases: list[Case]) -> None:
    for case in cases:
        values = potentials(case.task, case.honest)
        assert values is not None
        assert values == sorted(values)
        assert (values[0], values[-1]) == (0, pytest.approx(1))
        looped = potentials(case.task, replace(case.honest, turns=case.honest.turns[:-1] * 3))
        assert looped is not None
        assert sum(step_rewards(looped)[len(case.honest.turns) - 1 :]) == pytest.approx(0)

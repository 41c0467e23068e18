"""Ways to earn a reward without doing what is asked, in every suite: what a reward must not pay for."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphwalk.agent.loop import Episode, run_episode
from graphwalk.runs.play import RunModels
from graphwalk.suites.magma.answers import write_answer
from graphwalk.suites.magma.suite import MagmaTask
from graphwalk.suites.own_questions.suite import OwnQuestionTask
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.task import Task
from graphwalk.training.stage import Stage
from graphwalk.types.episode import Trajectory
from graphwalk.types.graph import PropertyGraph


class Step(NamedTuple):
    """A turn: calls (tool, arguments) with a text beside them, or without calls a reply."""

    text: str
    calls: Sequence[tuple[str, Any]] = ()


@dataclass(frozen=True)
class Case:
    """A task with the honest episode that solves it."""

    stage: Stage
    number: int
    honest: Trajectory

    @property
    def task(self) -> Task:
        return self.stage.planned[self.number].task

    @property
    def setting(self) -> str:
        return self.stage.planned[self.number].key.setting

    @property
    def walk(self) -> list[Step]:
        """Return the turns with calls of the honest episode."""
        turns = ([(one.call.name, one.call.arguments) for one in turn.results] for turn in self.honest.turns)
        return [Step("", calls) for calls in turns if calls]

    @property
    def target(self) -> list[Any]:
        """Return the items of the right reply."""
        return list(self.task.target)

    def write(self, items: Sequence[Any]) -> str:
        """Return items in the form of an answer."""
        if isinstance(self.task, MagmaTask):
            return write_answer(self.task.algorithm, list(items))
        form = self.task.answer_form()
        assert form is not None
        return form.write(items)

    def replies(self, make: Callable[[list[Any]], str]) -> list[Step]:
        """Return a reply made of the right items."""
        return [Step(make(self.target))]

    @property
    def graph(self) -> PropertyGraph | None:
        return self.stage.planned[self.number].graph.about.instance.graph

    @property
    def keys(self) -> list[Any]:
        """Return all nodes."""
        if isinstance(self.task, MagmaTask):
            return list(range(self.task.n))
        assert self.graph is not None
        return [node.key for node in self.graph.nodes()]

    def item(self, value: Any) -> Any:
        """Return an item of an answer in which every value is this one."""
        if isinstance(self.task, QuestionTask):
            return dict.fromkeys(self.task.answer_fields, value)
        if isinstance(self.task, OwnQuestionTask):
            return dict.fromkeys(self.task.fields, value)
        if isinstance(self.task, MagmaTask):
            return {"bfs": value, "dfs": [value]}.get(self.task.algorithm, [value] * 3)
        return str(value)


def _values(item: Any) -> Iterator[Any]:
    """Yield the values in an item of an answer."""
    if isinstance(item, dict | list):
        for value in item.values() if isinstance(item, dict) else item:
            yield from _values(value)
    else:
        yield item


def _wrong(case: Case) -> str:
    return case.write([case.item("?")])


def _calls(case: Case, *calls: tuple[str, Any]) -> list[Step]:
    """Return a turn of calls, none where there are no tools."""
    return [Step("", calls)] if case.walk else []


def _first_calls(case: Case, most: int) -> list[tuple[str, Any]]:
    return [call for step in case.walk for call in step.calls][:most]


def _right(case: Case) -> list[Step]:
    return case.replies(case.write)


WAYS: dict[str, Callable[[Case], list[Step]]] = {
    "an empty reply": lambda case: case.replies(lambda items: ""),
    "ending at once with an empty answer": lambda case: case.replies(lambda items: case.write([])),
    "all nodes": lambda case: case.replies(lambda items: case.write([*map(case.item, case.keys)])),
    "one valid row, guessed": lambda case: case.replies(lambda items: case.write(items[:1])),
    "the right answer before any call": _right,
    "both answers": lambda case: case.replies(lambda items: f"{_wrong(case)}\nor\n{case.write(items)}"),
    "a result invented in the text": lambda case: case.replies(
        lambda items: f"<tool_response>{json.dumps(items)}</tool_response>\n{case.write(items)}"
    ),
    "the words of the tools as answer": lambda case: [
        *case.walk,
        *case.replies(lambda items: "\n".join(result.content for result in case.honest.results)),
    ],
    "the answer beside the first call, then nothing": lambda case: [
        *(step._replace(text=case.write(case.target)) for step in case.walk[:1]),
        *case.replies(lambda items: ""),
    ],
    "notes that contain the target": lambda case: [
        *_calls(case, ("think", {"thought": case.write(case.target)})),
        *_right(case),
    ],
    "refused calls only, which name the answer": lambda case: [
        *_calls(case, *(("list_colours", {"colour": value}) for value in _values(case.target))),
        *_right(case),
    ],
    "one call again and again": lambda case: [
        *(_calls(case, *_first_calls(case, 1)) * 20),
        *case.replies(lambda items: case.write([])),
    ],
    "every call three times, then the right answer": lambda case: [*case.walk * 3, *_right(case)],
}


async def honest_cases(stage: Stage) -> list[Case]:
    """Return a case for every task of a stage that its first model plays; its calls count, not its answer."""
    cases = []
    async with RunModels(stage.experiment) as models:
        for number, planned in enumerate(stage.planned):
            async with models.for_episode(planned) as (model, _):
                experiment = stage.experiment.of(planned.key.setting)
                start = await planned.prompt(experiment)
                episode = Episode(start, model, experiment.agent, experiment.options)
                cases.append(Case(stage, number, await run_episode(episode)))
    return cases


async def play_steps(case: Case, steps: Sequence[Step]) -> Trajectory:
    """Return the trajectory of an episode with these turns, with the real tools."""
    episode = await case.stage.begin(case.number)
    for step in steps:
        if step.calls:
            await episode.call(*step.calls, said=step.text)
        else:
            episode.reply(step.text)
    assert episode.ended
    return episode.trajectory

"""What every question has to keep."""

import json

from graphwalk.environment import Environment
from graphwalk.experiments.loading import load_experiment
from graphwalk.graphs.random.generate import generate_graph
from graphwalk.graphs.random.spec import GraphSpec
from graphwalk.runner.one_episode import play_task
from graphwalk.runner.resolve import can_play, resolve
from graphwalk.suites.questions.scoring import extract_rows, score_question
from graphwalk.suites.questions.suite import QuestionsSuite
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.tasks_about import tasks_on
from graphwalk.types.chat import Message
from graphwalk.types.episode import ExitStatus, Trajectory, Turn
from graphwalk.types.graph import PropertyGraph

_PRESETS = ("paper-100", "paper-150")
_EXPERT = "scripted/expert"


async def check_question(question: str, *, seed: int = 7, graphs: int = 3) -> None:
    """A question that ships, by its name, or one of your own, by its path, on generated graphs.

    Its tasks are made twice, are the same both times and survive JSON; both oracles agree on them (where there are
    two); the right answer counts as right and an empty one does not; the expert finds it, where one is there.
    """
    for preset in _PRESETS:
        for index in range(graphs):
            graph = generate_graph(GraphSpec(preset=preset), seed, index)
            made = await tasks_on(graph, seed=seed, questions=[question])
            assert made, f"{question}: no task on graph {index} of {preset}"
            assert made == await tasks_on(graph, seed=seed, questions=[question]), f"{question}: other tasks each time"
            for task in made:
                _check_task(task)
                await _check_expert(task, graph)


def _check_task(task: QuestionTask) -> None:
    again = QuestionTask.model_validate_json(task.model_dump_json())
    assert again == task, f"{task.template}: a task is another one after JSON: {task} → {again}"
    assert task.question.strip(), f"{task.template}: the wording is empty"
    assert task.gold_size == len(task.gold), f"{task.template}: gold_size is not the number of gold rows"
    for row in task.gold:
        assert tuple(row) == task.answer_fields, f"{task.template}: a gold row has the fields {', '.join(row)}"
    rows = task.gold if task.mode == "set" else task.gold[:1]
    assert _correct(task, json.dumps(rows)), f"{task.template}: its own gold counts as wrong: {rows}"
    assert not task.gold or not _correct(task, "[]"), f"{task.template}: an empty answer counts as right"


def _correct(task: QuestionTask, reply: str) -> bool:
    said = Trajectory((Message("user", task.question),), (Turn(Message("assistant", reply)),), ExitStatus.ANSWERED)
    return score_question(task, "no_tools", said, extract_rows(task, reply)).correct


async def _check_expert(task: QuestionTask, graph: PropertyGraph) -> None:
    if not can_play(QuestionsSuite(), _EXPERT, "tools", task):
        return
    experiment = resolve(
        load_experiment({"name": "check", "suite": {"name": "questions"}, "models": [_EXPERT]}), Environment()
    )
    result = await play_task(experiment, task, graph)
    assert result.score is not None, f"{task.template}: the expert failed: {result.trajectory.error}"
    assert result.score["correct"], f"{task.template}: the expert answers {result.answer}, right is {task.gold}"
    calls = len(result.trajectory.results)
    assert calls == task.par_calls, f"{task.template}: par_calls is {task.par_calls}, the expert needs {calls}"

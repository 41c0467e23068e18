"""Checks of models, questions and tools: each raises AssertionError with the problem."""

import json
import re
from collections.abc import Collection
from itertools import product
from pathlib import Path

from graphwalk.errors import ConfigError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.models import conformance
from graphwalk.models.base import Model
from graphwalk.models.conformance import Capability
from graphwalk.runs.background import run_in_background
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.play import play_task
from graphwalk.runs.resolve import can_play, resolve
from graphwalk.stores.cypher import Dialect, render_cypher
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS
from graphwalk.suites.questions.suite import QuestionsSuite
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.tasks.make_tasks import tasks_on
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import GRAPH_SWITCHES, SWITCHES, Tool, load_tool, load_tools
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import ExitStatus, Trajectory, Turn
from graphwalk.types.graph import Node, PropertyGraph
from graphwalk.variables import Variables


def check_model(model: Model, *, without: Collection[str] = (), seconds: float = 120.0) -> list[Capability]:
    """Check a model, and return its capabilities. Raise AssertionError if one failed.

    `without` names capabilities that may fail, as with a weak model. The checks make five short calls, each limited to
    `seconds`.
    """
    capabilities = run_in_background(conformance.check_model(model, seconds=seconds))
    failed = [one for one in capabilities if one.status == "failed" and one.name not in without]
    assert not failed, "\n".join(f"{one.name}: {one.detail}" for one in failed)
    return capabilities


_PRESETS = ("paper-100", "paper-150")
_EXPERT = "scripted/expert"


def check_question(question: str, *, seed: int = 7, graphs: int = 3) -> None:
    """Check a question kind, given by name or path, on generated graphs.

    Tasks are generated twice, identically, and survive JSON. Both oracles (if there are two) agree. The target is
    scored as correct and an empty answer as incorrect. The expert, if any, finds the target.
    """
    run_in_background(_check_question(question, seed, graphs))


async def _check_question(question: str, seed: int, graphs: int) -> None:
    for preset in _PRESETS:
        for index in range(graphs):
            graph = generate_graph(GraphSpec(preset=preset), seed, index)
            tasks = await tasks_on(graph, seed=seed, questions=[question])
            assert tasks, f"{question}: no task on graph {index} of {preset}"
            assert tasks == await tasks_on(graph, seed=seed, questions=[question]), f"{question}: other tasks each time"
            for task in tasks:
                _check_task(task)
                await _check_expert(task, graph)


def _check_task(task: QuestionTask) -> None:
    again = QuestionTask.model_validate_json(task.model_dump_json())
    assert again == task, f"{task.template}: a task is another one after JSON: {task} → {again}"
    assert task.question.strip(), f"{task.template}: the wording is empty"
    assert task.target_size == len(task.target), f"{task.template}: target_size is not the number of the target's rows"
    for row in task.target:
        assert tuple(row) == task.answer_fields, f"{task.template}: a row of the target has the fields {', '.join(row)}"
    rows = task.target if task.mode == "set" else task.target[:1]
    assert _correct(task, json.dumps(rows)), f"{task.template}: its own target counts as wrong: {rows}"
    assert not task.target or not _correct(task, "[]"), f"{task.template}: an empty answer counts as right"


def _correct(task: QuestionTask, reply: str) -> bool:
    trajectory = Trajectory(
        (Message("user", task.question),), (Turn(Message("assistant", reply)),), ExitStatus.ANSWERED
    )
    return bool(task.score(trajectory, task.read(reply)).correct)


async def _check_expert(task: QuestionTask, graph: PropertyGraph) -> None:
    if not can_play(QuestionsSuite(), _EXPERT, "tools", task):
        return
    config = load_experiment({"name": "check", "suite": {"name": "questions"}, "models": [_EXPERT]})
    experiment = resolve(config, Variables())
    result = await play_task(experiment, task, graph)
    assert result.score is not None, f"{task.template}: the expert failed: {result.trajectory.error}"
    assert result.score["correct"], f"{task.template}: the expert answers {result.answer}, right is {task.target}"
    calls, reference = len(result.trajectory.results), task.reference_calls
    assert calls == reference, f"{task.template}: reference_calls is {reference}, the expert needs {calls}"


_NODE = re.compile(r"(?<!\w)\(\w*(?::`[^`]+`)*\)")
_HEADINGS = ("When to use it:", "What comes back:")


def check_tool(tool: Tool | Path | str) -> None:
    """Check a tool, given by name or path.

    Its description states when to use it and what it returns. Its queries are read-only, quote every name and stay in
    their graph. A call like its example is refused only for its unknown names.
    """
    if not isinstance(tool, Tool):
        tool = load_tool(Path(tool)) if str(tool).endswith((".yaml", ".yml")) else load_tools([str(tool)])[0]
    for heading in _HEADINGS:
        assert heading in tool.description, f"{tool.name}: the description lacks {heading!r}"
    if tool.cypher is not None:
        _check_query(tool, tool.cypher)
    run_in_background(_check_example(tool))


def _check_query(tool: Tool, template: str) -> None:
    for entity_type, switch in product(("node", "relationship"), (True, False)):
        names = dict.fromkeys(tool.resolution, "x y") | dict.fromkeys(tool.with_role("entity_type"), entity_type)
        switches = dict.fromkeys((*SWITCHES, *GRAPH_SWITCHES), switch)
        try:
            cypher = render_cypher(template, {**names, **switches}, Dialect("gw_1"))
        except ConfigError as error:
            raise AssertionError(f"{tool.name}: {error}") from error
        assert cypher.count("x y") == cypher.count("`x y`"), f"{tool.name}: a name is not quoted:\n{cypher}"
        unscoped = [node for node in _NODE.findall(cypher) if "`gw_1`" not in node]
        assert not unscoped, f"{tool.name}: {unscoped[0]} matches nodes of other graphs:\n{cypher}"


async def _check_example(tool: Tool) -> None:
    """Call the tool on a graph without the example's names. The tools of mazes need their own toolbox."""
    if tool.example is None or tool.name in MAZE_TOOLS:
        return
    store = await EmbeddedDatabase().load(PropertyGraph.from_rows([Node("a", ("Zorep",), {})], []))
    toolbox = GraphToolbox(store, await store.schema(), [tool])
    result = await toolbox.call(ToolCall("1", tool.name, json.dumps(tool.example.arguments)))
    assert result.error in (None, "unknown_name"), f"{tool.name}: its own example is refused: {result.content}"

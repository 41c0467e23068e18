"""The reward pays for right answers that were looked up, and for nothing else."""

import json
from dataclasses import replace

import pytest

import graphwalk
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError
from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.training.reward import Reward


def graph_and_task(question: str) -> tuple[graphwalk.PropertyGraph, QuestionTask]:
    graph = graphwalk.generate_graph(nodes=30, seed=5)
    (task,) = graphwalk.make_tasks(graph, seed=5, questions=[question])
    assert isinstance(task, QuestionTask)
    return graph, task


def with_call(task: QuestionTask, trajectory: Trajectory, content: str, **arguments: str) -> float:
    """Return the reward of a trajectory before whose answer one more call was made."""
    call = ToolCall("x", "get_all_nearest_neighbors" if arguments else "list_colours", json.dumps(arguments))
    turn = Turn(Message("assistant", tool_calls=(call,)), results=(ToolResult(call, content, rows=1),))
    earned = graphwalk.reward(task, replace(trajectory, turns=(turn, *trajectory.turns)))
    assert earned is not None
    return earned.total


def test_a_useless_call_pays_nothing() -> None:
    graph = graphwalk.generate_graph(nodes=30, seed=5)
    schema = "(:A)-[:R]->(:B)"
    for task in graphwalk.make_tasks(graph, seed=5):
        assert isinstance(task, QuestionTask)
        answer = Turn(Message("assistant", json.dumps(task.target)))
        silent = Trajectory((Message("user", schema),), (answer,), ExitStatus.ANSWERED)
        earned = graphwalk.reward(task, silent)
        assert earned is not None
        assert (earned.evidence, earned.waste, earned.calls) == (0.0, 1.0, 1.0)
        row = {"center_key": "-", "type": "R", "neighbor_label": "A", "neighbor_properties": {"key": "--"}}
        shown = {
            "irrelevant": json.dumps([{**row, "direction": "outgoing"}]),
            "without direction": json.dumps([row]),
            "empty": "[]",
        }
        for name, content in shown.items():
            total = with_call(task, silent, content, label="A", property_name="key", property_value="-")
            assert total <= earned.total, (task.template, name)
        assert with_call(task, silent, '[{"colour": "red"}]') <= earned.total, task.template


def test_weights_leave_parts_out() -> None:
    graph, task = graph_and_task("node_by_property")
    expert = graphwalk.play(task, graph, model="scripted/expert").trajectory
    *earlier, last = expert.turns
    fenced = replace(last, message=Message("assistant", f"```json\n{last.message.content}\n```"))
    right = replace(expert, turns=(*earlier, fenced))
    whole = graphwalk.reward(task, right)
    assert whole is not None
    assert whole.format == 0.5
    assert whole.total < 1
    without = graphwalk.reward(task, right, weights={"format": 0})
    assert without == Reward(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5)
    with pytest.raises(ConfigError, match="elegance"):
        graphwalk.reward(task, right, weights={"elegance": 1})


def test_a_failure_of_the_provider_earns_nothing_and_costs_nothing() -> None:
    _, task = graph_and_task("node_by_property")
    failed = Trajectory((), (Turn(Message("assistant", "[]")),), ExitStatus.MODEL_ERROR, "it is down")
    assert graphwalk.reward(task, failed) is None


async def test_listing_all_keys_earns_no_step_reward() -> None:
    graph = graphwalk.generate_graph(preset="paper-100", seed=5)
    about = LoadedGraph(GraphInstance.of(graph), await EmbeddedDatabase().load(graph))
    labels = sorted({label for table in graph.node_tables for label in table.labels})
    names = [{"property_name": "key", "entity_name": label, "entity_type": "node"} for label in labels]
    calls = [ToolCall("x", "get_unique_property_values", json.dumps(arguments)) for arguments in names]
    for task in await graphwalk.amake_tasks(graph, seed=5, questions=list(shipped_kinds())):
        prompt = await task.prompt(about, "tools", AgentConfig())
        assert prompt.toolbox is not None
        results = [await prompt.toolbox.call(call) for call in calls]
        assert all(result.error is None for result in results)
        turns = tuple(Turn(Message("assistant", tool_calls=(one.call,)), results=(one,)) for one in results)
        values = graphwalk.potentials(task, Trajectory(prompt.messages, turns, ExitStatus.ANSWERED))
        assert graphwalk.step_rewards(values) == [0] * len(labels), task.template

"""The reward pays for right answers that were looked up, and for nothing else."""

import json
from dataclasses import replace

import pytest

import graphwalk
from graphwalk.errors import ConfigError
from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
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

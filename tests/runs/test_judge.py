"""Large replies: read and scored in a thread, up to a limit."""

import json

import graphwalk
from graphwalk.analysis.explained import explain_episode
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.models.chat import Message
from graphwalk.models.trajectory import ExitStatus, Trajectory, Turn
from graphwalk.runs.record import judge
from graphwalk.suites.extraction import MOST_CHARACTERS
from graphwalk.suites.suite import suite_named

GRAPH = graphwalk.generate_graph(nodes=20, seed=3)
TASK = graphwalk.make_tasks(GRAPH, seed=3, questions=["node_by_property"])[0]


def test_a_reply_that_is_too_long_is_no_answer() -> None:
    longest = " " * (MOST_CHARACTERS - len(json.dumps(TASK.target))) + json.dumps(TASK.target)
    for reply, stage in ((longest, "embedded"), (f"{longest} ", "too_long")):
        trajectory = Trajectory((), (Turn(Message("assistant", f"x{reply[1:]}")),), ExitStatus.ANSWERED)
        answer, score = judge(TASK, trajectory)
        assert score is not None
        assert (score["extraction_stage"], score["correct"]) == (stage, stage != "too_long")
    assert answer is None
    assert (
        explain_episode(analysis_of(suite_named("questions")), TASK, "tools", trajectory, answer, score)["error_class"]
        == "unreadable"
    )

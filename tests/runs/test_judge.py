"""Large replies: read and scored in a thread, up to a limit."""

import json
import threading

import pytest

import graphwalk
from graphwalk.analysis.explained import explain_episode
from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.evaluation.extraction import MOST_CHARACTERS
from graphwalk.runs.judge import judge
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.registry import suite_named
from graphwalk.types.chat import Message, Reply
from graphwalk.types.episode import ExitStatus, Trajectory, Turn

GRAPH = graphwalk.generate_graph(nodes=20, seed=3)
TASK = graphwalk.make_tasks(GRAPH, seed=3, questions=["node_by_property"])[0]


class Answering:
    def __init__(self, reply: str) -> None:
        self.reply = reply

    async def complete(self, *_: object) -> Reply:
        return Reply(Message("assistant", self.reply))


def test_a_reply_is_scored_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    loops, threads = list[int](), list[int]()
    read, prompt = QuestionTask.read, QuestionTask.prompt

    def read_in_thread(self, reply):  # type: ignore[no-untyped-def]
        threads.append(threading.get_ident())
        return read(self, reply)

    async def prompt_in_loop(self, *arguments):  # type: ignore[no-untyped-def]
        loops.append(threading.get_ident())
        return await prompt(self, *arguments)

    monkeypatch.setattr(QuestionTask, "read", read_in_thread)
    monkeypatch.setattr(QuestionTask, "prompt", prompt_in_loop)
    reply = " " * 200_000 + json.dumps(TASK.target)
    result = graphwalk.play(TASK, GRAPH, model=Answering(reply))
    assert result.score is not None
    assert result.score["correct"]
    assert not set(threads) & set(loops)


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

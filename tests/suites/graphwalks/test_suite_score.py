"""Replies are read by the published rule, and by ours."""

from types import SimpleNamespace

import pytest

from graphwalk.models.chat import Message
from graphwalk.models.trajectory import ExitStatus, Trajectory, Turn
from graphwalk.suites.graphwalks.suite import GraphwalksTask
from tests.explained import explained_score

Wrong = str | None

REPLIES: list[tuple[str, str, float, float, Wrong]] = [
    # target, reply, published F1, our F1, class of error
    ("a b", "Final Answer: [a, b]", 1, 1, None),
    ("a b", "Final Answer: [b,a]", 1, 1, None),
    ("a b", "So: Final Answer: [a, b].", 1, 1, None),
    ("a b", "Final Answer: [c]\nFinal Answer: [a, b]", 1, 1, None),
    ("a b", "<think>Final Answer: [c]</think>\nFinal Answer: [a, b]", 1, 1, None),
    ("", "Final Answer: []", 1, 1, None),
    ("a b", "Final Answer: [a]", 2 / 3, 2 / 3, "missing_nodes"),
    ("a b", "Final Answer: [a, b, c]", 0.8, 0.8, "extra_nodes"),
    ("a b", "Final Answer: [a, c]", 0.5, 0.5, "other_nodes"),
    ("", "Final Answer: [a]", 0, 0, "extra_nodes"),
    # Only ours: a word after the line, quotes, another case.
    ("a b", "Final Answer: [a, b]\nI hope that this helps.", 0, 1, None),
    ("a b", 'Final Answer: ["a", "b"]', 0, 1, None),
    # Neither.
    ("", "There is no such node.", 0, 0, "wrong_form"),
    ("a b", "", 0, 0, "no_answer"),
]


def task_with(target: str, published: list[str] | None = None) -> GraphwalksTask:
    return GraphwalksTask(
        task_id="t",
        suite="graphwalks",
        template="bfs",
        question="",
        parameters={"node": "x", "depth": 1},
        target=target.split(),
        target_size=len(target.split()),
        seed=0,
        graph_digest="",
        published_target=published,
    )


def score_of(task: GraphwalksTask, reply: str) -> SimpleNamespace:
    trajectory = Trajectory((), (Turn(Message("assistant", reply)),), ExitStatus.ANSWERED)
    return explained_score(task, "no_tools", trajectory, task.read(reply))


@pytest.mark.parametrize(("target", "reply", "published", "ours", "wrong"), REPLIES)
def test_replies_are_read_by_both_rules(target: str, reply: str, published: float, ours: float, wrong: Wrong) -> None:
    score = score_of(task_with(target), reply)
    assert (score.published_f1, score.f1) == pytest.approx((published, ours))
    assert (score.correct, score.error_class) == (wrong is None, wrong)


def test_both_targets_are_scored() -> None:
    reply = "Final Answer: [a]"
    score = score_of(task_with("a", ["a", "x"]), reply)
    assert (score.correct, score.f1) == (True, 1)
    assert score.published_f1 == pytest.approx(2 / 3)


def test_a_line_before_the_last_one_is_no_strict_answer() -> None:
    assert task_with("a").read("Final Answer: [a]").stage == "strict"
    assert task_with("a").read("Final Answer: [a]\nDone.").stage == "embedded"

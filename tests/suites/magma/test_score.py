"""The score of an episode from its replies: what is of the last reply, what is summed, and what tokens are counted."""

import pytest

from graphwalk.evaluation.extraction import Extraction
from graphwalk.suites.magma.score import score_episode
from graphwalk.suites.magma.task import MagmaScore, MagmaTask
from graphwalk.types.chat import Message, Usage
from graphwalk.types.episode import ExitStatus, Trajectory, Turn

STATES = [[0], [0, 1], [0, 1, 2]]


def task(step: int | None = None) -> MagmaTask:
    """Reachable nodes, in three steps; one of them, or all in a dialogue."""
    target = STATES if step is None else STATES[step - 1]
    return MagmaTask.model_validate(
        {
            **{"task_id": "t", "template": "bfs", "question": "?", "parameters": {}, "gold": target, "seed": 0},
            **{"gold_size": 1, "graph_digest": "d", "algorithm": "bfs", "n": 3, "trace_id": "trace", "step": step},
            **{"split": "test", "index": 0},
            **{"total_steps": 3, "category": "bfs", "suite": "magma"},
        }
    )


def trajectory_of(*turns: Turn | str) -> Trajectory:
    replies = tuple(Turn(Message("assistant", turn)) if isinstance(turn, str) else turn for turn in turns)
    return Trajectory((), replies, ExitStatus.ANSWERED)


def scored(
    trajectory: Trajectory, answer: list[int] | None, step: int | None = None, lossy: bool = False
) -> MagmaScore:
    return score_episode(task(step), "is", trajectory, Extraction(answer, "strict", lossy))


def nodes(*items: int | str) -> str:
    return f"Reachable Nodes: [{', '.join(map(str, items))}]"


def test_last_reply_is_scored_and_errors_are_summed() -> None:
    score = scored(trajectory_of(nodes(7), nodes(0, 8, "x"), nodes(0, 1, 9)), [0, 1, 9, 5], lossy=True)
    assert (score.correct, score.precision, score.recall, score.false_positives) == (False, 1 / 2, 2 / 3, 2)
    assert score.f1 == pytest.approx(4 / 7)
    assert (score.extraction_stage, score.lossy) == ("strict", True)
    assert (score.algorithm, score.n, score.trace_id, score.total_steps) == ("bfs", 3, "trace", 3)
    assert [(step.step, step.exact) for step in score.steps] == [(1, False), (2, False), (3, False)]
    assert (score.false_negatives, score.hallucinations, score.invalid_items, score.missing_prefix) == (3, 4, 1, 0)
    assert (score.first_divergence, score.recovered) == (1, False)


def test_the_last_reply_is_what_was_extracted_from_it_and_the_others_are_read_anew() -> None:
    score = scored(trajectory_of(nodes(0), "no idea", "it is all of them"), [0, 1, 2])
    assert [step.exact for step in score.steps] == [True, False, True]
    assert (score.missing_prefix, score.first_divergence, score.recovered, score.correct) == (1, 2, True, True)


def test_tokens_before_the_answer_are_reasoning() -> None:
    long = Turn(Message("assistant", "x" * 80 + " " + "Reachable Nodes: [0]"[:19]), Usage(output_tokens=200))
    assert scored(trajectory_of(long), [0], step=1).reasoning_tokens == round(200 * 81 / 100)
    silent = Turn(Message("assistant", "I do not know"), Usage(output_tokens=50, reasoning_tokens=20))
    uncounted = Turn(Message("assistant", "x" * 30 + nodes(0)))
    assert scored(trajectory_of(silent), None, step=1).reasoning_tokens == 30
    assert scored(trajectory_of(silent, uncounted), None, step=1).reasoning_tokens == 30
    assert scored(trajectory_of(long, silent), [0], step=1).reasoning_tokens == round(200 * 81 / 100) + 30
    assert scored(trajectory_of(uncounted), [0], step=1).reasoning_tokens is None
    less = Turn(Message("assistant", "no"), Usage(output_tokens=5, reasoning_tokens=9))
    assert (
        scored(trajectory_of(less), None, step=1).reasoning_tokens,
        scored(trajectory_of(less), None, 1).thinking_tokens,
    ) == (0, 9)
    nothing = Turn(Message("assistant"), Usage(output_tokens=0))
    assert scored(trajectory_of(nothing), None, step=1).reasoning_tokens == 0

"""Read and score the answer of an episode, just played or from a log."""

from dataclasses import replace
from typing import Any

from graphwalk.config.scoring import Scoring
from graphwalk.evaluation.extraction import MOST_CHARACTERS, TOO_LONG, Extraction
from graphwalk.suites.task import Task
from graphwalk.types.episode import Trajectory

_SHORT = 1_000
"""Characters of a reply that is too long which its score reads."""


def read_answer(task: Task, reply: str, scoring: Scoring) -> Extraction:
    """Return the answer in a reply; with strict extraction none unless the whole reply is the answer."""
    if len(reply) > MOST_CHARACTERS:
        return Extraction(stage=TOO_LONG)
    extraction = task.read(reply)
    return extraction if scoring.extraction == "lenient" or extraction.stage == "strict" else Extraction()


def judge(
    task: Task,
    trajectory: Trajectory,
    extractor_reply: str | None = None,
    scoring: Scoring = Scoring(),
) -> tuple[Any, dict[str, Any] | None]:
    """Return answer and score of a trajectory.

    The score is None for an infrastructure failure. `extractor_reply` is used if the parser finds no answer in the
    model's reply, or a lossy one, and finds one in the extractor's.
    """
    if trajectory.exit_status.infrastructure:
        return None, None
    extraction = read_answer(task, trajectory.reply, scoring)
    if extraction.stage == TOO_LONG:
        trajectory = with_short_reply(trajectory)
    if not extraction.sure and extractor_reply is not None:
        second = task.read(extractor_reply)
        extraction = extraction if second.answer is None else Extraction(second.answer, "model", second.lossy)
    score = task.score(trajectory, extraction, scoring)
    return extraction.answer, score.model_dump(mode="json")


def with_short_reply(trajectory: Trajectory) -> Trajectory:
    """Return a trajectory whose last turn has only the beginning of the reply, which is read for no answer."""
    *turns, last = trajectory.turns
    message = replace(last.message, content=(last.message.content or "")[:_SHORT])
    results = tuple(replace(one, content=one.content[:_SHORT]) if one.final else one for one in last.results)
    return replace(trajectory, turns=(*turns, replace(last, message=message, results=results)))

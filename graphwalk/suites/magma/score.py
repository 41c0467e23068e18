"""Read and score the states in a model's reply."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from graphwalk.evaluation.extraction import Extraction
from graphwalk.evaluation.rows import compare_sets
from graphwalk.suites.magma.answers import TRIPLES, answer_start, read_answer
from graphwalk.suites.magma.config import Algorithm
from graphwalk.types.episode import Score, Trajectory

if TYPE_CHECKING:
    from graphwalk.suites.magma.task import MagmaTask

ERRORS = ("missing_prefix", "false_negatives", "hallucinations", "invalid_items")


class StepScore(BaseModel):
    """The score of one reply against the state after `step`.

    `missing_prefix` is 0 or 1; without a prefix there is no answer, and nothing else is counted. `false_negatives`
    counts missing items, `hallucinations` items that are not in the state. `invalid_items` is 1 if any item has the
    wrong type or shape.
    """

    model_config = ConfigDict(frozen=True)

    step: int
    exact: bool = False
    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0
    missing_prefix: int = 0
    false_negatives: int = 0
    hallucinations: int = 0
    invalid_items: int = 0


class MagmaScore(Score):
    """The score of an episode. Fields of every suite are those of the last reply; `correct` is its exact match.

    Error counts are sums over the replies. `first_divergence` is the first step that is not exact. `recovered` is True
    if a later one is exact; None if none diverges or no step follows. `thinking_tokens` are reported by the provider;
    `reasoning_tokens` are output tokens before the answer, in proportion to characters (None if not counted).
    """

    algorithm: Algorithm
    n: int
    trace_id: str
    total_steps: int
    steps: tuple[StepScore, ...]
    missing_prefix: int
    false_negatives: int
    hallucinations: int
    invalid_items: int
    first_divergence: int | None
    recovered: bool | None
    thinking_tokens: int | None
    reasoning_tokens: int | None


def judge(algorithm: str, step: int, items: list[Any] | None, target: list[Any]) -> StepScore:
    """Score the items of a reply (None: no prefix). Both are sets: order and repetition do not count."""
    if items is None:
        return StepScore(step=step, missing_prefix=1)
    forms = [canonical(algorithm, item) for item in items]
    invalid, right = forms.count(None), {canonical(algorithm, item) for item in target}
    answered = {object() if form is None else form for form in forms}  # every invalid item is a wrong one
    compared = compare_sets(answered, right)
    return StepScore(
        step=step,
        exact=compared.correct,
        precision=compared.precision,
        recall=compared.recall,
        f1=compared.f1,
        false_negatives=len(right - answered),
        hallucinations=compared.false_positives - invalid,
        invalid_items=min(invalid, 1),
    )


def canonical(algorithm: str, item: Any) -> Hashable | None:
    """Return a form in which equal items are equal, or None for a wrong type or shape.

    An undirected edge, or the distance of a pair, is the same from both ends; Dijkstra's source comes first.
    """
    if algorithm == "bfs":
        return item if _is_node(item) else None
    if not isinstance(item, list):
        return None
    if algorithm not in TRIPLES:
        return frozenset(item) if item and all(map(_is_node, item)) else None
    if len(item) != 3 or not (_is_node(item[0]) and _is_node(item[1]) and type(item[2]) in (int, float)):
        return None
    i, j, number = item
    return (i, j, float(number)) if algorithm == "dijkstra" else (min(i, j), max(i, j), float(number))


def _is_node(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def score_episode(task: "MagmaTask", setting: str, trajectory: Trajectory, extraction: Extraction) -> MagmaScore:
    """Score all replies. The `extraction` of the last one may come from an extractor model."""
    steps = _judge_replies(task, setting, trajectory, extraction)
    last = steps[-1]
    diverged = next((score.step for score in steps if not score.exact), None)
    later = None if diverged in (None, last.step) else [score for score in steps if score.step > diverged]
    return MagmaScore(
        correct=last.exact,
        precision=last.precision,
        recall=last.recall,
        f1=last.f1,
        false_positives=last.hallucinations,
        extraction_stage=extraction.stage,
        lossy=extraction.lossy,
        algorithm=task.algorithm,
        n=task.n,
        trace_id=task.trace_id,
        total_steps=task.total_steps,
        steps=steps,
        **{error: sum(getattr(score, error) for score in steps) for error in ERRORS},
        first_divergence=diverged,
        recovered=None if later is None else any(score.exact for score in later),
        thinking_tokens=trajectory.usage.reasoning_tokens,
        reasoning_tokens=_reasoning_tokens(task, trajectory),
    )


def _judge_replies(
    task: "MagmaTask", setting: str, trajectory: Trajectory, extraction: Extraction
) -> tuple[StepScore, ...]:
    """Return a score per requested state. A state without a reply is not exact and has no error."""
    states = task.requested_states(setting)
    replies = [turn.message.content or "" for turn in trajectory.turns if not turn.message.tool_calls]
    if len(states) == 1:
        replies = [trajectory.reply]
    read = [read_answer(task.algorithm, reply).answer for reply in replies]
    if len(replies) == len(states):
        read[-1] = extraction.answer
    judged = [judge(task.algorithm, step, items, target) for (step, target), items in zip(states, read, strict=False)]
    return (*judged, *(StepScore(step=step) for step, _ in states[len(judged) :]))


def _reasoning_tokens(task: "MagmaTask", trajectory: Trajectory) -> int | None:
    """Return the output tokens of text before the answers; all of them if there is no answer."""
    counted = [turn for turn in trajectory.turns if turn.usage.output_tokens is not None]
    if not counted:
        return None
    tokens = 0.0
    for turn in counted:
        text, usage = turn.message.content or "", turn.usage
        written = (usage.output_tokens or 0) - (usage.reasoning_tokens or 0)
        start = answer_start(task.algorithm, text)
        tokens += written if start is None else written * start[0] / len(text)
    return max(round(tokens), 0)

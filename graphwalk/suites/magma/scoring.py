"""The score of an episode: every reply judged, errors summed, divergence and recovery, tokens of reasoning."""

from collections.abc import Sequence

from graphwalk.scoring.extraction import Extraction
from graphwalk.suites.magma.answers import answer_start, read_answer
from graphwalk.suites.magma.judgement import ERRORS, StepScore, judge
from graphwalk.suites.magma.task import MagmaScore, MagmaTask
from graphwalk.types.episode import Trajectory


def score_episode(task: MagmaTask, setting: str, trajectory: Trajectory, extraction: Extraction) -> MagmaScore:
    """Replies are read anew but the last, whose `extraction` may come from an extractor model."""
    steps = _judge_replies(task, setting, trajectory, extraction)
    last = steps[-1]
    diverged = next((score.step for score in steps if not score.exact), None)
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
        recovered=_recovered(steps, diverged),
        thinking_tokens=trajectory.usage.reasoning_tokens,
        reasoning_tokens=_reasoning_tokens(task, trajectory),
    )


def _judge_replies(
    task: MagmaTask, setting: str, trajectory: Trajectory, extraction: Extraction
) -> tuple[StepScore, ...]:
    """One score per state asked for. A dialogue that broke off has no reply to judge there: not exact, no error."""
    asked = task.asked(setting)
    replies = [turn.message.content or "" for turn in trajectory.turns if not turn.message.tool_calls]
    if len(asked) == 1:
        replies = [trajectory.reply]
    read = [read_answer(task.algorithm, reply).answer for reply in replies]
    if len(replies) == len(asked):
        read[-1] = extraction.answer
    judged = [judge(task.algorithm, step, items, gold) for (step, gold), items in zip(asked, read, strict=False)]
    return (*judged, *(StepScore(step=step) for step, _ in asked[len(judged) :]))


def _recovered(steps: Sequence[StepScore], diverged: int | None) -> bool | None:
    if diverged is None or diverged == steps[-1].step:
        return None
    return any(score.exact for score in steps if score.step > diverged)


def _reasoning_tokens(task: MagmaTask, trajectory: Trajectory) -> int | None:
    """Output tokens spent on text before the answers; all of them where there is no answer."""
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

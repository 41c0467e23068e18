"""What is measured in MAGMA: traces and steps, in place of episodes, of which a trace has one or one per step.

A trace's record carries the scores of its final state, of the states before it and of all of them, each the mean over
its steps, so that means over traces weigh traces alike. A step's record carries the score of one reply.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphwalk.report.declared import ResultRecord
from graphwalk.suites.magma.prompts import STEPWISE
from graphwalk.types.episode import ExitStatus

TRACE, STEP = "trace", "step"

_KEPT = ("model", "setting", "repeat", "exit_status", "score", "turns", "tool_calls", "usage", "seconds")
_KEPT_OF_TASK = ("trace_id", "algorithm", "n", "total_steps", "graph_digest", "template")


def case(algorithm: str, n: int) -> str:
    """Algorithm and size as one group; sizes are padded, so that groups sort."""
    return f"{algorithm} {n:>3}"


def trace_records(results: Iterable[ResultRecord]) -> Iterator[ResultRecord]:
    """One record per trace and one per scored step; of an episode that was run again the last result counts.

    `score["level"]` is "trace" or "step". A trace of which some episodes failed is measured by the others; it keeps
    the status of the failure.
    """
    traces: dict[tuple[str, str, int, str], dict[int | None, ResultRecord]] = {}
    for result in results:
        task = result["task"]
        key = (result["model"], result["setting"], result["repeat"], task["trace_id"])
        traces.setdefault(key, {})[task["step"]] = _slim(result)
    for episodes in traces.values():
        yield from _records(list(episodes.values()))


def _slim(result: ResultRecord) -> ResultRecord:
    """Without most of the trajectory, which is too large to keep."""
    task = {name: result["task"][name] for name in _KEPT_OF_TASK}
    trajectory = {"error": result.get("trajectory", {}).get("error")}
    return {**{name: result[name] for name in _KEPT}, "task": task, "trajectory": trajectory}


def _records(episodes: Sequence[ResultRecord]) -> Iterator[ResultRecord]:
    first, scores = episodes[0], [episode["score"] for episode in episodes if episode["score"]]
    steps = sorted((step for score in scores for step in score["steps"]), key=lambda step: step["step"])
    total, trace_id = first["task"]["total_steps"], first["task"]["trace_id"]
    failed = next((e for e in episodes if ExitStatus(e["exit_status"]).infrastructure), first)
    seconds = [episode["seconds"] for episode in episodes if episode["seconds"] is not None]
    yield {
        **first,
        "task_id": trace_id,
        "exit_status": failed["exit_status"],
        "trajectory": failed["trajectory"],
        "score": _trace_score(steps, total, scores, first["setting"] in STEPWISE) if scores else None,
        "turns": sum(episode["turns"] for episode in episodes),
        "tool_calls": sum(episode["tool_calls"] for episode in episodes),
        "usage": _sums([episode["usage"] for episode in episodes]),
        "seconds": sum(seconds) if seconds else None,
    }
    for step in steps:
        yield {**first, "task_id": f"{trace_id}-{step['step']}", "score": {**step, "level": STEP}}


def _trace_score(
    steps: Sequence[Mapping[str, Any]], total: int, scores: Sequence[Mapping[str, Any]], stepwise: bool
) -> dict[str, Any]:
    """Exact match in percent. Where only the final state is asked for, nothing is known about the others."""
    final = next((step for step in steps if step["step"] == total), {})
    earlier = [step for step in steps if step["step"] < total]
    every = steps if stepwise else ()
    return {
        "level": TRACE,
        "correct": final.get("exact"),
        **{name: final.get(name) for name in ("precision", "recall", "f1")},
        "false_positives": sum(step["hallucinations"] for step in steps),
        "intermediate_exact": _mean(earlier, "exact", 100),
        "intermediate_f1": _mean(earlier, "f1"),
        "trajectory_exact": _mean(every, "exact", 100),
        "trajectory_f1": _mean(every, "f1"),
        "first_divergence": next((step["step"] for step in every if not step["exact"]), None),
        "recovered": scores[0]["recovered"],
        **_sums([{name: score[name] for name in ("thinking_tokens", "reasoning_tokens")} for score in scores]),
    }


def _mean(steps: Sequence[Mapping[str, Any]], name: str, scale: float = 1) -> float | None:
    return scale * sum(step[name] for step in steps) / len(steps) if steps else None


def _sums(counts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sums of what is known, by name."""
    sums: dict[str, Any] = {}
    for count in counts:
        for name, value in count.items():
            if value is not None:
                sums[name] = sums.get(name, 0) + value
    return sums

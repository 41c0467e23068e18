"""What is measured in MAGMA: traces and steps, in place of episodes, of which a trace has one or one per step.

A trace's record carries the scores of its final state, of the states before it and of all of them, each the mean over
its steps, so that means over traces weigh traces alike. A step's record carries the score of one reply.

Records of the same edges are one cluster: within an algorithm that is the trace, and traces of several algorithms
share graphs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from graphwalk.report.common import tool_seconds
from graphwalk.report.declared import ResultRecord
from graphwalk.suites.magma.prompts import STEPWISE
from graphwalk.types.episode import ExitStatus

TRACE, STEP = "trace", "step"
CELLS = ("both_right", "earlier_only_right", "final_only_right", "none_right")
"""Traces by their states: all earlier ones right and the final one too, and so on, as in `Fourfold`."""

_KEPT = ("model", "setting", "repeat", "exit_status", "score", "turns", "tool_calls", "usage", "seconds")
_KEPT_OF_TASK = ("trace_id", "algorithm", "n", "step", "total_steps", "template")
_EDGES = re.compile(r"^Edges: (\[.*\])$", re.MULTILINE)
_EDGE = re.compile(r"\((\d+, \d+)")
_PARTS = 5


def case(algorithm: str, n: int) -> str:
    """Algorithm and size as one group; sizes are padded, so that groups sort."""
    return f"{algorithm} {n:>3}"


def part(step: int, total: int) -> int:
    """The fifth of a trace that a step belongs to, as the percentage at its end; traces of all sizes have the last."""
    return ceil(_PARTS * step / total) * 100 // _PARTS


def trace_records(results: Iterable[ResultRecord]) -> Iterator[ResultRecord]:
    """One record per trace and one per scored step; of an episode that was run again the last result counts.

    `score["level"]` is "trace" or "step". A trace of which some episodes failed is measured by the others; it keeps
    the status of the failure.
    """
    traces: dict[tuple[str, str, int, str], dict[int | None, ResultRecord]] = {}
    graphs: dict[str, str] = {}
    stepwise = set(STEPWISE)
    for result in results:
        task = result["task"]
        if task["trace_id"] not in graphs:
            graphs[task["trace_id"]] = _graph(task)
        if task["step"] not in (None, task["total_steps"]):
            stepwise.add(result["setting"])
        key = (result["model"], result["setting"], result["repeat"], task["trace_id"])
        traces.setdefault(key, {})[task["step"]] = _slim(result, graphs[task["trace_id"]])
    for (_, setting, _, _), episodes in traces.items():
        yield from _records(list(episodes.values()), setting in stepwise)


def _graph(task: Mapping[str, Any]) -> str:
    """The edges without weights; the trace itself where a prompt of the user's own lists them in another way."""
    listed = _EDGES.search(task["question"])
    return f"{task['n']}: {';'.join(_EDGE.findall(listed[1]))}" if listed else task["graph_digest"]


def _slim(result: ResultRecord, graph: str) -> ResultRecord:
    """Without most of the trajectory, which is too large to keep."""
    task = {**{name: result["task"][name] for name in _KEPT_OF_TASK}, "graph_digest": graph}
    trajectory = {"error": result.get("trajectory", {}).get("error")}
    kept = {**{name: result[name] for name in _KEPT}, "tool_seconds": tool_seconds(result)}
    return {**kept, "task": task, "trajectory": trajectory}


def _records(episodes: Sequence[ResultRecord], stepwise: bool) -> Iterator[ResultRecord]:
    """`stepwise`: the setting asks for every state."""
    first, scores = episodes[0], [episode["score"] for episode in episodes if episode["score"]]
    steps = sorted((step for score in scores for step in score["steps"]), key=lambda step: step["step"])
    total, trace_id = first["task"]["total_steps"], first["task"]["trace_id"]
    failed = next((e for e in episodes if ExitStatus(e["exit_status"]).infrastructure), first)
    yield {
        **first,
        "task_id": trace_id,
        "exit_status": failed["exit_status"],
        "trajectory": failed["trajectory"],
        "score": _trace_score(steps, total, scores, stepwise) | _relation(steps, first) if scores else None,
        "turns": sum(episode["turns"] for episode in episodes),
        "tool_calls": sum(episode["tool_calls"] for episode in episodes),
        "usage": _sums([episode["usage"] for episode in episodes]),
        **{name: _sum(episodes, name) for name in ("seconds", "tool_seconds")},
    }
    for step in steps:
        yield {**first, "task_id": f"{trace_id}-{step['step']}", "score": {**step, "level": STEP}}


def _sum(episodes: Sequence[ResultRecord], name: str) -> float | None:
    known = [episode[name] for episode in episodes if episode[name] is not None]
    return sum(known) if known else None


def _trace_score(
    steps: Sequence[Mapping[str, Any]], total: int, scores: Sequence[Mapping[str, Any]], stepwise: bool
) -> dict[str, Any]:
    """Exact match as a share. Where only the final state is asked for, nothing is known about the others."""
    final = next((step for step in steps if step["step"] == total), {})
    earlier = [step for step in steps if step["step"] < total]
    every = steps if stepwise else ()
    return {
        "level": TRACE,
        "correct": final.get("exact"),
        **{name: final.get(name) for name in ("precision", "recall", "f1")},
        "false_positives": sum(step["hallucinations"] for step in steps),
        "intermediate_exact": _mean(earlier, "exact"),
        "intermediate_f1": _mean(earlier, "f1"),
        "trajectory_exact": _mean(every, "exact"),
        "trajectory_f1": _mean(every, "f1"),
        **_divergence(every, total),
        "recovered": scores[0]["recovered"],
        **_sums([{name: score[name] for name in ("thinking_tokens", "reasoning_tokens")} for score in scores]),
    }


def _divergence(steps: Sequence[Mapping[str, Any]], total: int) -> dict[str, Any]:
    """The first state that is wrong, also as a share of the trace; whether there is one is known if all are."""
    first = next((step["step"] for step in steps if not step["exact"]), None)
    return {
        "first_divergence": first,
        "divergence_at": first and first / total,
        "diverged": first is not None if len(steps) == total else None,
    }


def _relation(steps: Sequence[Mapping[str, Any]], first: ResultRecord) -> dict[str, Any]:
    """The final state by whether all earlier ones are right. The counts take the first repeat: others are no new trace.

    Nothing where there is no earlier state, or one that is not known.
    """
    total = first["task"]["total_steps"]
    if len(steps) < total or total == 1:
        return {}
    *before, last = (step["exact"] for step in steps)
    earlier, final = all(before), last
    shares = {"final_if_earlier_right" if earlier else "final_if_earlier_wrong": final}
    if first["repeat"]:
        return shares
    found = (earlier and final, earlier and not final, final and not earlier, not earlier and not final)
    return shares | dict(zip(CELLS, found, strict=True))


def _mean(steps: Sequence[Mapping[str, Any]], name: str) -> float | None:
    return sum(step[name] for step in steps) / len(steps) if steps else None


def _sums(counts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sums of what is known, by name."""
    sums: dict[str, Any] = {}
    for count in counts:
        for name, value in count.items():
            if value is not None:
                sums[name] = sums.get(name, 0) + value
    return sums

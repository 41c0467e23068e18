"""Results of MAGMA per trace, and its tables by size."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphwalk.analysis.baselines import baseline_result
from graphwalk.reports.report import Report
from graphwalk.reports.suite_report import Cluster, ReportRow, ResultRecord
from graphwalk.reports.text_table import Column, TextTable, one_decimal, table_of
from graphwalk.suites.magma.answers import read_answer
from graphwalk.suites.magma.generate import ALGORITHMS
from graphwalk.suites.magma.prompts import STEPWISE, read_problem
from graphwalk.suites.magma.score import ERRORS, judge
from graphwalk.types.episode import ExitStatus, setting_of

TRACE, STEP = "trace", "step"
_KEPT = ("model", "setting", "repeat", "exit_status", "score", "turns", "tool_calls", "usage", "seconds")
_KEPT_OF_TASK = ("trace_id", "algorithm", "n", "step", "total_steps", "template")


def case(algorithm: str, n: int) -> str:
    """Return the group of algorithm and size, padded so that groups sort by size."""
    return f"{algorithm} {n:>3}"


def cluster_of(task_id: str, task: Mapping[str, Any]) -> Cluster:
    """Return the edges, which traces of several algorithms may share, and the trace."""
    instance = read_problem(task["question"], task["n"]) if "question" in task else None
    # A custom prompt may list the edges in another form, then the digest identifies the graph; so it does in a record.
    return Cluster(f"{instance.n}: {instance.edges}" if instance else task["graph_digest"], task["trace_id"])


def trace_records(results: Iterable[ResultRecord]) -> Iterator[ResultRecord]:
    """Yield one record per trace and one per scored step; the last result of a repeated episode counts.

    `score["level"]` is "trace" or "step". A trace with failed episodes is scored by the others, and keeps the status
    of the failure.
    """
    traces: dict[tuple[str, str, int, str], dict[int, ResultRecord]] = {}
    graphs: dict[str, str] = {}
    repeated: dict[str, dict[int, dict[str, Any]]] = {}
    stepwise = set(STEPWISE)
    for result in results:
        task = result["task"]
        if task["trace_id"] not in graphs:
            graphs[task["trace_id"]] = cluster_of(result["task_id"], task).graph
        if task["step"] != task["total_steps"]:
            stepwise.add(result["setting"])
        scores = repeated.setdefault(task["trace_id"], {})
        if setting_of(result["setting"]) in STEPWISE and task["step"] not in scores:
            scores |= _repeat_previous_state(result)
        key = (result["model"], result["setting"], result["repeat"], task["trace_id"])
        traces.setdefault(key, {})[task["step"]] = _slim(result, graphs[task["trace_id"]])
    for (_, setting, _, trace), episodes in traces.items():
        yield from _records(list(episodes.values()), setting in stepwise, repeated[trace])


def _repeat_previous_state(result: ResultRecord) -> dict[int, dict[str, Any]]:
    """Return the step of a result with the score of the last state in its prompt; empty for the first step."""
    task, prompt = result["task"], result.get("trajectory", {}).get("prompt", ())
    states = [message["content"] for message in prompt if message["role"] == "assistant"]
    if not states:
        return {}
    algorithm, step = task["algorithm"], task["step"]
    score = judge(algorithm, read_answer(algorithm, states[-1]), task["gold"]).model_dump()
    return {step: _step_score(step, score)}


def repeat_baseline(record: ResultRecord) -> Iterator[ResultRecord]:
    """Yield the baseline that repeats the previous state of the prompt, for a trace or a step that has one."""
    if record["repeated"]:
        yield baseline_result(record, "repeat the previous state", record["repeated"])


def _slim(result: ResultRecord, graph: str) -> ResultRecord:
    """Return the result without most of its trajectory, which is too large to keep."""
    task = {**{name: result["task"][name] for name in _KEPT_OF_TASK}, "graph_digest": graph}
    trajectory = {"error": result.get("trajectory", {}).get("error")}
    return {**{name: result[name] for name in _KEPT}, "task": task, "trajectory": trajectory}


def _records(
    episodes: Sequence[ResultRecord], stepwise: bool, repeated: Mapping[int, Mapping[str, Any]]
) -> Iterator[ResultRecord]:
    """Yield the record of a trace and those of its steps; `stepwise` means that every state is requested.

    `repeated` has the score of the previous state by step.
    """
    first, total = episodes[0], episodes[0]["task"]["total_steps"]
    scored = {episode["task"]["step"]: episode["score"] for episode in episodes if episode["score"]}
    steps = {step: _step_score(step, scored[step]) for step in sorted(scored)}
    repeats = {step: repeated[step] for step in sorted(repeated)}
    failed = next((e for e in episodes if ExitStatus(e["exit_status"]).infrastructure), first)
    yield {
        **first,
        "task_id": first["task"]["trace_id"],
        "exit_status": failed["exit_status"],
        "trajectory": failed["trajectory"],
        "score": _trace_score(steps, total, stepwise) if steps else None,
        "repeated": repeats and _trace_score(repeats, total, stepwise=True),
        "turns": sum(episode["turns"] for episode in episodes),
        "tool_calls": sum(episode["tool_calls"] for episode in episodes),
        "usage": _sums([episode["usage"] for episode in episodes]),
        "seconds": _sums([{"seconds": episode["seconds"]} for episode in episodes]).get("seconds"),
    }
    for step, score in steps.items():
        yield {
            **first,
            "task_id": f"{first['task']['trace_id']}-{step}",
            "score": score,
            "repeated": repeated.get(step) and {**repeated[step], "correct": None},
        }


def _step_score(step: int, score: Mapping[str, Any]) -> dict[str, Any]:
    """Return the score of one state; its field `exact` keeps it apart from traces, which have `correct`."""
    names = ("precision", "recall", "f1", *ERRORS)
    return {"level": STEP, "step": step, "exact": score["correct"], **{name: score[name] for name in names}}


def _trace_score(steps: Mapping[int, Mapping[str, Any]], total: int, stepwise: bool) -> dict[str, Any]:
    """Return the scores of a trace of `total` steps; without `stepwise` only the final state is known."""
    final = steps.get(total, {})
    earlier = [score for step, score in steps.items() if step < total]
    every = [*steps.values()] if stepwise else []
    return {
        "level": TRACE,
        "correct": final.get("exact"),
        **{name: final.get(name) for name in ("precision", "recall", "f1")},
        "false_positives": sum(score["hallucinations"] for score in steps.values()),
        "intermediate_exact": _mean(earlier, "exact"),
        "intermediate_f1": _mean(earlier, "f1"),
        "trajectory_exact": _mean(every, "exact"),
        "trajectory_f1": _mean(every, "f1"),
    }


def _mean(steps: Sequence[Mapping[str, Any]], name: str) -> float | None:
    return sum(step[name] for step in steps) / len(steps) if steps else None


def _sums(counts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return sums by name, without None."""
    sums = Counter[str]()
    for count in counts:
        sums.update({name: value for name, value in count.items() if value is not None})
    return dict(sums)


_METRICS = {"accuracy": "final", "intermediate_exact": "earlier", "trajectory_exact": "all"}
"""Measure → label, in the order of the lines."""


def size_tables(report: Report) -> Iterator[TextTable]:
    """Yield one table per algorithm in the paper's layout, with its figures for the sizes of this run."""
    ours, reference = report.groups.get("case", []), report.published
    cases = {row["case"] for row in ours}
    published = [row for row in reference.groups.get("case", ()) if row["case"] in cases]
    algorithms = [one for one in ALGORITHMS if any(row["case"].split()[0] == one for row in ours)]
    with_paper = [one for one in algorithms if any(row["case"].split()[0] == one for row in published)]
    for algorithm in algorithms:
        lines = sorted(_size_lines(algorithm, ours, published, reference.mark), key=lambda line: line["order"])
        note = reference.explanation if algorithm in with_paper else ""
        if with_paper[-1:] == [algorithm]:
            note = " ".join([note, *reference.notes])
        columns = [Column(name, name, name=True) for name in ("setting", "model", "states")]
        for size in sorted({int(name) for line in lines for name in line if name.isdecimal()}):
            columns.append(Column(str(size), str(size), one_decimal, one_decimal))
        yield table_of(f"{algorithm}: exact match in % by number of nodes", columns, lines, note)


def _size_lines(
    algorithm: str, ours: Sequence[ReportRow], published: Sequence[ReportRow], mark: str
) -> Iterable[ReportRow]:
    lines: dict[tuple[str, ...], ReportRow] = {}
    for row, paper in [*((row, False) for row in ours), *((row, True) for row in published)]:
        of, size = row["case"].split()
        for order, (metric, states) in enumerate(_METRICS.items()):
            if of == algorithm and row.get(metric) is not None:
                model = f"{row['model']}{mark[:-1]}, {row['note']})" if paper else row["model"]
                names = {"setting": row["setting"], "model": model, "states": states}
                line = lines.setdefault(tuple(names.values()), {**names, "intervals": {}, "no_interval": {}})
                line |= {size: row[metric], "published": paper, "order": (row["setting"], order, paper)}
                for kind in ("intervals", "no_interval"):
                    if metric in row.get(kind, ()):
                        line[kind][size] = row[kind][metric]
    return lines.values()

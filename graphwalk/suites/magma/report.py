"""MAGMA: results per trace, the report beside the paper's figures, and scenes (docs/method.md, MAGMA)."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from graphwalk.analysis.report import columns
from graphwalk.analysis.report.columns import with_task_word
from graphwalk.analysis.report.measures import EFFORT, OUTCOME, record_field, score_field
from graphwalk.analysis.report.plots import Plot, by_group
from graphwalk.analysis.report.suite_report import (
    ACCURACY,
    SIZE,
    Grouping,
    Measure,
    Reader,
    Reference,
    SuiteReport,
    baseline_result,
)
from graphwalk.analysis.report.text_table import Column, integer, one_decimal, two_decimals
from graphwalk.analysis.scene import (
    Fate,
    Scene,
    SceneLink,
    SceneNode,
    SceneStep,
    StateTable,
    marked_items,
    scene_of,
    trajectory_of,
)
from graphwalk.analysis.suite_analysis import SuiteAnalysis
from graphwalk.config.resources import data_path
from graphwalk.models.trajectory import ExitStatus
from graphwalk.runs.record import ResultRecord
from graphwalk.suites.extraction import Extraction
from graphwalk.suites.magma.algorithms import ALGORITHMS
from graphwalk.suites.magma.answers import ERRORS, canonical, score_states
from graphwalk.suites.magma.prompts import STEPWISE, read_prompt
from graphwalk.suites.magma.suite import MagmaTask
from graphwalk.suites.setting import Setting

if TYPE_CHECKING:
    from graphwalk.analysis.report.report import Report

_EXACT = {
    "accuracy": ("final-average", "Final state exact, over all sizes", "final states exact, in %"),
    "intermediate_exact": ("earlier-average", "Earlier states exact, over all sizes", "earlier states exact, in %"),
    "trajectory_exact": ("states-average", "All states exact, over all sizes", "states exact, in %"),
}
_RECORD_FIELDS = ("model", "setting", "repeat", "exit_status", "score", "turns", "tool_calls", "usage", "seconds")
_TASK_FIELDS = ("trace_id", "algorithm", "n", "step", "total_steps", "template")
Scores = Mapping[int, Mapping[str, Any]]
"""Step → score of its state."""

_TASK_WORD = "trace"
_SCORED = replace(columns.SCORED, legend="traces with a score")
_ACCURACY = replace(columns.ACCURACY, format=one_decimal, legend="share of exact final states")
_INTERMEDIATE_EXACT = Column(
    "Earlier\nstates %",
    "intermediate_exact",
    one_decimal,
    one_decimal,
    legend="share of exact states before the final one",
)
_TRAJECTORY_EXACT = Column("Trajectory %", "trajectory_exact", one_decimal, one_decimal, legend="share of exact states")
_F1 = replace(columns.F1, legend="mean F1 of the items of final states")
_INTERMEDIATE_F1 = Column(
    "F1 earlier\nstates", "intermediate_f1", two_decimals, two_decimals, legend="mean F1 of the items of earlier states"
)
_TRAJECTORY_F1 = Column(
    "F1\ntrajectory", "trajectory_f1", two_decimals, two_decimals, legend="mean F1 of the items of all states"
)
_REPLIES = Column("Replies", "replies", integer, legend="replies to prompts")
_MISSING_PREFIX_PER_REPLY = Column(
    "Missing\nprefixes", "missing_prefix_per_reply", two_decimals, legend="mean per reply"
)
_FALSE_NEGATIVES_PER_REPLY = Column(
    "Missing\nitems", "false_negatives_per_reply", two_decimals, legend="mean per reply"
)
_HALLUCINATIONS_PER_REPLY = Column(
    "Hallucinated\nitems", "hallucinations_per_reply", two_decimals, legend="mean per reply"
)
_INVALID_ITEMS_PER_REPLY = Column("Invalid\nitems", "invalid_items_per_reply", two_decimals, legend="mean per reply")
_RESULTS = (
    _ACCURACY,
    _TRAJECTORY_EXACT,
    _INTERMEDIATE_EXACT,
    _SCORED,
    columns.TASKS,
    _REPLIES,
    columns.CONTEXT_OVERFLOWS,
    columns.INFRASTRUCTURE_FAILURES,
    _TRAJECTORY_F1,
    _F1,
    _INTERMEDIATE_F1,
    columns.GRAPHS,
    columns.SECONDS_PER_QUESTION,
    columns.TOKENS,
    columns.COST,
    columns.REASONING_TOKENS,
)
_GROUPS = (
    _ACCURACY,
    _TRAJECTORY_EXACT,
    _INTERMEDIATE_EXACT,
    _SCORED,
    columns.TASKS,
    _TRAJECTORY_F1,
    _F1,
    _INTERMEDIATE_F1,
    columns.GRAPHS,
    _MISSING_PREFIX_PER_REPLY,
    _FALSE_NEGATIVES_PER_REPLY,
    _HALLUCINATIONS_PER_REPLY,
    _INVALID_ITEMS_PER_REPLY,
)
_NOTES = (
    "The io strategies ask for the last state only; with io_steps: true, for each state in a separate prompt.",
    "io: input–output, the final state alone; io_reasoning: input–output with reasoning in words; is: intermediate"
    " steps; ish: intermediate steps with hints; is_own: intermediate steps after the model's own states, of which the"
    " last is scored.",
    "All traces on one graph are one cluster.",
    "repeat the previous state: over the states after the first one, with the correct state before each.",
)
_LEGEND = {"right": "correct answer", "wrong": "wrong answer", "missed": "missing from the answer"}
"""Fate → the meaning of its colour in the picture of a state."""
_COLUMNS = {"bfs": ("node",), "dfs": ("component",), "mst_prim": ("from", "to", "weight")}
"""Algorithm → columns of a table of the items of its states."""
_PAPER = "Taylor et al., arXiv 2410.22597, exact match by graph size"
_NOTES_ON_THE_PAPER = (
    "The paper prints no table of final states. Its rows that share their label with another are left out.",
    "Mistral and Llama are fine-tuned there for one algorithm, size and strategy at a time; GPT-4o is zero-shot.",
    "Its graphs have an edge probability of 0.25 in effect, and part of its labels is wrong.",
    "In the published code the chats of IO hold the correct earlier states too; here the io strategies see none.",
)


def _cost_unknown(record: ResultRecord) -> float | None:
    return None if "state" in record else float(record["usage"].get("cost") is None)


def _average(name: str) -> Reader:
    """Return a reader of an average over the states of a trace, or of all traces under the protocol `paper`."""
    return record_field("averages", name)


def _error_measures() -> Iterator[Measure]:
    """Yield how often each error was made, and how often per reply."""
    for error in ERRORS:
        yield Measure(error, "count", score_field(error))
    for error in ERRORS:
        name = f"{error}_per_reply"
        yield Measure(name, "amount", _average(name))


def _effort_measures() -> Iterator[Measure]:
    """Yield the measures of effort as those of other suites, but whether the cost of a trace is unknown."""
    for measure in EFFORT:
        yield replace(measure, value=_cost_unknown) if measure.name == "cost_unknown" else measure


_MEASURES = (
    *OUTCOME,
    Measure("intermediate_exact", "percent", _average("intermediate_exact")),
    Measure("trajectory_exact", "percent", _average("trajectory_exact")),
    Measure("precision", "share", score_field("precision")),
    Measure("recall", "share", score_field("recall")),
    Measure("f1", "share", score_field("f1")),
    Measure("intermediate_f1", "share", _average("intermediate_f1")),
    Measure("trajectory_f1", "share", _average("trajectory_f1")),
    Measure("false_positives", "count", score_field("false_positives")),
    Measure("later_exact", "percent", _average("later_exact")),
    Measure("replies", "count", score_field("replies")),
    *_error_measures(),
    *_effort_measures(),
)


class MagmaAnalysis(SuiteAnalysis[MagmaTask]):
    """The explanations of MAGMA."""

    def report(self) -> SuiteReport:
        return SuiteReport(
            suite=self.suite.name,
            task_word=_TASK_WORD,
            measures=_MEASURES,
            columns=with_task_word(_TASK_WORD, _RESULTS),
            group_columns=with_task_word(_TASK_WORD, _GROUPS),
            one_row_per_group=False,  # the tables by group have more than accuracy
            compared=(ACCURACY, "trajectory_exact", "f1"),
            notes=_NOTES,
            groupings=(
                Grouping("algorithm", "algorithm", lambda record: record["task"]["algorithm"], ALGORITHMS),
                Grouping(SIZE, "graph size", lambda record: record["task"]["n"]),
                Grouping("case", "algorithm and size", lambda r: case(r["task"]["algorithm"], r["task"]["n"])),
            ),
            baselines=repeat_baseline,
            references={"magma-paper": paper_figures},
            records=trace_records,
            cluster=cluster_of,
            plots=plots,
        )

    def scene(self, task: MagmaTask, record: ResultRecord) -> Scene:
        """Return the graph with the model's state marked."""
        trajectory = trajectory_of(record)
        instance = read_prompt(task.question, task.n)
        marked = list(marked_items(record["answer"] or (), task.target, partial(canonical, task.algorithm)))
        fates: dict[int, Fate] = {}
        if "source" in task.parameters:
            fates[int(task.parameters["source"])] = "asked"
        on_links: dict[tuple[int, ...], Fate] = {}
        for fate, item in reversed(marked):
            ends = _nodes(task.algorithm, item)
            if task.algorithm != "floyd_warshall":
                fates |= dict.fromkeys(ends[1:] if task.algorithm == "dijkstra" else ends, fate)
            if task.algorithm == "mst_prim":
                on_links[ends] = fate
        links = list[SceneLink]()
        if instance is not None:  # a custom prompt may list the edges in another form
            for i, j, weight in instance.weighted_edges:
                label = f"{weight:g}" if instance.weights else ""
                links.append(SceneLink(i, j, label, fate=on_links.get((i, j), ""), directed=False))
        caption = (
            f"state after step {task.step} of {task.total_steps}" if task.step else "state 0, before the first step"
        )
        return scene_of(
            record,
            trajectory,
            _table(task.algorithm, marked),
            steps=(SceneStep(caption, len(trajectory.turns)),),
            nodes=tuple(SceneNode(str(node), fate=fates.get(node, "")) for node in range(task.n)),
            links=tuple(links),
            layout="circle",
            legend=_LEGEND,
        )


def case(algorithm: str, n: int) -> str:
    """Return the group of algorithm and size, padded so that groups sort by size."""
    return f"{algorithm} {n:>3}"


def cluster_of(task_id: str, task: Mapping[str, Any]) -> tuple[str, str]:
    """Return the edges, which traces of several algorithms may share, and the trace."""
    graph = task["graph_digest"]
    if "question" in task:
        instance = read_prompt(task["question"], task["n"])
        if instance is not None:  # None: a custom prompt lists the edges in another form
            graph = f"{instance.n}: {instance.edges}"
    return graph, task["trace_id"]


def trace_records(results: Iterable[ResultRecord], protocol: str = "graphwalk") -> Iterator[ResultRecord]:
    """Yield one record per trace; the last result of a repeated episode counts.

    A trace with failed episodes is scored by the others, and keeps the status of the failure. `averages` is the score
    with the averages over states. `copied` and `copied_averages` are those of the baseline that repeats the previous
    state. Under the protocol `paper` the averages are in further records, one per state: all states weigh the same.
    """
    traces = _Traces()
    for result in results:
        traces.add(result)
    for (_, setting, _, trace), episodes in traces.episodes.items():
        is_stepwise = setting in traces.stepwise
        targets = traces.targets[trace]
        copies: dict[int, dict[str, Any]] = {}
        if trace in traces.with_states:
            any_episode = next(iter(episodes.values()))
            copies = _scores_of_copies(any_episode, targets)
        copied = _trace_score(copies, episodes, stepwise=True, first=min(targets))
        record = _record(episodes, is_stepwise, copied)
        if protocol != "paper":
            yield {**record, "averages": record["score"], "copied_averages": copied}
            continue

        yield {**record, "averages": None, "copied_averages": None}
        for step, episode in episodes.items():
            own: dict[int, Any] = {}
            if episode["score"]:
                own[step] = episode["score"]
            copy: dict[int, Any] = {}
            if step in copies:
                copy[step] = copies[step]
            yield {
                **record,
                "task_id": f"{trace} {step}",
                "state": step,
                "score": None,
                "copied": None,
                "averages": _trace_score(own, episodes, is_stepwise),
                "copied_averages": _trace_score(copy, episodes, stepwise=True, first=min(targets)),
                # The record of the trace has its effort and its failures.
                "exit_status": "answered",
                "trajectory": {},
                "usage": {},
            }


class _Traces:
    """The results of a run, trace by trace."""

    def __init__(self) -> None:
        self.episodes: dict[tuple[str, str, int, str], dict[int, ResultRecord]] = {}
        """Model, setting, repeat and trace → step → result, without most of its trajectory."""
        self.targets: dict[str, dict[int, list[Any]]] = {}
        """Trace → step → right state."""
        self.stepwise = set(STEPWISE)
        """Settings in which every state is asked for; of others, `io_steps` does so."""
        self.with_states: set[str] = set()
        """Traces of which a prompt has shown the state before, which could be repeated."""
        self._graphs: dict[str, str] = {}

    def add(self, result: ResultRecord) -> None:
        task = result["task"]
        trace = task["trace_id"]
        step = task["step"]
        setting = result["setting"]
        if trace not in self._graphs:
            self._graphs[trace], _ = cluster_of(result["task_id"], task)
        if step != task["total_steps"]:
            self.stepwise.add(setting)
        if Setting.parse(setting).name in STEPWISE:
            self.with_states.add(trace)
        self.targets.setdefault(trace, {})[step] = task["gold"]

        # Most of the trajectory is left out: it is too large to keep.
        short_record = {name: result[name] for name in _RECORD_FIELDS}
        short_record["task"] = {name: task[name] for name in _TASK_FIELDS}
        short_record["task"]["graph_digest"] = self._graphs[trace]
        short_record["trajectory"] = {"error": result.get("trajectory", {}).get("error")}
        contestant_and_trace = (result["model"], setting, result["repeat"], trace)
        self.episodes.setdefault(contestant_and_trace, {})[step] = short_record


def _scores_of_copies(result: ResultRecord, targets: Mapping[int, list[Any]]) -> dict[int, dict[str, Any]]:
    """Return step → score of the state before it as answer."""
    algorithm = result["task"]["algorithm"]
    scores = {}
    for step, target in targets.items():
        if step - 1 in targets:
            copy = Extraction(targets[step - 1], "strict")
            scores[step] = score_states(algorithm, copy, target).model_dump()
    return scores


def repeat_baseline(record: ResultRecord) -> Iterator[ResultRecord]:
    """Yield the baseline that repeats the previous state of the prompt, for a trace that has one."""
    if record["copied"] or record["copied_averages"]:
        baseline = baseline_result(record, "repeat the previous state", record["copied"])
        yield {**baseline, "averages": record["copied_averages"]}


def _record(episodes: Mapping[int, ResultRecord], stepwise: bool, copied: Mapping[str, Any] | None) -> ResultRecord:
    """Return the record of a trace; `stepwise` means that every state is requested."""
    every = list(episodes.values())
    first = every[0]
    scores = {step: episode["score"] for step, episode in episodes.items() if episode["score"]}
    usage = Counter[str]()
    for episode in every:
        for name, value in episode["usage"].items():
            if value is not None:
                usage[name] += value
    seconds = [episode["seconds"] for episode in every if episode["seconds"] is not None]
    failed = max(every, key=_severity)
    return {
        **first,
        "task_id": first["task"]["trace_id"],
        "exit_status": failed["exit_status"],
        "trajectory": failed["trajectory"],
        "score": _trace_score(scores, episodes, stepwise),
        "copied": copied,
        "turns": sum(episode["turns"] for episode in every),
        "tool_calls": sum(episode["tool_calls"] for episode in every),
        "usage": dict(usage),
        "seconds": sum(seconds) if seconds else None,
    }


def _severity(episode: ResultRecord) -> tuple[bool, bool]:
    """Return the order of statuses: that of a trace is a failure, else an overflow, else that of its first state."""
    status = ExitStatus(episode["exit_status"])
    return status.infrastructure, status == ExitStatus.CONTEXT_OVERFLOW


def _trace_score(
    scores: Scores, episodes: Mapping[int, ResultRecord], stepwise: bool, *, first: int | None = None
) -> dict[str, Any] | None:
    """Return the scores of a trace, None without one; without `stepwise` only the final state is known.

    `first` is the first state of the trace, by default that of its episodes.
    """
    if not scores:
        return None
    total_steps = next(iter(episodes.values()))["task"]["total_steps"]
    if first is None:
        first = min(episodes)
    final = scores.get(total_steps, {})
    every = list(scores.values())
    requested = every if stepwise else []
    earlier = [score for step, score in scores.items() if step < total_steps]
    later = [score for step, score in scores.items() if step > first]
    trace_score = {
        "correct": final.get("correct"),
        "precision": final.get("precision"),
        "recall": final.get("recall"),
        "f1": final.get("f1"),
        "false_positives": sum(score["hallucinations"] for score in every),
        "intermediate_exact": _mean(earlier, "correct"),
        "intermediate_f1": _mean(earlier, "f1"),
        "trajectory_exact": _mean(requested, "correct"),
        "trajectory_f1": _mean(requested, "f1"),
        "later_exact": _mean(later, "correct"),
        "replies": len(every),
    }
    for error in ERRORS:
        trace_score[error] = sum(score[error] for score in every)
        trace_score[f"{error}_per_reply"] = _mean(every, error)
    return trace_score


def _mean(scores: Sequence[Mapping[str, Any]], name: str) -> float | None:
    return sum(score[name] for score in scores) / len(scores) if scores else None


def plots(report: "Report") -> Iterator[Plot]:
    """Yield the shares of exact states by algorithm (the paper's Figures 6 to 8)."""
    for measure, (name, title, y) in _EXACT.items():
        yield replace(by_group(report, "algorithm", title, measure), name=name, y=y)


def paper_figures() -> Reference:
    """Return the MAGMA paper's figures by algorithm and size."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    with (data_path("templates") / "reports" / "magma-paper.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            # {"metric": "trajectory_exact", "algorithm": "bfs", "setting": "is", "model": "GPT-4o", "n5": "26.07", …}
            for name, figure in line.items():
                if name.startswith("n"):
                    group = {"model": line["model"], "setting": line["setting"]}
                    group["case"] = case(line["algorithm"], int(name[1:]))
                    row = rows.setdefault(tuple(group.values()), group)
                    row[line["metric"]] = float(figure)
    return Reference(_PAPER, _NOTES_ON_THE_PAPER, groups={"case": tuple(rows.values())})


def _nodes(algorithm: str, item: Any) -> tuple[int, ...]:
    """Return the nodes of an item; none for an invalid one."""
    form: Any = canonical(algorithm, item)
    if form is None:
        return ()
    if algorithm == "bfs":  # a node
        return (form,)
    if algorithm == "dfs":  # the nodes of a component
        return tuple(form)
    # two nodes, with a weight or a distance
    source, target, *_ = form
    return source, target


def _table(algorithm: str, marked: Sequence[tuple[Fate, Any]]) -> StateTable:
    names = _COLUMNS.get(algorithm, ("from", "to", "distance"))
    rows: list[tuple[Any, ...]] = []
    for fate, item in marked:
        if isinstance(item, list) and len(item) == len(names) > 1:
            rows.append((fate, *item))
        else:
            rows.append((fate, item))
    return StateTable(names, tuple(rows))

"""GraphWalks: causes of wrong answers, scenes and report (docs/method.md, GraphWalks)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

from graphwalk.analysis.observed import observed_graph
from graphwalk.analysis.report import columns
from graphwalk.analysis.report.columns import with_task_word
from graphwalk.analysis.report.suite_report import SIZE, Grouping, SuiteReport, expert_result, short_answer
from graphwalk.analysis.report.text_table import Column, integer, two_decimals
from graphwalk.analysis.scene import Fate, Scene, trajectory_of, walked_scene
from graphwalk.analysis.suite_analysis import Explanation, SuiteAnalysis, proven_by
from graphwalk.errors import counted
from graphwalk.models.trajectory import ToolResult, Trajectory
from graphwalk.runs.record import ResultRecord
from graphwalk.suites.extraction import visible_text
from graphwalk.suites.graphwalks.suite import EXPERT, GraphwalksTask

ErrorClass = Literal["no_answer", "wrong_form", "missing_nodes", "extra_nodes", "other_nodes"]
_TASK_WORD = "problem"
_PUBLISHED_F1 = Column(
    "Published\nF1",
    "published_f1",
    two_decimals,
    two_decimals,
    legend="mean F1 by the published rule: last line alone, target of the file",
)
_WRONG_FORM = Column(
    "No final\nline", "wrong_form", integer, legend="replies with text, but without the line Final Answer: […]"
)
_RESULTS = (
    columns.CORRECT,
    columns.SCORED,
    columns.ACCURACY,
    columns.PROVEN_ACCURACY,
    columns.CONTEXT_OVERFLOWS,
    columns.F1,
    _PUBLISHED_F1,
    columns.PRECISION,
    columns.RECALL,
    columns.CALLS_PER_QUESTION,
    columns.TOKENS_PER_QUESTION,
    columns.FURTHEST,
    columns.TASKS,
    columns.INFRASTRUCTURE_FAILURES,
    _WRONG_FORM,
    columns.TOKENS,
    columns.COST,
    columns.SECONDS_PER_QUESTION,
    columns.GRAPHS,
)
_GROUPS = (
    columns.CORRECT,
    columns.SCORED,
    columns.ACCURACY,
    columns.PROVEN_ACCURACY,
    _PUBLISHED_F1,
    columns.CALLS_PER_QUESTION,
    columns.TOKENS_PER_QUESTION,
    columns.F1,
    columns.FURTHEST,
    columns.TASKS,
    columns.INFRASTRUCTURE_FAILURES,
    columns.GRAPHS,
)
_LONGEST_SHORT_PROMPT = 320_000
"""Characters of the longest prompt of 0–128k tokens; the next longer one has more than 256k tokens."""


class GraphwalksExplanation(Explanation):
    """`error_class`: "wrong_form" is a text without the line, "other_nodes" has missing and extra nodes."""

    error_class: ErrorClass | None = None


class GraphwalksAnalysis(SuiteAnalysis[GraphwalksTask]):
    """The explanations of GraphWalks."""

    explanation_type = GraphwalksExplanation
    expert = EXPERT

    def report(self) -> SuiteReport:
        size = Grouping(SIZE, "graph size", lambda result: result.get("graph", {}).get("nodes"))
        return replace(
            super().report(),
            task_word=_TASK_WORD,
            columns=with_task_word(_TASK_WORD, _RESULTS),
            group_columns=with_task_word(_TASK_WORD, _GROUPS),
            groupings=(Grouping("problem", "operation and size of the prompt", _problem), size),
            right_answers=right_answers,
            baselines=partial(expert_result, score=dict.fromkeys(("correct", "precision", "recall", "f1"), 1)),
        )

    def explain(
        self, task: GraphwalksTask, setting: str, trajectory: Trajectory, answer: Any, score: dict[str, Any]
    ) -> GraphwalksExplanation:
        unproven = ""
        if score["correct"]:
            missing = _search(task, trajectory.results_read).missing
            if missing:
                unproven = f"not all relationships of {counted(len(missing), 'node')} were looked up: {missing[0]}"
        return GraphwalksExplanation(
            proven=proven_by(setting, score, unproven),
            unproven=unproven if setting == "tools" else "",
            error_class=_why_wrong(task, trajectory, answer, score),
        )

    def potential(self, task: GraphwalksTask, trajectory: Trajectory) -> float:
        """Return the share of the nodes of the search whose neighbours are known.

        It is the mean over the levels of the search; a level counts as far as those before it are known.
        """
        return _search(task, trajectory.results).share

    def scene(self, task: GraphwalksTask, record: ResultRecord) -> Scene:
        target = set(task.target)
        answer = set(record["answer"] or ())
        fates: dict[str, Fate] = dict.fromkeys(target - answer, "missed")
        for key in answer:
            fates[key] = "right" if key in target else "wrong"
        return walked_scene(record, trajectory_of(record), {str(task.parameters["node"])}, fates)


def _why_wrong(task: GraphwalksTask, trajectory: Trajectory, answer: Any, score: dict[str, Any]) -> ErrorClass | None:
    if answer is None:
        return "wrong_form" if visible_text(trajectory.reply) else "no_answer"
    if score["correct"]:
        return None
    nodes = set(answer)
    target = set(task.target)
    if nodes > target:
        return "extra_nodes"
    if nodes < target:
        return "missing_nodes"
    return "other_nodes"


def right_answers(result: ResultRecord) -> list[str]:
    """Return the target of a problem as one text: "[]" for a node without parents."""
    return [short_answer(str(sorted(result["task"]["gold"])))]


class _Search(NamedTuple):
    """The part of the search of a problem that results show."""

    share: float
    """Of its nodes whose neighbours are known, as the mean over the levels."""
    missing: list[str]
    """Nodes whose neighbours are not known, sorted."""


def _search(task: GraphwalksTask, results: Sequence[ToolResult]) -> _Search:
    """Search in what results show, level by level. Both problems follow relationships in one direction."""
    is_forward = task.template == "bfs"
    observed = observed_graph(results)
    complete = observed.complete_nodes("outgoing" if is_forward else "incoming")
    followers: dict[str, set[str]] = {}
    for link in observed.relationships:
        if is_forward:
            followers.setdefault(link.source, set()).add(link.target)
        else:
            followers.setdefault(link.target, set()).add(link.source)

    level = {str(task.parameters["node"])}
    depth = int(task.parameters["depth"])
    earlier: set[str] = set()
    missing: set[str] = set()
    share = 1.0
    total = 0.0
    for _ in range(depth):
        if level:
            share *= len(level & complete) / len(level)
        total += share / depth
        missing |= level - complete
        earlier |= level
        next_level: set[str] = set()
        for key in level & complete:
            next_level |= followers.get(key, set())
        level = next_level - earlier
    return _Search(total, sorted(missing))


def _problem(result: ResultRecord) -> str:
    """Return the problem with the published band of its prompt: "bfs 0–128k"."""
    task = result["task"]
    band = "0–128k" if task["prompt_chars"] <= _LONGEST_SHORT_PROMPT else "256k–1M"
    return f"{task['template']} {band}"

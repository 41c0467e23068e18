"""GraphWalks: causes of wrong answers, scenes and report (docs/method.md, GraphWalks)."""

from functools import partial
from typing import Any, Literal

from graphwalk.analysis.report.suite_report import SIZE, Grouping, SuiteReport, expert_result, short_answer
from graphwalk.analysis.scene import Fate, Scene, trajectory_of, walked_scene
from graphwalk.analysis.suite_analysis import Explanation, SuiteAnalysis
from graphwalk.models.trajectory import Trajectory
from graphwalk.runs.record import ResultRecord
from graphwalk.suites.extraction import visible_text
from graphwalk.suites.graphwalks.suite import EXPERT, GraphwalksTask
from graphwalk.tools.observed import observed_graph

ErrorClass = Literal["no_answer", "wrong_form", "missing_nodes", "extra_nodes", "other_nodes"]
_SHORT, _BANDS = 320_000, ("0–128k", "256k–1M")
"""Characters of the longest prompt of 0–128k tokens, and the published bands; no prompt has 128k to 256k tokens."""


class GraphwalksExplanation(Explanation):
    """`error_class`: "wrong_form" is a text without the line, "other_nodes" has missing and extra nodes."""

    error_class: ErrorClass | None = None


class Analysis(SuiteAnalysis[GraphwalksTask]):
    """The explanations of GraphWalks."""

    explanation_type = GraphwalksExplanation
    expert = EXPERT

    def report(self) -> SuiteReport:
        size = Grouping(SIZE, "graph size", lambda result: result.get("graph", {}).get("nodes"))
        return self.declared(
            groupings=(Grouping("problem", "operation and size of the prompt", _problem), size),
            right_answers=right_answers,
            baselines=partial(expert_result, score=dict.fromkeys(("correct", "precision", "recall", "f1"), 1)),
        )

    def explain(
        self, task: GraphwalksTask, setting: str, trajectory: Trajectory, answer: Any, score: dict[str, Any]
    ) -> GraphwalksExplanation:
        error: ErrorClass | None = None
        if answer is None:
            error = "wrong_form" if visible_text(trajectory.reply) else "no_answer"
        elif not score["correct"]:
            nodes, target = {*answer}, {*task.target}
            error = "extra_nodes" if nodes > target else "missing_nodes" if nodes < target else "other_nodes"
        proven = None if setting == "no_tools" else bool(score["correct"] and self.potential(task, trajectory) == 1)
        return GraphwalksExplanation(proven=proven, error_class=error)

    def potential(self, task: GraphwalksTask, trajectory: Trajectory) -> float:
        """Return the share of the nodes of the search whose neighbours are known.

        It is the mean over the levels of the search; a level counts as far as those before it are known.
        """
        observed = observed_graph(trajectory.results)
        complete = observed.complete_nodes()
        ends = [(link.source, link.target) for link in observed.relationships]
        ends = ends if task.template == "bfs" else [(target, source) for source, target in ends]
        level, earlier, share, depth = {str(task.parameters["node"])}, set[str](), 1.0, int(task.parameters["depth"])
        total = 0.0
        for _ in range(depth):
            share *= len(level & complete) / len(level) if level else 1.0
            total += share / depth
            earlier |= level
            level = {target for source, target in ends if source in level & complete} - earlier
        return total

    def scene(self, task: GraphwalksTask, record: ResultRecord) -> Scene:
        target, answer = {*task.target}, {*(record["answer"] or ())}
        fates: dict[str, Fate] = dict.fromkeys(target - answer, "missed")
        fates |= {key: "right" if key in target else "wrong" for key in answer}
        return walked_scene(record, trajectory_of(record), {str(task.parameters["node"])}, fates)


def right_answers(result: ResultRecord) -> list[str]:
    """Return the target of a problem as one text: "[]" for a node without parents."""
    return [short_answer(str(sorted(result["task"]["gold"])))]


def _problem(result: ResultRecord) -> str:
    return f"{result['task']['template']} {_BANDS[result['task']['prompt_chars'] > _SHORT]}"

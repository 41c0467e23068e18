"""Your own questions: evidence, scenes and report."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from graphwalk.analysis.answer_evidence import answer_scene
from graphwalk.analysis.evidence import found_values, tool_evidence
from graphwalk.analysis.observed import VALUES
from graphwalk.analysis.report import columns
from graphwalk.analysis.report.suite_report import Grouping, SuiteReport
from graphwalk.analysis.report.text_table import Column, one_decimal
from graphwalk.analysis.scene import Scene, trajectory_of
from graphwalk.analysis.suite_analysis import Explanation, SuiteAnalysis, proven_by
from graphwalk.graphs.values import Row
from graphwalk.models.trajectory import Trajectory
from graphwalk.runs.record import ResultRecord
from graphwalk.suites.own_questions.proof import unproven_because
from graphwalk.suites.own_questions.suite import OwnQuestionTask

_ABSTAINED = Column(
    "Abstained %",
    "abstained",
    one_decimal,
    legend="share of answerable questions of which the reply says that the graph does not tell",
)
_INVENTED = Column("Invented %", "invented", one_decimal, legend="share of unanswerable questions that were answered")
_RESULTS = (
    columns.CORRECT,
    columns.SCORED,
    columns.ACCURACY,
    columns.PROVEN_ACCURACY,
    columns.CONTEXT_OVERFLOWS,
    columns.F1,
    columns.CALLS_PER_QUESTION,
    columns.TOKENS_PER_QUESTION,
    _ABSTAINED,
    _INVENTED,
    columns.INFRASTRUCTURE_FAILURES,
    columns.COST,
)
_GROUPS = (
    columns.CORRECT,
    columns.SCORED,
    columns.ACCURACY,
    columns.PROVEN_ACCURACY,
    columns.PRECISION,
    columns.RECALL,
    columns.F1,
    _ABSTAINED,
    _INVENTED,
    columns.FURTHEST,
    columns.CALLS_PER_QUESTION,
    columns.TOKENS_PER_QUESTION,
)
_MOST_ROWS = 10_000
"""Rows of an answer whose texts are looked up in results."""


class OwnQuestionsAnalysis(SuiteAnalysis[OwnQuestionTask]):
    """The explanations of your own questions. `grounded` is the share of an answer's texts in results."""

    def report(self) -> SuiteReport:
        return replace(
            super().report(),
            columns=_RESULTS,
            group_columns=_GROUPS,
            groupings=(Grouping("tag", "tag", lambda result: tuple(result["task"]["tags"])),),
        )

    def scene(self, task: OwnQuestionTask, record: ResultRecord) -> Scene:
        return answer_scene(record, trajectory_of(record))

    def explain(
        self, task: OwnQuestionTask, setting: str, trajectory: Trajectory, answer: Any, score: dict[str, Any]
    ) -> Explanation:
        if task.cypher is None or setting != "tools":
            proven, unproven = None, None
        else:
            unproven = unproven_because(task, trajectory) if score["correct"] else None
            proven = proven_by(setting, score, unproven)
        grounded = self._grounded(task, setting, trajectory, answer)
        return Explanation(grounded=grounded, proven=proven, unproven=unproven or "")

    def _grounded(self, task: OwnQuestionTask, setting: str, trajectory: Trajectory, answer: Any) -> float | None:
        """Return the share of the texts of an answer that are in results; None without tools or texts."""
        if setting == "no_tools" or not _texts(task.target, task.fields):
            return None
        texts = _texts((answer or [])[:_MOST_ROWS], task.fields)
        if not texts:
            return None
        evidence = tool_evidence(trajectory)
        return sum(evidence.holds(text) for text in texts) / len(texts)

    def potential(self, task: OwnQuestionTask, trajectory: Trajectory) -> float | None:
        """Return the share of the target's rows whose texts are in results of calls that do not name them.

        A list of more values than the target has rows does not count: it tells none of them apart. None if the
        target has no rows, or values other than texts, which a query may compute.
        """
        rows = task.target
        has_only_texts = len(_texts(rows, task.fields)) == len(rows) * len(task.fields)
        if not rows or not has_only_texts:
            return None

        results = []
        for result in trajectory.results:
            is_long_list = result.call.name == VALUES and (result.rows or 0) > len(rows)
            if not is_long_list:
                results.append(result)
        is_shown = found_values(results)
        shown_rows = 0
        for row in rows:
            # {"value": "h1"} is shown by "h1", and by "Bergen" if no other node has this name
            if all(is_shown(row[field], *task.names.get(row[field], ())) for field in task.fields):
                shown_rows += 1
        return shown_rows / len(rows)


def _texts(rows: Iterable[Row], fields: Iterable[str]) -> list[str]:
    """Return the values of rows that are texts."""
    texts = []
    for row in rows:
        for field in fields:
            value = row.get(field)
            if isinstance(value, str):
                texts.append(value)
    return texts

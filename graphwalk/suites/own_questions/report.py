"""Your own questions: evidence, scenes and report."""

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
        seen = tool_evidence(trajectory)
        rows = (answer or [])[:_MOST_ROWS]
        texts = [row[field] for row in rows for field in task.fields if isinstance(row.get(field), str)]
        if setting == "no_tools" or not any(
            isinstance(row[field], str) for row in task.target for field in task.fields
        ):
            return None
        return sum(map(seen.holds, texts)) / len(texts) if texts else None

    def potential(self, task: OwnQuestionTask, trajectory: Trajectory) -> float | None:
        """Return the share of the target's rows whose texts are in results of calls that do not name them.

        A list of more values than the target has rows does not count: it tells none of them apart. None if the
        target has no rows, or values other than texts, which a query may compute.
        """
        texts = [[row[field] for field in task.fields] for row in task.target]
        if not texts or not all(isinstance(text, str) for row in texts for text in row):
            return None
        most = len(texts)
        is_shown = found_values(one for one in trajectory.results if one.call.name != VALUES or (one.rows or 0) <= most)
        return sum(all(is_shown(text, *task.names.get(text, ())) for text in row) for row in texts) / len(texts)

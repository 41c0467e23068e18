"""Free questions: evidence, scenes and report."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from graphwalk.analysis.suite_analysis import Explanation, SuiteAnalysis
from graphwalk.analysis.suites.ask_evidence import evidence_keys, named_in
from graphwalk.analysis.walked import walked_scene
from graphwalk.reports.measures import declared_report, layout
from graphwalk.reports.scene import Scene, StateTable, trajectory_of
from graphwalk.reports.suite_report import PLAYER, Grouping, ResultRecord, SuiteReport
from graphwalk.reports.text_table import Column, TextTable, plain, table_of
from graphwalk.sanitise import one_line
from graphwalk.suites.ask.task import AskTask, cited_keys
from graphwalk.tools.observed import observed_graph
from graphwalk.tools.observed_values import tool_evidence
from graphwalk.types.episode import Trajectory

if TYPE_CHECKING:
    from graphwalk.reports.report import Report

A = TypeVar("A", bound=AskTask)


class AskScenes(SuiteAnalysis[A]):
    """The scenes of questions about your own graph."""

    def scene(self, task: A, record: ResultRecord) -> Scene:
        """Return the scene of an episode, with the evidence of the answer marked."""
        trajectory, question, answer = trajectory_of(record), record["task"]["question"], record["answer"]
        seen = observed_graph(trajectory.results)
        keys = evidence_keys(question, None if answer is None else plain(answer), seen)
        asked_about = set(named_in(question, seen)).intersection(keys)
        evidence = [key for key in keys if key not in asked_about]
        table = None if record["task"].get("gold") is not None else StateTable(("answer",), (("", answer),))
        scene = walked_scene(record, trajectory, asked_about, dict.fromkeys(evidence, "right"), table)
        return replace(scene, legend={**scene.legend, "right": "supports the answer"})


class Analysis(AskScenes[AskTask]):
    """The explanations of free questions. `grounded` is the share of cited keys in results; None if there are none."""

    def report(self) -> SuiteReport:
        return declared_report(
            self.suite.name,
            {},
            {"answers": lambda result: float((result["score"] or {}).get("answered", False))},
            groupings=(Grouping("question", "question", _question_and_answer, shown=False),),
            tables=_questions,
        )

    def explain(
        self, task: AskTask, setting: str, trajectory: Trajectory, answer: Any, score: dict[str, Any]
    ) -> Explanation:
        cited, unseen = cited_keys(answer or ""), unseen_keys(trajectory, answer)
        return Explanation(grounded=round(1 - len(unseen) / len(cited), 6) if cited else None)


def _question_and_answer(result: ResultRecord) -> str:
    """Return question and answer with a number, which keeps the questions in order."""
    answer = result["answer"] or f"({str(result['exit_status']).replace('_', ' ')})"
    return f"{result['task']['number']:>3}. {result['task']['question']} → {' '.join(answer.split())}"


def _questions(report: "Report") -> Iterator[TextTable]:
    """Yield a table of all questions with their answers."""
    rows = report.groups.get("question", [])
    names = [Column("Question and answer", "question", lambda text: one_line(text.strip()), name=True)]
    if len({row["model"] for row in rows}) > 1:
        names.append(PLAYER[0])
    if rows:
        yield table_of("Questions", (*names, *layout("ask")["questions"]), rows)


def unseen_keys(trajectory: Trajectory, answer: str | None) -> tuple[str, ...]:
    """Return the cited keys that no tool result contains."""
    shown = tool_evidence(trajectory)
    return tuple(key for key in cited_keys(answer or "") if not shown.holds(key))

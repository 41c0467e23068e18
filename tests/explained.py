"""Scores joined with their explanations, as reports read them."""

from types import SimpleNamespace

from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.config.agent import Scoring
from graphwalk.models.trajectory import Trajectory
from graphwalk.suites.extraction import Extraction
from graphwalk.suites.suite import Task, suite_named


def explained_score(
    task: Task, setting: str, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()
) -> SimpleNamespace:
    """Return the fields of the score of an answer and of its explanation."""
    score = task.score(trajectory, extraction, scoring).model_dump()
    explanation = analysis_of(suite_named(task.suite)).explain(task, setting, trajectory, extraction.answer, score)
    return SimpleNamespace(**score, **explanation.model_dump())

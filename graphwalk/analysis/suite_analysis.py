"""Explanations of the episodes of a suite: evidence, causes, potentials, scenes, and the layout of its report.

To add one, derive a class from `SuiteAnalysis` and return it in `Suite.analysis_type`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Generic

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from graphwalk.analysis.answer_evidence import answer_scene
from graphwalk.analysis.report.columns import PLAIN_COLUMNS
from graphwalk.analysis.report.measures import EFFORT, OUTCOME, QUALITY, TARGET_SIZE, cause_measures, own_measures
from graphwalk.analysis.report.suite_report import ACCURACY, PROVEN, Grouping, SuiteReport
from graphwalk.analysis.report.text_table import Column, integer, two_decimals
from graphwalk.analysis.scene import Scene, scene_of, trajectory_of
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.models.trajectory import Trajectory
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.record import ResultRecord
from graphwalk.sanitise import quote
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.reference import ReferenceWalk, expert_walk
from graphwalk.suites.suite import Score, ScriptedAgent, Suite, T, refuse_fields

_GROUP_COLUMNS = 8
"""The first columns of a table, which the breakdowns of it have too."""


class Explanation(BaseModel):
    """Fields that explain a score, joined to it where someone reads the run. Suites extend it.

    `grounded` is the share of the answer that the tool results support, None if that is unknown or meaningless (no
    tools, no rows). `proven`: the answer is right, and it is the same in every graph that gives these tool results;
    False for a wrong one; None if it is unknown, or meaningless for any answer.
    """

    model_config = ConfigDict(frozen=True)

    grounded: float | None = None
    proven: bool | None = None
    unproven: str = ""
    """Why a right answer is not proven: what was not looked up."""
    missing: str = ""
    """The reason for which there is no explanation: "evidence missing: the task cannot be read"."""

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        """Raise ConfigError for a subclass with a field that has the name of one of the score."""
        super().__pydantic_init_subclass__(**arguments)
        refuse_fields(cls, Score.model_fields)


def proven_by(setting: str, score: Mapping[str, Any], unproven: str | None) -> bool | None:
    """Return whether an answer is proven, for the reason why it is not: "" if there is none, None if it is unknown."""
    if setting != "tools":
        return None
    if not score["correct"]:
        return False
    return None if unproven is None else unproven == ""


class SuiteAnalysis(Generic[T]):
    """The explanations of one suite. This class has a report that fits any suite, and explains nothing."""

    version: ClassVar[int] = 1
    """Raise it when the explanation of a result or the expert's walk changes: those that are kept are made again."""
    explanation_type: ClassVar[type[Explanation]] = Explanation
    expert: ClassVar[ScriptedAgent[Any] | None] = None
    """The scripted agent whose walk is the reference of each task."""

    def __init__(self, suite: Suite[Any, T]) -> None:
        self.suite = suite

    @property
    def own_fields(self) -> dict[str, FieldInfo]:
        """Return the fields that the suite adds to scores and explanations."""
        fields = self.suite.score_type.model_fields | self.explanation_type.model_fields
        for name in Score.model_fields | Explanation.model_fields:
            del fields[name]
        return fields

    def report(self) -> SuiteReport:
        """Return the measures of the suite and the layout of its report; by default those that fit any suite.

        These are outcome, quality and effort, overall and by `template`. Of the fields that the suite adds to scores
        and explanations, numbers are reported as means (from 0 to 1: as shares), booleans in percent, and causes of
        wrong answers are counted. To change a part: `replace(super().report(), notes=("All chains are short.",))`.
        """
        own = tuple(own_measures(self.own_fields))
        own_columns = tuple(Column(measure.name, measure.name, two_decimals) for measure in own)
        causes = cause_measures(self.own_fields)
        cause_columns = []
        for cause in causes:
            # "wrong_form" is the column "Wrong form".
            title = cause.name.replace("_", " ").capitalize()
            cause_columns.append(Column(title, cause.name, integer))
        return SuiteReport(
            suite=self.suite.name,
            measures=OUTCOME + TARGET_SIZE + QUALITY + EFFORT + own + causes,
            groupings=(Grouping("template", "task", lambda result: result["task"]["template"]),),
            columns=PLAIN_COLUMNS + own_columns,
            group_columns=PLAIN_COLUMNS[:_GROUP_COLUMNS],
            compared=(ACCURACY, "f1", PROVEN),
            causes=tuple(cause_columns),
        )

    def explain(self, task: T, setting: str, trajectory: Trajectory, answer: Any, score: dict[str, Any]) -> Explanation:
        """Return the evidence of an answer, and why it is wrong."""
        return self.explanation_type()

    def potential(self, task: T, trajectory: Trajectory) -> float | None:
        """Return how much of the answer the results so far have shown, in [0, 1]; None, the default, if unknown.

        It depends on results, never on the words of the model.
        """
        return None

    def potentials(self, task: T, trajectory: Trajectory) -> list[float] | None:
        """Return the potential before the first turn and after each; None if one of them is unknown."""
        values = []
        for number in range(len(trajectory.turns) + 1):
            value = self.potential(task, replace(trajectory, turns=trajectory.turns[:number]))
            if value is None:
                return None
            values.append(value)
        return values

    def scene(self, task: T, record: ResultRecord) -> Scene:
        """Return what terminal and page show of an episode; by default its turns and its answer."""
        return scene_of(record)

    def scene_of_record(self, record: ResultRecord) -> Scene:
        """Return the scene of an episode; the plain one if its task has not the form of the suite."""
        try:
            task: Any = self.suite.task_type.model_validate(record["task"])
        except ValidationError:
            return scene_of(record)
        return self.scene(task, record)

    async def reference(self, task: T, about: LoadedGraph, agent: AgentConfig) -> ReferenceWalk | None:
        """Return the walk of the expert with the default tools; None without one."""
        if self.expert is None or about.store is None:
            return None
        return await expert_walk(self.expert, task, about)


def analysis_of(suite: Suite[Any, Any]) -> SuiteAnalysis[Any]:
    """Return the analysis of a suite: of the class that it names, else one that fits any suite."""
    analysis_type = suite.analysis_type() or SuiteAnalysis
    return analysis_type(suite)


def check_reference(suite: Suite[Any, Any], table: str) -> None:
    """Raise ConfigError if an experiment names a published table that its suite does not have."""
    known = analysis_of(suite).report().references
    if table not in known:
        hint = f"one of: {', '.join(known)}" if known else "leave the field out"
        unknown = f"{quote(table)}{did_you_mean(table, known)}"
        raise ConfigError(f"reference: the suite {suite.name} has no published table {unknown}", hint=hint)


async def with_reference(analysis: SuiteAnalysis[T], task: T, about: LoadedGraph, agent: AgentConfig) -> T:
    """Return a task with the figures of the expert's walk; unchanged without one."""
    walk = await analysis.reference(task, about, agent)
    return task if walk is None else task.model_copy(update=walk.figures)


def score_fields(folder: RunFolder) -> list[str]:
    """Return the fields of a score that is joined with its explanation; none for a conversation."""
    if folder.is_conversation:
        return []
    suite = folder.suite
    return [*suite.score_type.model_fields, *analysis_of(suite).explanation_type.model_fields]


def scene_maker(folder: RunFolder) -> Callable[[ResultRecord], Scene]:
    """Return the function that makes the scene of a record of a run or a conversation."""
    if folder.is_conversation:
        return lambda record: answer_scene(record, trajectory_of(record))
    return analysis_of(folder.suite).scene_of_record

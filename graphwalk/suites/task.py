"""A task knows how it is asked, read and scored."""

import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict

from graphwalk.config.agent import AgentConfig, Scoring
from graphwalk.errors import ConfigError
from graphwalk.graphs.values import Scalar
from graphwalk.models.chat import Message
from graphwalk.models.trajectory import Trajectory
from graphwalk.sanitise import one_line
from graphwalk.suites.extraction import Extraction
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.tools.toolbox import Toolbox

ANY_VALUE = ("string", "number", "boolean", "null")
"""JSON types of a value of unknown type."""


class AnswerForm(NamedTuple):
    """An answer as JSON: its schema, and the function that writes it as the text that the task reads."""

    schema: Mapping[str, Any]
    write: Callable[[Any], str]


def rows_as_answer(types: Mapping[str, str | Sequence[str]]) -> AnswerForm:
    """Return the form of an answer with rows: `types` are the JSON types of their fields."""
    properties = {field: {"type": kind} for field, kind in types.items()}
    row = {"type": "object", "properties": properties, "required": [*types], "additionalProperties": False}
    return AnswerForm({"type": "array", "items": row}, partial(json.dumps, ensure_ascii=False))


def keys_as_answer(write: Callable[[Any], str]) -> AnswerForm:
    """Return the form of an answer with the keys of nodes."""
    return AnswerForm({"type": "array", "items": {"type": "string"}}, write)


@dataclass(frozen=True)
class Prompt:
    """The start of an episode.

    `answer` is the form of a typed answer, None if the answer is free text.
    """

    messages: tuple[Message, ...]
    toolbox: Toolbox | None = None
    answer: AnswerForm | None = None
    nudge: Callable[[str], str | None] = lambda reply: None
    """Returns what to tell a model whose reply has no call and no answer; None if the reply is an answer."""


def setting_of(name: str) -> str:
    """Return the setting in the name of a setting with a variant: "tools" of "tools:turn_limit=5"."""
    return name.partition(":")[0]


EXPLAINED = ("grounded", "proven", "missing")
"""Fields of explanations, which join with a score where a run is read."""


class Score(BaseModel):
    """The score of an answer. Suites extend it; the fields here exist in every suite.

    `correct` to `false_positives` compare the answer with the target; None without one.
    `extraction_stage` names how the answer was read ("strict", "fenced", …, "model"), None if it could not be.
    `lossy`: the reply holds something like an answer that was not read.
    """

    model_config = ConfigDict(frozen=True)

    correct: bool | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    false_positives: int | None = None
    extraction_stage: str | None
    lossy: bool = False

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        """Raise ConfigError for a subclass with a field that has the name of one of ours."""
        super().__pydantic_init_subclass__(**arguments)
        refuse_fields(cls, (*Score.model_fields, *EXPLAINED))


def refuse_fields(cls: type[BaseModel], names: Collection[str]) -> None:
    """Raise ConfigError if a class defines fields with names of others that its own join with."""
    if ours := [name for name in inspect.get_annotations(cls) if name in names]:
        raise ConfigError(
            f"{cls.__module__}.{cls.__name__} has fields with names of ours: {', '.join(ours)}", hint="rename them"
        )


def _name_in_files(field: str) -> str:
    """Return the name of a task's field in files: `gold` for `target`."""
    return field.replace("target", "gold") if field in ("target", "target_size", "published_target") else field


class TaskRecord(BaseModel):
    """The data of a task: one question with its proven target. Suites extend it with what their scorer needs.

    `template` is the question's name, the algorithm, or "maze"; `graph_digest` the digest of the graph it is about.
    `target` is the right answer in the form of the suite, `target_size` its number of rows; files call them `gold` and
    `gold_size`. The `reference_…` figures are those of the scripted expert's walk: turns, calls, and the tokens that a
    model would read and write on it (docs/method.md, Questions); None if a suite has no expert.
    """

    model_config = ConfigDict(
        frozen=True,
        alias_generator=_name_in_files,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    task_id: str
    suite: str
    template: str
    question: str
    parameters: dict[str, Scalar]
    target: Any
    target_size: int
    seed: int
    graph_digest: str
    reference_turns: int | None = None
    reference_calls: int | None = None
    reference_input_tokens: int | None = None
    reference_output_tokens: int | None = None

    def __repr__(self) -> str:
        """Return one line: name, question, and the size of the target."""
        return f"<Task {self.task_id}: {one_line(self.question, 100)} · target of size {self.target_size}>"

    __str__ = __repr__


class Task(TaskRecord, ABC):
    """A question with its proven target, and its behaviour, which depends on nothing but the arguments."""

    @abstractmethod
    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        """Return prompt and tools of a new episode."""

    @abstractmethod
    def read(self, reply: str) -> Extraction:
        """Extract the answer from a reply with a parser."""

    @abstractmethod
    def answer_format(self, agent: AgentConfig) -> str:
        """Describe the answer format for the extractor model."""

    @abstractmethod
    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring) -> Score:
        """Score an answer against the target. Episodes with infrastructure failures are not scored."""

    def answer_form(self) -> AnswerForm | None:
        """Return the form of a typed answer; None, the default, if an answer is free text."""
        return None


T = TypeVar("T", bound=Task)


class Tasks(NamedTuple, Generic[T]):
    """The tasks about one graph. `left_out`: name of a question or a setting → reason; `notes` are for the user."""

    asked: Sequence[T]
    left_out: Mapping[str, str] = {}
    notes: Sequence[str] = ()

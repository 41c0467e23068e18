"""A task knows how it is asked, read and scored."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.scoring import Scoring
from graphwalk.evaluation.extraction import Extraction
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.tools.toolbox import Toolbox
from graphwalk.types.chat import Message
from graphwalk.types.episode import Score, TaskRecord, Trajectory

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

"""A task, the trajectory of a model that tries it, and the result that is logged."""

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from graphwalk.sanitise import one_line
from graphwalk.types.chat import Message, ToolCall, Usage
from graphwalk.types.values import Row, Scalar

SCHEMA_VERSION = 1
"""Version of everything that GraphWalk writes to disk."""


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


def setting_of(name: str) -> str:
    """Return the setting in the name of a setting with a variant: "tools" of "tools:turn_limit=5"."""
    return name.partition(":")[0]


class ExitStatus(StrEnum):
    """The end of a trajectory (docs/method.md, Agent)."""

    ANSWERED = "answered"
    NO_ANSWER = "no_answer"
    TURN_LIMIT = "turn_limit"
    CALL_LIMIT = "call_limit"
    TOKEN_LIMIT = "token_limit"
    BUDGET = "budget"
    CONTEXT_OVERFLOW = "context_overflow"
    MODEL_ERROR = "model_error"
    STORE_ERROR = "store_error"

    @property
    def infrastructure(self) -> bool:
        """Return True for an infrastructure error: the episode has no score and may be run again."""
        return self in (ExitStatus.BUDGET, ExitStatus.MODEL_ERROR, ExitStatus.STORE_ERROR)

    @property
    def forced(self) -> bool:
        """Return True if a limit of turns or calls forced the answer."""
        return self in (ExitStatus.TURN_LIMIT, ExitStatus.CALL_LIMIT)


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool call for the model.

    `error` is the class of mistake if the call was one ("unknown_tool", "bad_json", "bad_arguments", "unknown_name",
    …), else None. `rows` counts the rows found, None for notes and mistakes. `seconds` is wall time. `data` is the
    content before it was written as text, for programs; it is not logged.
    """

    call: ToolCall
    content: str
    error: str | None = None
    rows: int | None = None
    seconds: float = 0.0
    final: bool = False
    """It is the answer, which ends the episode."""
    tried: dict[str, Any] | None = field(default=None, hash=False)
    """Arguments with the values that the rows are for, as JSON, where these are not the values of the call."""
    shows: str | None = None
    """The kind of the rows, as your own tool declares it: nodes, relationships, values, path or query
    (docs/extending.md, Tool); None where the built-in tool of this name does, or no tool."""
    data: Annotated[list[Row] | None, Field(exclude=True)] = field(default=None, compare=False, repr=False)

    @cached_property
    def message(self) -> Message:
        """The message to the model, made once: it is sent again at each later turn."""
        return Message("tool", self.content, tool_call_id=self.call.id)

    @property
    def is_note(self) -> bool:
        """Return True if a note-taking tool returned the model's own words."""
        return self.error is None and self.rows is None and not self.final


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of the model and what followed it: tool results, or the next user message of a longer dialogue."""

    message: Message
    usage: Usage = Usage()
    finish_reason: str = ""
    seconds: float = 0.0
    results: tuple[ToolResult, ...] = ()
    next_user: str | None = None
    forced: bool = False
    """The answer turn without tools, taken because a limit of turns, calls or repeats was reached."""
    elapsed_in_tools: float | None = None
    """Seconds until all its tool calls were done; None where no clock was kept, and calls count one after the other."""

    @property
    def elapsed(self) -> float:
        """Return the seconds of the model call and of the tool calls together."""
        in_turn = sum(result.seconds for result in self.results)
        return self.seconds + (in_turn if self.elapsed_in_tools is None else self.elapsed_in_tools)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Everything that happened in one episode; the conversation can be rebuilt from it word for word."""

    prompt: tuple[Message, ...]
    turns: tuple[Turn, ...]
    exit_status: ExitStatus
    error: str | None = None

    @property
    def reply(self) -> str:
        """Return the text of the last turn, or the result of its tool call: the answer, if any."""
        if not self.turns:
            return ""
        answered = [result.content for result in self.turns[-1].results if result.final]
        return answered[0] if answered else self.turns[-1].message.content or ""

    @property
    def usage(self) -> Usage:
        return sum((turn.usage for turn in self.turns), Usage())

    @property
    def results(self) -> list[ToolResult]:
        return [result for turn in self.turns for result in turn.results]

    @property
    def seconds(self) -> float:
        """Return the elapsed seconds of model calls and tool calls; the same after a resume: both are recorded."""
        return sum(turn.elapsed for turn in self.turns)

    @property
    def tool_seconds(self) -> float:
        """Return the seconds of each tool call, summed: more than have passed where calls ran side by side."""
        return sum(result.seconds for result in self.results)


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

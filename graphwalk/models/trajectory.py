"""The trajectory of an episode: what the model wrote, what its calls returned, and how it ended."""

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

from graphwalk.graphs.values import Row
from graphwalk.models.chat import Message, ToolCall, Usage


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


INTERNAL = "internal"
"""Class of an unexpected error of a tool, which is no mistake of the model."""


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool call for the model.

    `error` is the class of mistake if the call was one ("unknown_tool", "bad_json", "bad_arguments", "unknown_name",
    …), `INTERNAL`, or None. `rows` counts the rows found, None for notes and mistakes. `seconds` is wall time. `data`
    is the content before it was written as text, for programs; it is not logged.
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
    nudged: bool = False
    """`next_user` is a nudge: it names what is missing in the reply."""
    forced: bool = False
    """The answer turn without tools, taken because a limit of turns, calls or repeats was reached."""
    elapsed_in_tools: float | None = None
    """Seconds until all its tool calls were done; None where no clock was kept, and calls count one after the other."""


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
        last_turn = self.turns[-1]
        for result in last_turn.results:
            if result.final:
                return result.content
        return last_turn.message.content or ""

    @property
    def usage(self) -> Usage:
        return sum((turn.usage for turn in self.turns), Usage())

    @property
    def results(self) -> list[ToolResult]:
        results: list[ToolResult] = []
        for turn in self.turns:
            results.extend(turn.results)
        return results

    @property
    def results_read(self) -> list[ToolResult]:
        """Return the results that the model had read when it wrote its last reply: evidence for the answer in it.

        The results of the calls in the last reply are not among them.
        """
        results: list[ToolResult] = []
        for turn in self.turns[:-1]:
            results.extend(turn.results)
        return results

    @property
    def seconds(self) -> float:
        """Return the elapsed seconds of model calls and tool calls; the same after a resume: both are recorded."""
        total = 0.0
        for turn in self.turns:
            in_tools = turn.elapsed_in_tools
            if in_tools is None:
                in_tools = sum(result.seconds for result in turn.results)
            total += turn.seconds + in_tools
        return total

    @property
    def tool_seconds(self) -> float:
        """Return the seconds of each tool call, summed: more than have passed where calls ran side by side."""
        return sum(result.seconds for result in self.results)

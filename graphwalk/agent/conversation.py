"""The rules of a conversation between a model and its tools (docs/method.md, Agent). Nothing here waits for either.

    conversation = Conversation(prompt, config, limits)
    while not conversation.over:
        if conversation.next_step == "model":
            conversation = conversation.replied(await model.complete(*conversation.request()))
        else:
            conversation = conversation.returned([await toolbox.call(call) for call in conversation.calls])

A conversation is never changed; each step returns the next one. Its state is its turns in the form in which they are
logged, so that it can be continued from a log, or from a history that users have edited.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

from graphwalk.agent.prompt import AnswerForm, Prompt
from graphwalk.config.agent import AgentConfig, Limits
from graphwalk.errors import ModelError, StoreError
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, ToolSpec, Usage
from graphwalk.models.finish_reasons import is_cut_off
from graphwalk.models.protocols import ANY_TEXT, NO_CALL, with_answer_as_text
from graphwalk.models.text_calls import CALL_AS_TEXT, is_call_as_text
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.models.wrappers import BudgetSpentError

_FREE_TEXT = AnswerForm(ANY_TEXT, json.dumps)


class Request(NamedTuple):
    """The request for the next reply."""

    messages: list[Message]
    tools: Sequence[ToolSpec]
    options: CallOptions


class Refusal(NamedTuple):
    """The reason why calls are not made (templates/prompts/call_refused.j2), and the limit that it names."""

    reason: str
    limit: int = 0


@dataclass(frozen=True)
class Conversation:
    """The turns after a prompt, and what follows from them."""

    prompt: Prompt
    config: AgentConfig
    limits: Limits = Limits()
    """Tokens and dollars of an episode; the other limits are those of a run."""
    turns: tuple[Turn, ...] = ()
    exit_status: ExitStatus | None = None
    """None while it lasts."""
    error: str | None = None
    is_last_turn: bool = False
    """No turn can follow the next one, so that it must be the answer."""

    def with_messages(self, messages: Sequence[Message]) -> "Conversation":
        """Return the conversation with these messages after those of its prompt."""
        return replace(self, prompt=replace(self.prompt, messages=(*self.prompt.messages, *messages)))

    def continued(self, turns: Sequence[Turn]) -> "Conversation":
        """Return the conversation after turns that are in a log or a history."""
        return self._after(tuple(turns))

    @classmethod
    def before_turn(cls, number: int, trajectory: Trajectory, config: AgentConfig) -> "Conversation":
        """Return the conversation of a trajectory, without its tools, as it was before this turn."""
        forced = trajectory.turns[number].forced
        return cls(Prompt(trajectory.prompt), config, turns=trajectory.turns[:number], is_last_turn=forced)

    # Before a step: what comes next.

    @property
    def over(self) -> bool:
        return self.exit_status is not None

    @property
    def next_step(self) -> Literal["model", "tools", "end"]:
        if self.over:
            return "end"
        return "tools" if self._waiting else "model"

    @property
    def tools(self) -> Sequence[ToolSpec]:
        return () if self.prompt.toolbox is None else self.prompt.toolbox.specs

    @cached_property
    def limit(self) -> ExitStatus | None:
        """The limit for which the next reply must be the answer, None without one."""
        turn_limit = self.config.turn_limit
        call_limit = self.config.call_limit
        if self.prompt.toolbox is not None:
            turns = self._since_user()
            if turn_limit is not None and len(turns) >= turn_limit:
                return ExitStatus.TURN_LIMIT
            if call_limit is not None and _calls_in(turns) >= call_limit:
                return ExitStatus.CALL_LIMIT
        return ExitStatus.TURN_LIMIT if self.is_last_turn else None

    def request(self, options: CallOptions = CallOptions()) -> Request:
        """Return what to send now; `options` are those of every call."""
        messages = self.messages
        tools = self.tools
        if self.limit is not None:
            messages.append(self.answer_now)
            tools = ()
        if tools and self.config.tool_choice == "required":
            options = replace(options, tool_choice="required")
        if self.config.tool_format == "json":
            options = replace(options, answer_schema=self._answer_form.schema)
        return Request(messages, tools, options)

    @property
    def messages(self) -> list[Message]:
        """Prompt and turns as they are sent. With `compaction: window`, results of older turns are left out."""
        first_whole = 0
        if self.config.compaction == "window":
            first_whole = len(self.turns) - self.config.compaction_window

        messages = list(self.prompt.messages)
        for number, turn in enumerate(self.turns):
            messages.append(turn.message)
            messages.extend(self._result_messages(turn, are_whole=number >= first_whole))
            if turn.next_user is not None:
                messages.append(Message("user", turn.next_user))
        return messages

    @property
    def answer_now(self) -> Message:
        """The request for an answer, sent when a limit is reached."""
        return Message("user", self.config.render("answer_now.j2"))

    @property
    def calls(self) -> Sequence[ToolCall]:
        """The calls to make now: those of the last reply that have no result and are not refused."""
        admitted, _ = self._admission
        return self._waiting[:admitted]

    # After a step: what its outcome means.

    def replied(self, reply: Reply) -> "Conversation":
        """Return the conversation after a reply: calls, an answer, or neither, for which there may be a nudge."""
        if self.config.tool_format == "json":
            reply = with_answer_as_text(reply, self._answer_form.write)
        message = reply.message
        text = message.content or ""
        forced = self.limit is not None
        turn = Turn(message, reply.usage, reply.finish_reason, reply.seconds, forced=forced)
        turns = (*self.turns, turn)

        if forced:
            return self._after(turns, self.limit)
        if message.tool_calls and self.prompt.toolbox is not None:
            return self._after(turns)

        nudges = sum(turn.nudged for turn in self.turns)
        if nudges < self.config.nudges:
            nudge = self.prompt.nudge(text)
            if nudge is not None:
                return self._after((*self.turns, replace(turn, next_user=nudge, nudged=True)))

        # <tool_call>{"name": "neighbours", …}</tool_call>, of a server that has no parser for the calls of its model
        if self.config.tool_format == "native" and is_call_as_text(message, self.tools):
            return self._after(turns, ExitStatus.NO_ANSWER, CALL_AS_TEXT)

        follow_ups = self.prompt.follow_ups
        follow_ups_sent = sum(turn.next_user is not None and not turn.nudged for turn in self.turns)
        if follow_ups_sent < len(follow_ups):
            return self._after((*self.turns, replace(turn, next_user=follow_ups[follow_ups_sent])))
        return self._after(turns, ExitStatus.ANSWERED if text.strip() else ExitStatus.NO_ANSWER)

    def returned(self, results: Sequence[ToolResult], elapsed: float | None = None) -> "Conversation":
        """Return the conversation after the results of `calls` in their order. Refused calls get theirs here.

        `elapsed`: seconds until all calls were done, None where no clock was kept.
        """
        admitted, refusal = self._admission
        turn = self.turns[-1]
        all_results = list(turn.results)
        all_results.extend(results)
        refused = self._waiting[admitted:]
        if refused:
            all_results.extend(self._refused(refused, refusal))
        turn = replace(turn, results=tuple(all_results), elapsed_in_tools=elapsed)

        has_answer = any(result.final for result in all_results)
        return self._after((*self.turns[:-1], turn), ExitStatus.ANSWERED if has_answer else None)

    def failed(self, error: ModelError | StoreError) -> "Conversation":
        """Return the conversation ended by a failure of the model or the store."""
        if isinstance(error, StoreError):
            return replace(self, exit_status=ExitStatus.STORE_ERROR, error=error.message)
        status = ExitStatus.MODEL_ERROR
        if isinstance(error, BudgetSpentError):
            status = ExitStatus.BUDGET
        elif error.context_overflow:
            status = ExitStatus.CONTEXT_OVERFLOW
        hint = f" ({error.hint})" if error.hint else ""
        return replace(self, exit_status=status, error=f"{error.message}{hint}")

    def timed_out(self) -> "Conversation":
        """Return the conversation ended by its deadline, during the step that was next."""
        if self.next_step == "tools":
            status = ExitStatus.STORE_ERROR
            step = "tool call"
        else:
            status = ExitStatus.MODEL_ERROR
            step = "model call"
        return replace(self, exit_status=status, error=f"the deadline of the episode passed during a {step}")

    @property
    def trajectory(self) -> Trajectory:
        """The log of the conversation; while it lasts it has no answer."""
        return Trajectory(self.prompt.messages, self.turns, self.exit_status or ExitStatus.NO_ANSWER, self.error)

    def _after(
        self, turns: tuple[Turn, ...], exit_status: ExitStatus | None = None, error: str | None = None
    ) -> "Conversation":
        """Return the conversation after these turns. Without tokens or dollars for another reply it ends."""
        after = replace(self, turns=turns, exit_status=exit_status, error=error)
        if after.next_step != "model":
            return after
        spent_limit = after._spent_limit
        return after if spent_limit is None else replace(after, exit_status=spent_limit)

    # Turns.

    @property
    def _answer_form(self) -> AnswerForm:
        return self.prompt.answer or _FREE_TEXT

    @property
    def _spent_limit(self) -> ExitStatus | None:
        """The status of the limit of tokens or dollars that the turns have reached, None without one."""
        tokens = self.limits.episode_tokens
        usd = self.limits.episode_usd
        if tokens is None and usd is None:
            return None
        usage = sum((turn.usage for turn in self.turns), Usage())
        if tokens is not None and usage.total_tokens >= tokens:
            return ExitStatus.TOKEN_LIMIT
        if usd is not None and (usage.cost or 0.0) >= usd:
            return ExitStatus.BUDGET
        return None

    def _since_user(self, before: int | None = None) -> list[Turn]:
        """Return the turns after the last message of the user, the newest first. A nudge is none of the user's."""
        turns: list[Turn] = []
        for turn in reversed(self.turns[:before]):
            if turn.next_user is not None and not turn.nudged:
                break
            turns.append(turn)
        return turns

    # Calls and their results.

    @cached_property
    def _waiting(self) -> Sequence[ToolCall]:
        """The calls of the last reply that have no result; a user may have given the results of some."""
        if self.over or not self.turns or self.prompt.toolbox is None:
            return ()
        turn = self.turns[-1]
        calls = turn.message.tool_calls
        if turn.next_user is not None or len(turn.results) >= len(calls):
            return ()
        answered = {result.call.id for result in turn.results}
        return [call for call in calls if call.id not in answered]

    @cached_property
    def _admission(self) -> tuple[int, Refusal]:
        """The number of waiting calls to make, and the refusal of the others."""
        if is_cut_off(self.turns[-1].finish_reason):
            return 0, Refusal("cut_off")
        if any(call.name == NO_CALL for call in self._waiting):
            return 0, Refusal("no_json")
        most = self.config.max_calls_per_turn
        limit = self.config.call_limit
        if limit is not None:
            remaining = limit - _calls_in(self._since_user(before=-1))
            if remaining <= most:
                return max(0, remaining), Refusal("call_limit", limit)
        return most, Refusal("too_many_calls", most)

    def _refused(self, calls: Sequence[ToolCall], refusal: Refusal) -> list[ToolResult]:
        text = self.config.render("call_refused.j2", **refusal._asdict())
        return [ToolResult(call, text, error=refusal.reason) for call in calls]

    def _result_messages(self, turn: Turn, *, are_whole: bool) -> list[Message]:
        """Return one result for each call, and none without a call: servers refuse every other history.

        In a history that a user has edited, a call may lack its result, or a result its call.
        """
        calls = {call.id: call for call in turn.message.tool_calls}
        unanswered = dict(calls)
        messages = []
        for result in turn.results:
            if result.call.id in calls:
                unanswered.pop(result.call.id, None)
                messages.append(result.message if are_whole else self._shortened(result))
        if unanswered:
            for result in self._refused(list(unanswered.values()), Refusal("not_made")):
                messages.append(result.message)
        return messages

    def _shortened(self, result: ToolResult) -> Message:
        left_out = self.config.render("result_left_out.j2", rows=result.rows)
        return replace(result.message, content=min(result.content, left_out, key=len))


def _calls_in(turns: Sequence[Turn]) -> int:
    return sum(len(turn.message.tool_calls) for turn in turns)

"""A scripted agent without a memory: it makes no mistake, and knows only what the messages of a request hold.

In every turn it plays its policy from the results that it can still read, and makes the first calls whose
results are missing. With the whole conversation it makes the expert's calls; what compaction removed it looks up again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from graphwalk.errors import ModelError
from graphwalk.models.scripted import NO_ANSWER, AnswerNow, Ask, Policy
from graphwalk.models.tokens import count_messages, count_tokens, tools_text
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec, Usage
from graphwalk.types.encodings import read_rows


class MemorylessModel:
    """A model that plays the policy of `start` from the messages alone. `context` is the context window in tokens."""

    def __init__(self, name: str, start: Callable[[], Policy], context: int | None = None) -> None:
        self.name = name
        self._start, self._context = start, context
        self._calls = 0
        self._policy: Policy | None = None
        self._move: list[Ask] | str | None = None
        """The move that waits for results or a user message; None: the policy has not begun."""
        self._used: dict[str, str] = {}
        """Calls with the results that the policy was sent; it begins anew when one of them is no longer shown."""
        self._states: set[tuple[frozenset[tuple[str, str]], tuple[str, ...]]] = set()
        """Results that were shown, with the calls that followed."""
        self._texts = 0
        """User messages that the policy was sent."""
        self._size = cache(lambda message: count_messages((message,)))

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Return the next calls, or the answer. Raise ModelError if the messages exceed the context window."""
        sent = sum(map(self._size, messages)) + count_tokens(tools_text(tools))
        if self._context is not None and sent > self._context:
            text = f"{self.name} reads at most {self._context:,} tokens, not {sent:,}"
            raise ModelError(text, context_overflow=True)
        message = self._next(messages, bool(tools), options.parallel_tool_calls is not False)
        usage, most = Usage(sent, self._size(message), estimated=True), options.max_output_tokens
        if most is not None and self._size(message) > most:
            return Reply(Message("assistant", ""), usage, finish_reason="length", model=self.name)
        return Reply(message, usage, finish_reason="tool_calls" if message.tool_calls else "stop", model=self.name)

    async def close(self) -> None:
        """End the policy."""
        if self._policy is not None:
            self._policy.close()

    def _next(self, messages: Sequence[Message], tools: bool, parallel: bool) -> Message:
        results = {name: text for name, text in _shown(messages) if _is_result(text)}
        if self._policy is None or any(results.get(name) != text for name, text in self._used.items()):
            self._begin()
        answer = self._played(results, _follow_ups(messages))
        if answer is not None:
            return Message("assistant", answer)
        if not tools:
            return Message("assistant", self._forced_answer())
        waiting = [ask for ask in self._move or () if isinstance(ask, Ask) and _signature(ask) not in results]
        calls = tuple(map(self._call, waiting if parallel else waiting[:1]))
        state = frozenset(results.items()), tuple(map(_name, calls))
        if state in self._states:  # it knows no more than before, and would repeat itself
            return Message("assistant", NO_ANSWER)
        self._states.add(state)
        return Message("assistant", None, calls)

    def _begin(self) -> None:
        self._policy, self._move, self._used, self._texts = self._start(), None, {}, 0

    def _played(self, results: Mapping[str, str], follow_ups: Sequence[str]) -> str | None:
        """Play on as far as the results go. Return a text of the policy; None where it waits for results."""
        assert self._policy is not None
        try:
            if self._move is None:
                self._move = next(self._policy)
            while True:
                if isinstance(self._move, str):
                    if self._texts == len(follow_ups):
                        return self._move
                    self._texts += 1
                    self._move = self._policy.send([follow_ups[self._texts - 1]])
                    continue
                names = list(map(_signature, self._move))
                if not all(name in results for name in names):
                    return None
                self._used |= {name: results[name] for name in names}
                self._move = self._policy.send([results[name] for name in names])
        except StopIteration as end:
            self._policy = None
            return str(end.value)

    def _forced_answer(self) -> str:
        assert self._policy is not None
        policy, self._policy = self._policy, None
        try:
            policy.throw(AnswerNow())
        except StopIteration as end:
            return str(end.value)
        except AnswerNow:
            pass
        return NO_ANSWER

    def _call(self, ask: Ask) -> ToolCall:
        self._calls += 1
        return ask.call(f"call_{self._calls}")


def _shown(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Yield each call with the text of its result, in order."""
    names: dict[str, str] = {}
    for message in messages:
        if message.tool_call_id is not None:
            yield names.get(message.tool_call_id, ""), message.content or ""
        names |= {call.id: _name(call) for call in message.tool_calls}


@lru_cache(maxsize=4096)
def _is_result(text: str) -> bool:
    """Return True for rows or a JSON list; False for what replaces a result: left out, refused, not made."""
    return text.startswith("[") or read_rows(text) is not None


def _follow_ups(messages: Sequence[Message]) -> list[str]:
    """Return the user messages that follow replies without calls."""
    pairs = pairwise(messages)
    return [
        after.content or ""
        for reply, after in pairs
        if reply.role == "assistant" and not reply.tool_calls and after.role == "user"
    ]


def _name(call: ToolCall) -> str:
    return f"{call.name} {call.arguments}"


def _signature(ask: Ask) -> str:
    return _name(ask.call(""))

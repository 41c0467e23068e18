"""Simulated model without a memory: the expert that knows only what is in the conversation it is sent.

It begins its plan anew in every turn, with the results and notes that it can still read, and makes the first call whose
result is missing. With the whole conversation it makes the expert's calls; what compaction removed it looks up again.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from graphwalk.errors import ModelError
from graphwalk.models.scripted import NO_ANSWER, Ask
from graphwalk.models.tokens import count_messages, count_tokens, tools_text
from graphwalk.suites.questions.agents.walker import Page, Steps
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.tools.observed import KEY
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec, Usage
from graphwalk.types.encodings import encode_result, next_page, read_rows
from graphwalk.types.values import Row

MOST_NOTE, MOST_SUMMARY = 3_000, 12_000
"""Characters of the note of one result, and of a summary; what is longer is not written down."""
NOTES_STAY = "write down in every turn"
"""The request for notes (templates/prompts/scratchpad.j2)."""
SUMMARY_ASKED = "summary"
"""A word of the request for a summary (templates/prompts/summarize.j2)."""
CONTEXTS = {"8k": 8_000, "32k": 32_000, "128k": 128_000}
"""Context windows in tokens by rule, as in `scripted/forgetful:32k`."""
_NOTE = "NOTE "

Pages = dict[str, Page]
"""Call → its rows."""


class ForgetfulModel:
    """A model that plays `plan` from the messages alone. `make_plan` begins the plan; `context` is in tokens."""

    def __init__(self, name: str, task: QuestionTask, make_plan: Any, context: int | None) -> None:
        self.name = name
        self._make_plan, self._context = make_plan, context
        self._needed = {KEY, *task.answer_fields, *map(str, task.parameters.values())}
        self._calls = 0
        # Caches, no memory: both depend on the text alone.
        self._size = cache(lambda message: count_messages((message,)))
        self._read = cache(_page)

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Return the next calls, or the answer. Raise ModelError if the messages exceed the context window."""
        sent = sum(map(self._size, messages)) + count_tokens(tools_text(tools))
        if self._context is not None and sent > self._context:
            text = f"{self.name} reads at most {self._context:,} tokens, not {sent:,}"
            raise ModelError(text, context_overflow=True)
        message = self._next(messages, bool(tools), options.parallel_tool_calls is not False)
        usage = Usage(sent, self._size(message), estimated=True)
        reason = "tool_calls" if message.tool_calls else "stop"
        return Reply(message, usage, finish_reason=reason, model=self.name)

    async def close(self) -> None: ...

    def _next(self, messages: Sequence[Message], tools: bool, parallel: bool) -> Message:
        pages, last = self._pages(messages), messages[-1]
        if not tools and SUMMARY_ASKED in (last.content or ""):
            return Message("assistant", self._summary(pages))
        asks, answer = self._resumed(pages)
        if answer is not None:
            return Message("assistant", answer)
        if not tools:
            return Message("assistant", NO_ANSWER)
        waiting = [ask for ask in asks if _signature(ask) not in pages]
        calls = tuple(map(self._call, waiting if parallel else waiting[:1]))
        wants_notes = any(message.role == "user" and NOTES_STAY in (message.content or "") for message in messages)
        notes = list(self._notes(messages, pages)) if wants_notes else []
        return Message("assistant", "\n".join(notes) or None, calls)

    def _resumed(self, pages: Pages) -> tuple[list[Ask], str | None]:
        """Return the first calls of the plan that have no known result, or the answer."""
        plan: Steps[list[Row]] = self._make_plan()
        try:
            asks = next(plan)
            while all(name in pages for name in map(_signature, asks)):
                asks = plan.send([pages[_signature(ask)] for ask in asks])
        except StopIteration as end:
            return [], json.dumps(end.value, ensure_ascii=False)
        return asks, None

    def _pages(self, messages: Sequence[Message]) -> Pages:
        """Return the rows that the messages still show: in notes, and in results that were not removed."""
        texts = self._shown(messages)
        return {name: page for name, text in texts if (page := self._read(text)) is not None}

    @staticmethod
    def _shown(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
        """Yield each call with the text of its result, from notes and results in order."""
        names: dict[str, str] = {}
        for message in messages:
            if message.tool_call_id is not None:
                yield names.get(message.tool_call_id, ""), message.content or ""
                continue
            names |= {call.id: _name(call) for call in message.tool_calls}
            for line in (message.content or "").splitlines():
                if line.startswith(_NOTE):
                    name, table = json.loads(line.removeprefix(_NOTE))
                    yield name, json.dumps(table, ensure_ascii=False)

    def _notes(self, messages: Sequence[Message], pages: Pages) -> Iterator[str]:
        """Yield a note of each result of the last turn."""
        start = next((n for n in range(len(messages), 0, -1) if messages[n - 1].role == "assistant"), 0)
        for call in messages[start - 1].tool_calls if start else ():
            yield from self._note(_name(call), pages)

    def _note(self, name: str, pages: Pages) -> Iterator[str]:
        """Yield the note of a result unless it is too long: of nodes and relationships, what the question names."""
        page = pages.get(name)
        if page is None or page.next is not None:
            return
        rows = [{field: self._short(value) for field, value in row.items()} for row in page.rows]
        table = json.loads(encode_result(rows, encoding="compact"))
        note = _NOTE + json.dumps([name, table], ensure_ascii=False, separators=(",", ":"))
        if len(note) <= MOST_NOTE:
            yield note

    def _short(self, value: Any) -> Any:
        return {n: v for n, v in value.items() if n in self._needed} if isinstance(value, dict) else value

    def _summary(self, pages: Pages) -> str:
        notes: list[str] = []
        for name in pages:
            for note in self._note(name, pages):
                if sum(map(len, notes)) + len(note) <= MOST_SUMMARY:
                    notes.append(note)
        return "\n".join(notes) or "Nothing yet."

    def _call(self, ask: Ask) -> ToolCall:
        self._calls += 1
        return ask.call(f"call_{self._calls}")


def _page(text: str) -> Page | None:
    rows = read_rows(text)
    return None if rows is None else Page(rows, next_page(text))


def _name(call: ToolCall) -> str:
    return f"{call.name} {call.arguments}"


def _signature(ask: Ask) -> str:
    return _name(ask.call(""))

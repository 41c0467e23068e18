"""Servers that want the state of their earlier replies back, each as one provider does.

A request is refused, with status 400 and the provider's own words, if an earlier message of the model is missing,
changed or out of order. What a server replies follows from the messages before the model's first one and from the
number of the model's messages after them. So it remembers nothing, and the same server accepts a resumed run.
"""

import base64
import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from itertools import groupby, takewhile
from typing import Any, ClassVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from graphwalk.settings import Settings
from tests.models.server import Answer, ModelServer, Request, error

KEYS = {"property_name": "key", "entity_name": "Film", "entity_type": "node"}
STEPS: tuple[tuple[tuple[str, dict[str, str]], ...], ...] = (
    (("think", {"thought": "The keys come first."}),),
    (("get_unique_property_values", KEYS), ("think", {"thought": "Two calls in one turn."})),
    (("think", {"thought": "That is enough."}),),
)
"""The tool calls of each turn. The turn after them is the answer."""
ANSWER = "[]"
TURNS = len(STEPS) + 1
SIGNED = "signed:"
"""How each signature begins."""
_DONE = re.compile(r"Steps done so far: (\d+)")
"""The number of steps in a summary of these models."""
_LABEL = re.compile(r"\| Node \| (\w+)")
"""A node label in the schema of a prompt."""


class StatefulServer:
    """A provider that wants the state of its replies back.

    `replies` counts the replies that were given, `refusals` holds what was expected and what was sent instead. After
    `closes_after` replies every request fails. With `in_text` tool calls are written as text, and state is refused.
    """

    spec: str
    """The model's name in a run."""
    words: str
    """How the provider refuses a request."""

    def __init__(self, *, closes_after: int | None = None, in_text: bool = False) -> None:
        self.closes_after = closes_after
        self.in_text = in_text
        self.replies = 0
        self.refusals: list[tuple[Any, Any]] = []
        self.seen: list[list[Any]] = []
        """The model's own messages in each request that was answered."""

    @property
    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of the model's constructor."""
        return {}

    @property
    def closed(self) -> bool:
        return self.closes_after is not None and self.replies >= self.closes_after

    def topic(self, before: str) -> str:
        """Return what replies follow from. With `in_text` the messages before the first reply change."""
        found = _LABEL.search(before)
        return before if not self.in_text else found[0] if found else ""

    def accepts(self, topic: str, sent: Sequence[Any]) -> bool:
        """Tell whether these are the model's messages so far, and note those that are not."""
        expected = [self.kept(topic, number) for number in range(len(sent))]
        if expected != list(sent):
            self.refusals.append((expected, sent))
            return False
        self.replies += 1
        self.seen.append(list(sent))
        return True

    def kept(self, topic: str, number: int) -> Any:
        """Return the model's message of that number as it must come back."""
        raise NotImplementedError

    def serving(self) -> AbstractAsyncContextManager[Settings]:
        """Serve, and return the environment in which the model is found."""
        raise NotImplementedError


def step_of(topic: str, number: int) -> int:
    """Return the step of the model's message of that number. Steps before a summary count."""
    done = _DONE.findall(topic)
    return number + (int(done[-1]) if done else 0)


def calls_of(topic: str, step: int) -> list[tuple[str, dict[str, str]]]:
    """Return the tool calls of a step, about a label of the schema."""
    found = _LABEL.search(topic)
    label = {"entity_name": found[1]} if found else {}
    return [(name, {**values, **(label if "entity_name" in values else {})}) for name, values in STEPS[step]]


def signature(*parts: object) -> str:
    """Return a text that no other message has and that any change of encoding would break."""
    digest = hashlib.sha512(repr(parts).encode()).digest()
    return SIGNED + base64.b64encode(digest * 3).decode() + "/+é\\u00e9\u2028"


def call_id(topic: str, step: int, place: int) -> str:
    return "call_" + hashlib.sha256(repr((topic, step, place)).encode()).hexdigest()[:12]


def pieces(text: str) -> Iterator[str]:
    """Cut a text as a stream does."""
    third = max(1, len(text) // 3)
    return (text[start : start + third] for start in range(0, len(text), third))


class _HttpServer(StatefulServer):
    """A provider behind HTTP. `variable` names the variable of its address."""

    variable: str

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Settings]:
        async with ModelServer(self.respond) as self.server:
            yield Settings({self.variable: self.server.url, "OPENAI_API_KEY": "none"})

    def respond(self, request: Request) -> Answer:
        if self.closed:
            return error(403, "this server is closed")
        return self.answer(request.body)

    def answer(self, body: dict[str, Any]) -> Answer:
        raise NotImplementedError


class ChatServer(_HttpServer):
    """Chat Completions: whole messages of the model have to come back."""

    def answer(self, body: dict[str, Any]) -> Answer:
        messages = body["messages"]
        before = list(takewhile(lambda message: message["role"] != "assistant", messages))
        sent = [_given(message) for message in messages if message["role"] == "assistant"]
        topic = self.topic(json.dumps(before))
        if not self.accepts(topic, sent):
            return self.refuse()
        step = step_of(topic, len(sent))
        if not body.get("tools") and not self.in_text:
            message = {"role": "assistant", "content": f"Steps done so far: {step}", **self.state(topic, step)}
        else:
            message = self.message(topic, step)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        if body.get("stream"):
            return _events(
                [
                    *_chunks(message),
                    {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
                    {"choices": [], "usage": usage},
                ]
            )
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return Answer({"id": "c", "model": "m", "choices": [choice], "usage": usage})

    def message(self, topic: str, step: int) -> dict[str, Any]:
        """Return a reply as it is served."""
        state = self.state(topic, step)
        if step >= len(STEPS):
            return {"role": "assistant", "content": ANSWER, **state}
        if self.in_text:
            written = [json.dumps({"name": name, "arguments": values}) for name, values in calls_of(topic, step)]
            return {"role": "assistant", "content": "\n\n".join(f"```json\n{w}\n```" for w in written), **state}
        calls = [
            {
                "id": call_id(topic, step, place),
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(values)},
                **self.call_state(topic, step, place),
            }
            for place, (name, values) in enumerate(calls_of(topic, step))
        ]
        text = "Two at once." if len(calls) > 1 else None
        return {"role": "assistant", "content": text, "refusal": None, "tool_calls": calls, **state}

    def kept(self, topic: str, number: int) -> Any:
        message = _given(self.message(topic, step_of(topic, number)))
        return {name: message[name] for name in ("role", "content")} if self.in_text else message

    def state(self, topic: str, step: int) -> dict[str, Any]:
        """Return the fields of a message that belong to this provider."""
        return {}

    def call_state(self, topic: str, step: int, place: int) -> dict[str, Any]:
        """Return the fields of a tool call that belong to this provider."""
        return {}

    def refuse(self) -> Answer:
        return error(400, self.words, "invalid_request_error")


class GeminiServer(ChatServer):
    """Gemini 3: a signature on the first of a turn's parallel calls, and on the text of an answer."""

    spec, variable = "gemini/gemini-3-pro", "GEMINI_BASE_URL"
    words = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work."

    def state(self, topic: str, step: int) -> dict[str, Any]:
        return self._signed(topic, step) if step >= len(STEPS) else {}

    def call_state(self, topic: str, step: int, place: int) -> dict[str, Any]:
        return self._signed(topic, step) if place == 0 else {}

    def refuse(self) -> Answer:
        return Answer([{"error": {"code": 400, "message": self.words, "status": "INVALID_ARGUMENT"}}], 400)

    def _signed(self, topic: str, step: int) -> dict[str, Any]:
        return {"extra_content": {"google": {"thought_signature": signature(topic, step)}}}


class DeepSeekServer(ChatServer):
    """DeepSeek's thinking mode: the reasoning itself."""

    spec, variable = "deepseek/deepseek-reasoner", "DEEPSEEK_BASE_URL"
    words = "The `reasoning_content` in the thinking mode must be passed back to the API."

    def state(self, topic: str, step: int) -> dict[str, Any]:
        return {"reasoning_content": f"Step {step}. {signature(topic, step)}\n"}


class OpenRouterServer(ChatServer):
    """OpenRouter: a list of reasoning details, the same ones in the same order."""

    spec, variable = "openrouter/anthropic/claude-sonnet-4.5", "OPENROUTER_BASE_URL"
    words = "messages.1.content.0: `thinking` blocks in the latest assistant message cannot be modified."

    def state(self, topic: str, step: int) -> dict[str, Any]:
        common = {"format": "anthropic-claude-v1"}
        thought = {"type": "reasoning.text", "text": f"Step {step}.", "signature": signature(topic, step), **common}
        hidden = {"type": "reasoning.encrypted", "id": f"rs_{step}", "data": signature(step, topic), **common}
        more = {"type": "reasoning.summary", "summary": "In short: go.", **common}
        details = [{**detail, "index": index} for index, detail in enumerate((thought, hidden, more))]
        return {"reasoning": f"Step {step}.", "reasoning_details": details}


class GroqServer(ChatServer):
    """A server that sends its reasoning and refuses to have it back."""

    spec, variable = "groq/openai/gpt-oss-120b", "GROQ_BASE_URL"
    words = (
        "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning' is "
        "unsupported)]"
    )

    def state(self, topic: str, step: int) -> dict[str, Any]:
        return {"reasoning": f"Step {step}."}

    def kept(self, topic: str, number: int) -> Any:
        message = super().kept(topic, number)
        return {name: value for name, value in message.items() if name != "reasoning"}


class ResponsesServer(_HttpServer):
    """OpenAI's Responses: encrypted reasoning, the phase of each message, and the order of all items."""

    spec, variable = "openai-responses/gpt-5.2", "OPENAI_BASE_URL"
    words = "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."

    def answer(self, body: dict[str, Any]) -> Answer:
        if body.get("store") is not False or "reasoning.encrypted_content" not in body.get("include", ()):
            return error(400, "this server keeps nothing: store must be false, and encrypted reasoning included")
        before = list(takewhile(lambda item: not _is_models(item), body["input"]))
        sent = [list(group) for models, group in groupby(body["input"], _is_models) if models]
        topic = self.topic(json.dumps(before))
        if not self.accepts(topic, sent):
            return error(400, self.words)
        step = step_of(topic, len(sent))
        summing_up = not body.get("tools") and not self.in_text
        output = self._text(topic, step, f"Steps done so far: {step}") if summing_up else self.output(topic, step)
        usage = {"input_tokens": 10, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}}
        response = {"id": "resp", "model": "m", "status": "completed", "output": output, "usage": usage}
        if not body.get("stream"):
            return Answer(response)
        texts = [part["text"] for item in output if item["type"] == "message" for part in item["content"]]
        deltas = [{"type": "response.output_text.delta", "delta": piece} for text in texts for piece in pieces(text)]
        created = {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}
        return _events([created, *deltas, {"type": "response.completed", "response": response}])

    def output(self, topic: str, step: int) -> list[dict[str, Any]]:
        """Return the items of a reply as they are served."""
        if step >= len(STEPS):
            return self._text(topic, step, ANSWER)
        if self.in_text:
            written = [json.dumps({"name": name, "arguments": values}) for name, values in calls_of(topic, step)]
            return self._text(topic, step, "\n\n".join(f"```json\n{w}\n```" for w in written))
        calls = [
            {
                "type": "function_call",
                "id": f"fc_{step}_{place}",
                "call_id": call_id(topic, step, place),
                "name": name,
                "arguments": json.dumps(values),
                "status": "completed",
            }
            for place, (name, values) in enumerate(calls_of(topic, step))
        ]
        said = self._said(f"Next comes step {step}.", "commentary")
        first, *rest = calls
        return [self._thought(topic, step, 0), said, self._thought(topic, step, 1), first, *rest]

    def kept(self, topic: str, number: int) -> Any:
        output = self.output(topic, step_of(topic, number))
        if self.in_text:
            return [{"role": "assistant", "content": _plain(item)["content"]} for item in output if "role" in item]
        return [_plain(item) for item in output]

    def _text(self, topic: str, step: int, text: str) -> list[dict[str, Any]]:
        return [self._thought(topic, step, 0), self._said(text, "final_answer")]

    def _thought(self, topic: str, step: int, place: int) -> dict[str, Any]:
        summary = [{"type": "summary_text", "text": f"Step {step}."}] if place else []
        secret = signature(topic, step, place)
        return {"type": "reasoning", "id": f"rs_{step}_{place}", "summary": summary, "encrypted_content": secret}

    def _said(self, text: str, phase: str) -> dict[str, Any]:
        part = {"type": "output_text", "text": text, "annotations": []}
        message = {"type": "message", "id": "msg", "status": "completed", "role": "assistant"}
        return {**message, "phase": phase, "content": [part]}


class AnthropicServer(StatefulServer):
    """Anthropic by LangChain: the content blocks of each `AIMessage`, in their order."""

    spec = "langchain/tests.models.stateful_servers.SigningChat/claude"
    words = (
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
        "modified. These blocks must remain as they were in the original response."
    )

    reports_usage = True
    same_id: str | None = None
    """The id of every message; None: LangChain's own."""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Settings]:
        SigningChat.server = self
        try:
            yield Settings()
        finally:
            SigningChat.server = None

    def reply(self, messages: Sequence[BaseMessage], *, may_call: bool) -> AIMessage:
        """Return the next message. RefusedError as Anthropic's own client raises it."""
        if self.closed:
            raise RefusedError(403, "this server is closed")
        before = [message.content for message in takewhile(lambda message: message.type != "ai", messages)]
        topic = self.topic(json.dumps(before))
        sent = [_blocks(message) for message in messages if isinstance(message, AIMessage)]
        if not self.accepts(topic, sent):
            raise RefusedError(400, self.words)
        step = step_of(topic, len(sent))
        reply = self._reply(topic, step, may_call)
        reply.id = self.same_id
        return reply

    def _reply(self, topic: str, step: int, may_call: bool) -> AIMessage:
        return self.message(topic, step) if may_call or self.in_text else self.summary(topic, step)

    def summary(self, topic: str, step: int) -> AIMessage:
        return AIMessage([*self._thoughts(topic, step), {"type": "text", "text": f"Steps done so far: {step}"}])

    def message(self, topic: str, step: int) -> AIMessage:
        thoughts = self._thoughts(topic, step)
        if step >= len(STEPS):
            return AIMessage([*thoughts, {"type": "text", "text": ANSWER}])
        if self.in_text:
            written = [json.dumps({"name": name, "arguments": values}) for name, values in calls_of(topic, step)]
            text = "\n\n".join(f"```json\n{w}\n```" for w in written)
            return AIMessage([*thoughts, {"type": "text", "text": text}])
        calls = [
            {"id": call_id(topic, step, place).replace("call", "toolu"), "name": name, "args": values}
            for place, (name, values) in enumerate(calls_of(topic, step))
        ]
        used = [{"type": "tool_use", "id": c["id"], "name": c["name"], "input": c["args"]} for c in calls]
        return AIMessage([*thoughts, {"type": "text", "text": f"Step {step}."}, *used], tool_calls=calls)

    def kept(self, topic: str, number: int) -> Any:
        message = self.message(topic, step_of(topic, number))
        if self.in_text:
            return {"content": message.content[-1]["text"], "calls": []}  # type: ignore[index]
        return _blocks(message)

    def _thoughts(self, topic: str, step: int) -> list[dict[str, Any]]:
        return [
            {"type": "thinking", "thinking": f"Step {step}.", "signature": signature(topic, step)},
            {"type": "redacted_thinking", "data": signature(step, topic)},
        ]


class MessagesServer(AnthropicServer):
    """Anthropic's own API, called by `langchain_anthropic.ChatAnthropic`."""

    spec = "langchain/langchain_anthropic.ChatAnthropic/claude-of-the-tests"

    @property
    def arguments(self) -> dict[str, Any]:
        address = self.http.url.removesuffix("/v1")
        thinking = {"type": "enabled", "budget_tokens": 1024}
        return {"base_url": address, "max_retries": 0, "max_tokens": 4096, "thinking": thinking}

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Settings]:
        async with ModelServer(self.respond) as self.http:
            yield Settings()

    def respond(self, request: Request) -> Answer:
        """Return an answer after which the client, which LangChain never closes, leaves no connection open."""
        answer = self.answer(request)
        return replace(answer, headers={**answer.headers, "connection": "close"})

    def answer(self, request: Request) -> Answer:
        if self.closed:
            return self._error(403, "this server is closed")
        body = request.body
        before = list(takewhile(lambda message: message["role"] != "assistant", body["messages"]))
        topic = self.topic(json.dumps([body.get("system"), before]))
        sent = [_anthropic(message) for message in body["messages"] if message["role"] == "assistant"]
        if not self.accepts(topic, sent):
            return self._error(400, self.words)
        step = step_of(topic, len(sent))
        summing_up = not body.get("tools") and not self.in_text
        content: Any = self.summary(topic, step).content if summing_up else self.message(topic, step).content
        usage = {"input_tokens": 10, "output_tokens": 5}
        reason = "tool_use" if content[-1]["type"] == "tool_use" else "end_turn"
        whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "usage": usage}
        if not body.get("stream"):
            return Answer({**whole, "content": content, "stop_reason": reason, "stop_sequence": None})
        events: list[dict[str, Any]] = [{"type": "message_start", "message": {**whole, "content": []}}]
        for index, block in enumerate(content):
            start, deltas = _anthropic_deltas(block)
            events.append({"type": "content_block_start", "index": index, "content_block": start})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        events.append(
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
        )
        events.append({"type": "message_stop"})
        lines = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        return Answer(lines.encode(), headers={"content-type": "text/event-stream"})

    def kept(self, topic: str, number: int) -> Any:
        content: Any = self.message(topic, step_of(topic, number)).content
        return [content[-1]] if self.in_text else content

    def _error(self, status: int, words: str) -> Answer:
        return Answer({"type": "error", "error": {"type": "invalid_request_error", "message": words}}, status)


class RefusedError(RuntimeError):
    """An error of a client of LangChain's."""

    def __init__(self, status_code: int, words: str) -> None:
        super().__init__(words)
        self.status_code = status_code


class SigningChat(BaseChatModel):
    """A chat model of LangChain's in front of an `AnthropicServer`."""

    model: str
    server: ClassVar[AnthropicServer | None] = None

    @property
    def _llm_type(self) -> str:
        return "signing"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=tools, **kwargs)

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        assert self.server is not None
        reply = self.server.reply(messages, may_call=bool(kwargs.get("tools")))
        if self.server.reports_usage:
            reply.usage_metadata = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        return ChatResult(generations=[ChatGeneration(message=reply)])


class StreamingChat(SigningChat):
    """The same model, whose replies arrive in pieces."""

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        assert self.server is not None
        reply = self.server.reply(messages, may_call=bool(kwargs.get("tools")))
        for index, block in enumerate(reply.content):
            assert isinstance(block, dict)
            for piece in _block_pieces(block):
                yield ChatGenerationChunk(message=AIMessageChunk(content=[{**piece, "index": index}]))
        for index, call in enumerate(reply.tool_calls):
            arguments = json.dumps(call["args"])
            chunk = {"id": call["id"], "name": call["name"], "args": "", "index": index}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))
            for text in pieces(arguments):
                chunk = {"id": None, "name": None, "args": text, "index": index}
                yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))


SERVERS: dict[str, type[StatefulServer]] = {
    "Gemini": GeminiServer,
    "DeepSeek": DeepSeekServer,
    "OpenRouter": OpenRouterServer,
    "Responses": ResponsesServer,
    "LangChain": AnthropicServer,
    "Anthropic": MessagesServer,
}


def _given(message: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are set."""
    return {name: value for name, value in message.items() if value is not None}


def _is_models(item: dict[str, Any]) -> bool:
    """Tell whether an item of Responses is the model's."""
    return item.get("role") == "assistant" or item.get("type") in ("reasoning", "function_call")


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item as a client without stored items sends it back."""
    item = {name: value for name, value in item.items() if name not in ("id", "status")}
    if item["type"] == "message":
        item["content"] = "".join(part["text"] for part in item["content"])
    return item


def _blocks(message: AIMessage) -> dict[str, Any]:
    """Return content and tool calls; a stream numbers the blocks, and Anthropic ignores the numbers."""
    content: Any = message.content
    if not isinstance(content, str):
        content = [{name: value for name, value in block.items() if name != "index"} for block in content]
    return {"content": content, "calls": [(call["id"], call["name"], call["args"]) for call in message.tool_calls]}


def _anthropic(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the content blocks of a message of Anthropic's API, which takes a text for one of them."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _anthropic_deltas(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the start of a content block of a stream, and the pieces that follow."""
    kind = block["type"]
    if kind == "thinking":
        thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
        signed = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": kind, "thinking": "", "signature": ""}, [*thoughts, signed]
    if kind == "text":
        return {"type": kind, "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
    if kind == "tool_use":
        written = pieces(json.dumps(block["input"]))
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in written]
    return block, []


def _block_pieces(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Cut a content block as Anthropic streams it."""
    kind = block["type"]
    if kind == "thinking":
        yield from ({"type": kind, "thinking": piece} for piece in pieces(block["thinking"]))
        yield {"type": kind, "signature": block["signature"]}
    elif kind == "text":
        yield from ({"type": kind, "text": piece} for piece in pieces(block["text"]))
    else:
        yield block


def _events(bodies: Iterable[dict[str, Any]]) -> Answer:
    """Return Server-Sent Events."""
    lines = "".join(f"data: {json.dumps(body)}\n\n" for body in bodies) + "data: [DONE]\n\n"
    return Answer(lines.encode(), headers={"content-type": "text/event-stream"})


def _chunks(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Cut a message of Chat Completions as servers stream it."""
    for delta in _deltas(message):
        yield {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def _deltas(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""} if message["content"] else {"role": "assistant"}
    for name in ("reasoning", "reasoning_content", "content"):
        yield from ({name: piece} for piece in pieces(message.get(name) or ""))
    if "extra_content" in message:
        yield {"extra_content": message["extra_content"]}
    for detail in message.get("reasoning_details", ()):
        grows = next(name for name in ("text", "data", "summary") if name in detail)
        signed = {"signature": detail["signature"]} if "signature" in detail else {}
        fixed = {name: value for name, value in detail.items() if name not in (grows, "signature")}
        for piece in pieces(detail[grows]):
            yield {"reasoning_details": [{**fixed, grows: piece}]}
        if signed:
            yield {"reasoning_details": [{**fixed, **signed}]}
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        yield {"tool_calls": [{**call, "index": index, "function": {"name": function["name"], "arguments": ""}}]}
        for piece in pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}

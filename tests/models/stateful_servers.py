"""Servers that want the state of their earlier replies back, each as one provider does.

A request is refused, with status 400 and the provider's own words, if an earlier message of the model is missing,
changed or out of order. What a server replies follows from the messages before the model's first one and from the
number of the model's messages after them. So it remembers nothing, and the same server accepts a resumed run.
"""

import base64
import hashlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import groupby, takewhile
from typing import Any

from graphwalk.variables import Variables
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
_LABEL = re.compile(r"\| Node \| (\w+)")
"""A node label in the schema of a prompt."""


class StatefulServer:
    """A provider that wants the state of its replies back.

    `replies` counts the replies, `refusals` holds what was expected and what was sent instead. After `closes_after`
    replies every request fails.
    """

    spec: str
    """The model's name in a run."""
    variable: str
    """The variable of the server's address."""
    words: str
    """How the provider refuses a request."""

    def __init__(self, *, closes_after: int | None = None) -> None:
        self.closes_after = closes_after
        self.replies = 0
        self.refusals: list[tuple[Any, Any]] = []
        self.http = ModelServer(self.respond)

    @property
    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of the model's constructor."""
        return {}

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Variables]:
        """Serve, and return the environment in which the model is found."""
        async with self.http:
            yield Variables({self.variable: self.http.url, "OPENAI_API_KEY": "none"})

    def respond(self, request: Request) -> Answer:
        if self.closes_after is not None and self.replies >= self.closes_after:
            return self.refuse(403, "this server is closed")
        before, sent = self.split(request.body)
        topic = json.dumps(before)
        expected = [self.returned(topic, step) for step in range(len(sent))]
        if expected != sent:
            self.refusals.append((expected, sent))
            return self.refuse(400, self.words)
        self.replies += 1
        return Answer(self.reply(topic, len(sent)))

    def refuse(self, status: int, words: str) -> Answer:
        return error(status, words, "invalid_request_error")

    def split(self, body: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        """Return the messages before the model's first one, and the model's messages."""
        raise NotImplementedError

    def returned(self, topic: str, step: int) -> Any:
        """Return the model's message of a step as it must come back."""
        raise NotImplementedError

    def reply(self, topic: str, step: int) -> dict[str, Any]:
        """Return the body of a response."""
        raise NotImplementedError


def calls_of(topic: str, step: int) -> list[tuple[str, str, dict[str, str]]]:
    """Return id, name and arguments of the tool calls of a step, about a label of the schema."""
    label = _LABEL.search(topic)
    named = {"entity_name": label[1]} if label else {}
    return [
        (_digest(topic, step, place), name, {**values, **(named if "entity_name" in values else {})})
        for place, (name, values) in enumerate(STEPS[step])
    ]


def _digest(*parts: object) -> str:
    return "call_" + hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def signature(*parts: object) -> str:
    """Return a text that no other message has and that any change of encoding would break."""
    digest = hashlib.sha512(repr(parts).encode()).digest()
    return SIGNED + base64.b64encode(digest * 3).decode() + "/+é\\u00e9\u2028"


class ChatServer(StatefulServer):
    """Chat Completions: whole messages of the model have to come back."""

    def split(self, body: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        messages = body["messages"]
        before = list(takewhile(lambda message: message["role"] != "assistant", messages))
        return before, [_without_nulls(message) for message in messages if message["role"] == "assistant"]

    def reply(self, topic: str, step: int) -> dict[str, Any]:
        message = self.message(topic, step)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return {"id": "c", "model": "m", "choices": [choice], "usage": usage}

    def message(self, topic: str, step: int) -> dict[str, Any]:
        state = self.state(topic, step)
        if step >= len(STEPS):
            return {"role": "assistant", "content": ANSWER, **state}
        calls = [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(values)},
                **self.call_state(topic, step, place),
            }
            for place, (call_id, name, values) in enumerate(calls_of(topic, step))
        ]
        text = "Two at once." if len(calls) > 1 else None
        return {"role": "assistant", "content": text, "refusal": None, "tool_calls": calls, **state}

    def returned(self, topic: str, step: int) -> Any:
        return _without_nulls(self.message(topic, step))

    def state(self, topic: str, step: int) -> dict[str, Any]:
        """Return the fields of a message that belong to this provider."""
        return {}

    def call_state(self, topic: str, step: int, place: int) -> dict[str, Any]:
        """Return the fields of a tool call that belong to this provider."""
        return {}


class GeminiServer(ChatServer):
    """Gemini 3: a signature on the first of a turn's parallel calls, and on the text of an answer."""

    spec, variable = "gemini/gemini-3-pro", "GEMINI_BASE_URL"
    words = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work."

    def state(self, topic: str, step: int) -> dict[str, Any]:
        return self._signed(topic, step) if step >= len(STEPS) else {}

    def call_state(self, topic: str, step: int, place: int) -> dict[str, Any]:
        return self._signed(topic, step) if place == 0 else {}

    def refuse(self, status: int, words: str) -> Answer:
        return Answer([{"error": {"code": status, "message": words, "status": "INVALID_ARGUMENT"}}], status)

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
        thought = {"type": "reasoning.text", "text": f"Step {step}.", "signature": signature(topic, step), "index": 0}
        hidden = {"type": "reasoning.encrypted", "id": f"rs_{step}", "data": signature(step, topic), "index": 1}
        return {"reasoning": f"Step {step}.", "reasoning_details": [thought, hidden]}


class GroqServer(ChatServer):
    """A server that sends its reasoning and refuses to have it back."""

    spec, variable = "groq/openai/gpt-oss-120b", "GROQ_BASE_URL"
    words = (
        "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning' is "
        "unsupported)]"
    )

    def state(self, topic: str, step: int) -> dict[str, Any]:
        return {"reasoning": f"Step {step}."}

    def returned(self, topic: str, step: int) -> Any:
        return {name: value for name, value in super().returned(topic, step).items() if name != "reasoning"}


class ResponsesServer(StatefulServer):
    """OpenAI's Responses: encrypted reasoning, the phase of each message, and the order of all items."""

    spec, variable = "openai-responses/gpt-5.2", "OPENAI_BASE_URL"
    words = "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."

    def split(self, body: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        assert (body["store"], "reasoning.encrypted_content" in body["include"]) == (False, True)
        before = list(takewhile(lambda item: not _is_models(item), body["input"]))
        return before, [list(group) for models, group in groupby(body["input"], _is_models) if models]

    def reply(self, topic: str, step: int) -> dict[str, Any]:
        usage = {"input_tokens": 10, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}}
        return {"id": "r", "model": "m", "status": "completed", "output": self.output(topic, step), "usage": usage}

    def output(self, topic: str, step: int) -> list[dict[str, Any]]:
        if step >= len(STEPS):
            return [self._thought(topic, step, 0), self._message(ANSWER, "final_answer")]
        first, *others = (
            {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name, "status": "completed"}
            | {"arguments": json.dumps(values)}
            for call_id, name, values in calls_of(topic, step)
        )
        comment = self._message(f"Next comes step {step}.", "commentary")
        return [self._thought(topic, step, 0), comment, self._thought(topic, step, 1), first, *others]

    def returned(self, topic: str, step: int) -> Any:
        items = [{k: v for k, v in item.items() if k not in ("id", "status")} for item in self.output(topic, step)]
        for item in items:
            if item["type"] == "message":
                item["content"] = "".join(part["text"] for part in item["content"])
        return items

    def _thought(self, topic: str, step: int, place: int) -> dict[str, Any]:
        summary = [{"type": "summary_text", "text": f"Step {step}."}] if place else []
        secret = signature(topic, step, place)
        return {"type": "reasoning", "id": f"rs_{step}_{place}", "summary": summary, "encrypted_content": secret}

    def _message(self, text: str, phase: str) -> dict[str, Any]:
        part = {"type": "output_text", "text": text, "annotations": []}
        message = {"type": "message", "id": "msg", "status": "completed", "role": "assistant"}
        return {**message, "phase": phase, "content": [part]}


class AnthropicServer(StatefulServer):
    """Anthropic's own API, called by `langchain_anthropic.ChatAnthropic`. All messages have the same id."""

    spec = "langchain/langchain_anthropic.ChatAnthropic/claude-of-the-tests"
    variable = "ANTHROPIC_BASE_URL"
    words = (
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
        "modified. These blocks must remain as they were in the original response."
    )

    @property
    def arguments(self) -> dict[str, Any]:
        address = self.http.url.removesuffix("/v1")
        thinking = {"type": "enabled", "budget_tokens": 1024}
        return {"base_url": address, "max_retries": 0, "max_tokens": 4096, "thinking": thinking}

    def respond(self, request: Request) -> Answer:
        """Return an answer after which the client, which LangChain never closes, leaves no connection open."""
        answer = super().respond(request)
        return replace(answer, headers={**answer.headers, "connection": "close"})

    def refuse(self, status: int, words: str) -> Answer:
        return Answer({"type": "error", "error": {"type": "invalid_request_error", "message": words}}, status)

    def split(self, body: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        messages = body["messages"]
        before = list(takewhile(lambda message: message["role"] != "assistant", messages))
        contents = [message["content"] for message in messages if message["role"] == "assistant"]
        sent = [[{"type": "text", "text": one}] if isinstance(one, str) else one for one in contents]
        return [body.get("system"), before], sent

    def reply(self, topic: str, step: int) -> dict[str, Any]:
        content = self.returned(topic, step)
        reason = "tool_use" if content[-1]["type"] == "tool_use" else "end_turn"
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content}
        usage = {"input_tokens": 10, "output_tokens": 5}
        return {**message, "usage": usage, "stop_reason": reason, "stop_sequence": None}

    def returned(self, topic: str, step: int) -> Any:
        thoughts = self.thoughts(topic, step)
        if step >= len(STEPS):
            return [*thoughts, {"type": "text", "text": ANSWER}]
        calls = [
            {"type": "tool_use", "id": call_id, "name": name, "input": values}
            for call_id, name, values in calls_of(topic, step)
        ]
        return [*thoughts, {"type": "text", "text": f"Step {step}."}, *calls]

    def thoughts(self, topic: str, step: int) -> list[dict[str, Any]]:
        return [
            {"type": "thinking", "thinking": f"Step {step}.", "signature": signature(topic, step)},
            {"type": "redacted_thinking", "data": signature(step, topic)},
        ]


SERVERS: dict[str, type[StatefulServer]] = {
    "Gemini": GeminiServer,
    "DeepSeek": DeepSeekServer,
    "OpenRouter": OpenRouterServer,
    "Responses": ResponsesServer,
    "Anthropic": AnthropicServer,
}


def _without_nulls(message: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in message.items() if value is not None}


def _is_models(item: dict[str, Any]) -> bool:
    """Tell whether an item of Responses is the model's."""
    return item.get("role") == "assistant" or item.get("type") in ("reasoning", "function_call")

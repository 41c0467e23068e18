"""Servers that want their earlier replies back as they were, each as one API does.

A request is refused with status 400 if a message of the model in it is not, field by field, what the server replied in
that turn of some conversation.
"""

import json
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import groupby
from typing import Any

from graphwalk.variables import Variables
from tests.models.server import Answer, ModelServer, Request, chat, error, responses

CALLS = (1, 2, 1, 0)
"""The number of tool calls of each turn. The last one is the answer."""
ANSWER = "[]"
TURNS = len(CALLS)
SIGNED = "signed:"
"""How each signature begins."""


class StatefulServer:
    """`replies` counts the replies, `refusals` holds the messages refused. After `closes_after` replies all requests fail."""

    spec: str
    """The model's name in a run."""
    variable: str
    """The variable of the server's address."""
    words = "The state of an earlier message is missing."
    refusal_status = 400

    def __init__(self) -> None:
        self.closes_after: int | None = None
        self.replies = 0
        self.refusals: list[list[Any]] = []
        self.http = ModelServer(self.respond)
        self._expected: dict[int, list[Any]] = defaultdict(list)
        """By turn, what has to come back."""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Variables]:
        """Serve, and return the environment in which the model is found."""
        async with self.http:
            yield Variables({self.variable: self.http.url, "OPENAI_API_KEY": "none"})

    def respond(self, request: Request) -> Answer:
        if self.closes_after is not None and self.replies >= self.closes_after:
            return error(403, "this server is closed")
        messages = self.messages_of_model(request.body)
        for turn, message in enumerate(messages):
            if message not in self._expected[turn]:
                self.refusals.append(messages)
                return error(self.refusal_status, self.words)

        turn = len(messages)
        self.replies += 1
        text = f"Turn {turn}."
        arguments = json.dumps({"thought": text})
        calls = [(f"call_{self.replies}_{number}", arguments) for number in range(CALLS[turn])]
        body, expected = self.reply(text if calls else ANSWER, calls)
        self._expected[turn].append(expected)
        return Answer(body)

    def signature(self, use: str = "") -> str:
        """Return a text that no other reply has and that any change of encoding would break."""
        return f"{SIGNED}{self.replies}{use}/+é\\u00e9\u2028=="

    def messages_of_model(self, body: dict[str, Any]) -> list[Any]:
        raise NotImplementedError

    def reply(self, text: str, calls: list[tuple[str, str]]) -> tuple[dict[str, Any], Any]:
        """Return the body of a response with a text and calls (id, arguments) of `think`, and what has to come back."""
        raise NotImplementedError


class ChatServer(StatefulServer):
    """Fields of a message, as of DeepSeek and OpenRouter, and of the first call or an answer, as of Gemini."""

    spec, variable = "gemini/gemini-3-pro", "GEMINI_BASE_URL"

    def messages_of_model(self, body: dict[str, Any]) -> list[Any]:
        return [message for message in body["messages"] if message["role"] == "assistant"]

    def reply(self, text: str, calls: list[tuple[str, str]]) -> tuple[dict[str, Any], Any]:
        body = chat(text, [("think", arguments) for _, arguments in calls], **self.fields())
        message = body["choices"][0]["message"]
        for place, (call_id, _) in enumerate(calls):
            message["tool_calls"][place]["id"] = call_id
        signed = message["tool_calls"][0] if calls else message
        signed["extra_content"] = {"google": {"thought_signature": self.signature()}}
        return body, self.returned(message)

    def fields(self) -> dict[str, Any]:
        thought = {"type": "reasoning.text", "text": "Hm.", "signature": self.signature("text"), "index": 0}
        hidden = {"type": "reasoning.encrypted", "id": "rs", "data": self.signature("data"), "index": 1}
        return {"reasoning_content": "Hm.\n", "reasoning_details": [thought, hidden]}

    def returned(self, message: dict[str, Any]) -> dict[str, Any]:
        return message


class GroqServer(ChatServer):
    """A server that sends its reasoning and refuses to have it back."""

    spec, variable = "groq/openai/gpt-oss-120b", "GROQ_BASE_URL"
    words = "'messages.2' : for 'role:assistant' the following must be satisfied: property 'reasoning' is unsupported"

    def fields(self) -> dict[str, Any]:
        return {"reasoning": "Hm."}

    def returned(self, message: dict[str, Any]) -> dict[str, Any]:
        plain: dict[str, Any] = {"role": "assistant", "content": message["content"]}
        for call in message.get("tool_calls", ()):
            returned_call = dict(call)
            returned_call.pop("extra_content", None)
            plain.setdefault("tool_calls", []).append(returned_call)
        return plain


class TemplateServer(GroqServer):
    """A server whose template fails on a thought beside calls, as of gpt-oss on llama.cpp."""

    spec, variable = "openai-api/llama/gpt-oss", "LLAMA_BASE_URL"
    words = "Cannot pass both content and thinking in an assistant message with tool calls"
    refusal_status = 500


class ResponsesServer(StatefulServer):
    """OpenAI's Responses: encrypted reasoning, the phase of each message, and the order of all items."""

    spec, variable = "openai-responses/gpt-5.2", "OPENAI_BASE_URL"

    def messages_of_model(self, body: dict[str, Any]) -> list[Any]:
        """Items of the model that follow each other are one message; an item of the user or of a tool ends it."""
        messages = []
        for is_of_model, items in groupby(body["input"], _is_of_model):
            if is_of_model:
                messages.append(list(items))
        return messages

    def reply(self, text: str, calls: list[tuple[str, str]]) -> tuple[dict[str, Any], Any]:
        body = responses(text, [("think", arguments) for _, arguments in calls])
        thought, message, *functions = body["output"]
        thought["encrypted_content"] = self.signature()
        message["phase"] = "commentary" if calls else "final_answer"
        for item, (call_id, _) in zip(functions, calls, strict=True):
            item["call_id"] = call_id
        second = {**thought, "id": "rs_2", "encrypted_content": self.signature("second")}
        body["output"] = [thought, message, second, *functions]
        expected = []
        for item in body["output"]:
            returned_item = dict(item)
            returned_item.pop("id", None)
            expected.append(returned_item)
        expected[1]["content"] = text
        return body, expected


SERVERS: dict[str, type[StatefulServer]] = {
    "Chat": ChatServer,
    "Responses": ResponsesServer,
}


def _is_of_model(item: dict[str, Any]) -> bool:
    return item.get("role") == "assistant" or item.get("type") in ("reasoning", "function_call")

"""The model backend `demo`: `demo/MODEL` is a model behind an HTTP server. Adapt the two functions for another API."""

import json
from collections.abc import Sequence
from typing import Any

import aiohttp

from graphwalk.extend import CallOptions, Message, ModelError, Reply, ToolCall, ToolSpec, Usage, Variables

PREFIX = "demo".upper()
RETRYABLE = {408, 409, 425, 429, 500, 502, 503, 504, 529}
"""Statuses after which the same request may succeed."""


class Backend:
    """`name` is what follows the provider; keys and addresses are in `variables`."""

    def __init__(self, name: str, variables: Variables) -> None:
        self.name = f"demo/{name}"
        self._model = name
        self._url = variables.require(f"{PREFIX}_BASE_URL", "it is the address of the server")
        self._key = variables.get(f"{PREFIX}_API_KEY")
        self._session: aiohttp.ClientSession | None = None

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Return the next message. Raise ModelError on a failure; its `retryable` allows another try."""
        if self._session is None:  # it belongs to the event loop of the calls
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._session = aiohttp.ClientSession(headers=headers)
        body = request(self._model, messages, tools, options)
        # A model may have written half a surrogate pair, which UTF-8 cannot encode.
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        headers = {"Content-Type": "application/json"}
        try:
            async with self._session.post(f"{self._url}/chat", data=content, headers=headers) as response:
                text = await response.text()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ModelError(f"{self.name}: no whole reply: {type(error).__name__}", retryable=True) from error
        if response.status != 200:
            failure = f"{self.name} answered {response.status}: {text[:300]}"
            raise ModelError(failure, retryable=response.status in RETRYABLE, status=response.status)
        try:
            return reply(json.loads(text))
        except (ValueError, LookupError, TypeError) as error:
            raise ModelError(f"{self.name} sent no reply: {text[:300]}", retryable=True) from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def request(model: str, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> dict[str, Any]:
    """Return the body of a request. `as_openai` writes messages and tools in the form of Chat Completions."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [message.as_openai() for message in messages],
        "tools": [tool.as_openai() for tool in tools],
        "temperature": options.temperature,
        "max_tokens": options.max_output_tokens,
        "seed": options.seed,
        **options.extra,
    }
    return {name: value for name, value in body.items() if value not in (None, [])}


def reply(body: dict[str, Any]) -> Reply:
    """Read `{"message": {"content": …, "tool_calls": […]}, "usage": {…}, "finish_reason": "stop"}`.

    By the word in `finish_reason` GraphWalk knows if a reply is whole, at its limit, or stopped by the server.
    """
    message, usage = body["message"], body.get("usage") or {}
    calls = tuple(
        ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls") or ()
    )
    return Reply(
        Message("assistant", message.get("content"), calls),
        Usage(usage.get("prompt_tokens"), usage.get("completion_tokens")),
        finish_reason=body.get("finish_reason") or "",
    )

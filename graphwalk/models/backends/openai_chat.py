"""The Chat Completions API: OpenAI itself, and every server that is compatible with it."""

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from graphwalk.errors import ModelError
from graphwalk.models.backends.endpoint import Endpoint
from graphwalk.models.backends.event_stream import joined_chat
from graphwalk.models.backends.failure import reported_error
from graphwalk.models.backends.reply_fields import (
    mapping,
    sendable_arguments,
    sendable_name,
    sequence,
    text,
    tool_calls,
    usage,
)
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec

_ABOUT_STREAMS = re.compile(r"\bnon-?stream|\bstream(?:ing|ed|s)?\b", re.IGNORECASE)


class _Form(NamedTuple):
    """How a server wants its requests: the name of the output limit, and whether its replies are streamed.

    Some servers send nothing but streams: they are asked for one, with the usage at its end if they know how.
    """

    limit: str
    stream: Literal["no", "with_usage", "bare"] = "no"

    def after(self, error: ModelError) -> "_Form | None":
        """The form that a server which refused this one asks for; None: the request was refused for other reasons."""
        said = str(error)
        if error.retryable:
            return None
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return self._replace(limit="max_completion_tokens")
        if self.stream == "with_usage" and "stream_options" in said:
            return self._replace(stream="bare")
        if self.stream == "no" and _ABOUT_STREAMS.search(said):
            return self._replace(stream="with_usage")
        return None

    def as_fields(self) -> dict[str, Any]:
        if self.stream == "no":
            return {}
        return {"stream": True, **({"stream_options": {"include_usage": True}} if self.stream == "with_usage" else {})}


class OpenAIChatModel:
    """A model behind Chat Completions; `model` is the server's name for it."""

    def __init__(self, name: str, endpoint: Endpoint, model: str) -> None:
        self.name = name
        self._endpoint = endpoint
        self._model = model
        self._form = _Form("max_completion_tokens" if endpoint.source == "api.openai.com" else "max_tokens")

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        form = self._form
        while True:
            try:
                reply = await self._complete(messages, tools, options, form)
            except ModelError as error:
                wanted = form.after(error)
                if wanted is None:
                    raise
                form = wanted
            else:
                self._form = form
                return reply

    async def close(self) -> None:
        await self._endpoint.close()

    async def _complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions, form: _Form
    ) -> Reply:
        body = {"model": self._model, "messages": [_wire(message) for message in messages], **form.as_fields()}
        body |= _settings(tools, options, form.limit)
        reply, seconds = await self._endpoint.post("/chat/completions", body)
        if isinstance(reply, list):
            reply = joined_chat(reply, self._endpoint.source)
        return read_reply(reply, seconds, len(messages), self._endpoint.source)


def _settings(tools: Sequence[ToolSpec], options: CallOptions, limit: str) -> dict[str, Any]:
    """`limit` is the server's name for the most tokens of a reply."""
    settings: dict[str, Any] = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        limit: options.max_output_tokens,
        "reasoning_effort": options.reasoning_effort,
        "seed": options.seed,
    }
    if tools:
        settings["tools"] = [tool.as_openai() for tool in tools]
        # OpenAI's default is yes, and its reasoning models refuse the option; other servers need it.
        if options.parallel_tool_calls is False or limit == "max_tokens":
            settings["parallel_tool_calls"] = options.parallel_tool_calls
    return {name: value for name, value in settings.items() if value is not None} | dict(options.extra)


def read_reply(body: Any, seconds: float, sent: int, source: str) -> Reply:
    """The reply in a Chat Completions body. `sent`, the number of messages, makes ids for calls that have none.

    ModelError for a body without a message, or one that reports an error.
    """
    fields = mapping(body)
    if fields.get("error"):
        raise reported_error(fields["error"], source)
    choice = mapping(next(iter(sequence(fields.get("choices"))), None))
    if choice.get("error"):
        raise reported_error(choice["error"], source)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise ModelError(f"{source} sent a reply without a message", retryable=True)
    finish_reason = choice.get("finish_reason")
    return Reply(
        _message(message, sent),
        usage(fields.get("usage")),
        finish_reason if isinstance(finish_reason, str) else "",
        seconds,
        fields["model"] if isinstance(fields.get("model"), str) else "",
    )


def _message(fields: dict[str, Any], sent: int) -> Message:
    wanted = [mapping(call) for call in sequence(fields.get("tool_calls"))]
    functions = [(call.get("id"), mapping(call.get("function"))) for call in wanted]
    if not functions and isinstance(fields.get("function_call"), dict):
        functions = [(None, fields["function_call"])]
    calls = tool_calls(((id_, f.get("name"), f.get("arguments")) for id_, f in functions), f"call_{sent}")
    content = text(fields.get("content"))
    if content is None:
        content = text(fields.get("refusal"))
    reasoning = text(fields.get("reasoning_content") or fields.get("reasoning"))
    return Message("assistant", content, calls, reasoning=reasoning)


def _wire(message: Message) -> dict[str, Any]:
    wire = message.as_openai()
    if message.content is None and not message.tool_calls:
        wire["content"] = ""
    for call in wire.get("tool_calls", ()):
        function = call["function"]
        function["name"] = sendable_name(function["name"])
        function["arguments"] = sendable_arguments(function["arguments"])
    return wire

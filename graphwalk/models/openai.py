"""Models behind OpenAI's Chat Completions and Responses APIs, called with the `openai` package.

The package's own retries are off: those of a run respect budgets. Replies are read as JSON, since servers send fields
that the package does not know. Fields that are not interpreted here are kept in `Message.provider_state`.
"""

import re
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphwalk.errors import ModelError
from graphwalk.models.chat import (
    CallOptions,
    Message,
    Reply,
    ToolSpec,
    compact_json,
    sendable_arguments,
    sendable_name,
)
from graphwalk.models.provider_replies import (
    count,
    mapping,
    reported_error,
    sequence,
    status_error,
    text,
    tool_calls,
    usage,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_SHOWN_CHARACTERS = 200
_UNKNOWN_FIELD = re.compile(r"unsupported|unknown|unrecognized|unexpected|not (?:permitted|allowed|supported)", re.I)
"""Words of a server that refuses the state that it sent, as Groq does."""
TextCallback = Callable[[str], Awaitable[None]] | None


class OpenAIModel(ABC):
    """A model behind a client of `openai`. `limit`: field of the output limit. `lent`: do not close the client."""

    path: str
    format: str
    """The `format` of this API's state in `Message.provider_state`."""

    def __init__(
        self, name: str, client: "AsyncOpenAI", model: str, *, limit: str = "max_tokens", lent: bool = False
    ) -> None:
        self.name = name
        self._client = client
        self._model = model
        self._limit = limit
        self._returns_state = True
        self._lent = lent
        url = client.base_url
        self._source = f"{url.host}:{url.port}" if url.port else url.host

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Return the model's next message. A server that refuses its own state gets none from then on."""
        with_state = self._returns_state
        settings = {"model": self._model, "stream": None if options.on_text is None else True}
        settings |= self._settings(tools, options) | dict(options.extra)
        present = {name: value for name, value in settings.items() if value is not None}
        while True:
            lists = self._lists(messages, tools, with_state)
            written = [f',"{name}":[{",".join(items)}]' for name, items in lists.items() if items]
            body = compact_json(present).removesuffix("}") + "".join(written) + "}"
            started = time.perf_counter()
            try:
                answer = mapping(await self._post(body, bool(present.get("stream")), options.on_text))
                if answer.get("error"):
                    raise reported_error(answer["error"], self._source)
                message, reason = self._read(answer, len(messages))
            except ModelError as error:
                sent = with_state and any(map(self._state_of, messages))
                if not sent or error.retryable or not _UNKNOWN_FIELD.search(str(error)):
                    raise
                with_state = False
            else:
                self._returns_state = self._returns_state and with_state
                model = answer["model"] if isinstance(answer.get("model"), str) else ""
                return Reply(message, usage(answer.get("usage")), reason, time.perf_counter() - started, model)

    async def close(self) -> None:
        if not self._lent:
            await self._client.close()

    @abstractmethod
    def _settings(self, tools: Sequence[ToolSpec], options: CallOptions) -> dict[str, Any]:
        """Return the fields of a request beside its lists; None: not sent."""

    @abstractmethod
    def _lists(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], with_state: bool
    ) -> dict[str, Iterable[str]]:
        """Return the messages and the tools of a request, each as JSON, by the name of their field."""

    @abstractmethod
    def _read(self, fields: dict[str, Any], sent: int) -> tuple[Message, str]:
        """Return message and finish reason. `sent`, the number of messages, is part of generated call ids."""

    @abstractmethod
    async def _join(self, events: AsyncIterable[Any], on_text: TextCallback) -> Any:
        """Join the events of a stream to one body. Raise a retryable ModelError if the stream ends too early."""

    def _state_of(self, message: Message) -> dict[str, Any]:
        """Return this API's state of a message, {} for a message from another API."""
        state = message.provider_state or {}
        return dict(state) if state.get("format") == self.format else {}

    async def _post(self, body: str, stream: bool, on_text: TextCallback) -> Any:
        """Send a request and return the reply's JSON; a stream is joined. Raise ModelError for every failure."""
        import aiohttp
        import openai

        # Version 3 of the package uses httpx2, version 2 httpx.
        http: Any = sys.modules[openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0]]
        # A model may have written half a surrogate pair, which UTF-8 cannot encode.
        content = body.encode("utf-8", "replace")
        try:
            if stream:
                kind = openai.AsyncStream[object]
                events = await self._client.post(
                    self.path, content=content, cast_to=object, stream=True, stream_cls=kind
                )
                async with events:
                    if "text/event-stream" in events.response.headers.get("content-type", ""):
                        return await self._join(events, on_text)
                    response: Any = events.response
                    await response.aread()
            else:
                response = await self._client.post(self.path, content=content, cast_to=http.Response)
            try:
                return response.json()
            except (ValueError, RecursionError) as error:
                page = "html" in response.headers.get("content-type", "")
                cause = f"{self._source} answered {response.status_code} with a broken reply ({type(error).__name__})"
                start = response.content[:_SHOWN_CHARACTERS].decode("utf-8", "replace")
                hint = "a web page answered: check the base URL" if page else ""
                raise ModelError(f"{cause} that begins with {start!r}", hint=hint, retryable=not page) from None
        except openai.APIStatusError as error:
            reason = error.response.text if error.body is None else error.body
            raise status_error(error.status_code, error.response.headers, reason, self._source) from None
        except (openai.APIConnectionError, http.RequestError, http.InvalidURL, aiohttp.ClientError) as error:
            # The package does not wrap all exceptions of its transport and of streams.
            root = error.__cause__ or error
            # Some messages contain the whole address, which may hold a key.
            words = "" if "://" in str(root) else str(root)
            message = f"no reply from {self._source}: {type(root).__name__} {words}".rstrip()
            raise ModelError(message, hint=f"is a server running at {self._source}?", retryable=True) from None
        except openai.APIError as error:  # an event that reports a failure
            raise reported_error(error.body or {"message": error.message}, self._source) from None
        except (ValueError, RecursionError) as error:
            raise ModelError(f"{self._source} sent a broken stream ({type(error).__name__})", retryable=True) from None


class ChatModel(OpenAIModel):
    """A model behind Chat Completions, of OpenAI or a compatible server."""

    path = "/chat/completions"
    format = "chat_completions"

    def _settings(self, tools: Sequence[ToolSpec], options: CallOptions) -> dict[str, Any]:
        # OpenAI's default is yes, and its reasoning models refuse the option; other servers need it.
        parallel = options.parallel_tool_calls is False or self._limit == "max_tokens"
        # Calls are cut off their text anyway, and OpenAI's reasoning models refuse the option.
        stop = options.stop and self._limit == "max_tokens"
        schema = _schema(options)
        return {
            "stream_options": None if options.on_text is None else {"include_usage": True},
            "temperature": options.temperature,
            "top_p": options.top_p,
            self._limit: options.max_output_tokens,
            "reasoning_effort": options.reasoning_effort,
            "seed": options.seed,
            "parallel_tool_calls": options.parallel_tool_calls if tools and parallel else None,
            "tool_choice": options.tool_choice if tools else None,
            "stop": [*options.stop] if stop else None,
            "response_format": {"type": "json_schema", "json_schema": schema} if schema else None,
        }

    def _lists(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], with_state: bool
    ) -> dict[str, Iterable[str]]:
        written = [
            self._with_state(message) if with_state and message.provider_state else message.json for message in messages
        ]
        return {"messages": written, "tools": [tool.json for tool in tools]}

    def _with_state(self, message: Message) -> str:
        """Return a message as JSON with the server's own state."""
        wire, state = message.as_openai(), self._state_of(message)
        state_fields = mapping(state.get("message"))
        if "content" in state_fields and text(state_fields["content"]) != message.content:
            state_fields = _without(state_fields, "content")
        wire |= state_fields
        for call in wire.get("tool_calls", ()):
            more = mapping(mapping(state.get("tool_calls")).get(call["id"]))
            call |= {**more, "function": {**mapping(more.get("function")), **call["function"]}}
        return compact_json(wire)

    def _read(self, fields: dict[str, Any], sent: int) -> tuple[Message, str]:
        choice = mapping(next(iter(sequence(fields.get("choices"))), None))
        if choice.get("error"):
            raise reported_error(choice["error"], self._source)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise ModelError(f"{self._source} sent a reply without a message", retryable=True)
        reason = choice.get("finish_reason")
        wanted = [mapping(call) for call in sequence(message.get("tool_calls"))]
        functions = [(call.get("id"), mapping(call.get("function"))) for call in wanted]
        calls = tool_calls(((id_, f.get("name"), f.get("arguments")) for id_, f in functions), f"call_{sent}")
        content = text(message.get("content"))
        if content is None:
            content = text(message.get("refusal"))
        reasoning = text(message.get("reasoning_content") or message.get("reasoning"))
        state = self._state(message, {call.id: more for call, more in zip(calls, wanted, strict=False)})
        read = Message("assistant", content, calls, reasoning=reasoning, provider_state=state)
        return read, reason if isinstance(reason, str) else ""

    def _state(self, fields: dict[str, Any], calls: Mapping[str, dict[str, Any]]) -> dict[str, Any] | None:
        """Return the fields of a message, and by id of its calls, that are not interpreted; None without any."""
        content = ["content"] if isinstance(fields.get("content"), str) else []
        rest = _without(fields, "role", "tool_calls", *content)
        rest = {name: value for name, value in rest.items() if value is not None}
        of_calls: dict[str, dict[str, Any]] = {}
        for call_id, call in calls.items():
            function = _without(mapping(call.get("function")), "name", "arguments")
            more = _without(call, "id", "type", "function", "index") | ({"function": function} if function else {})
            of_calls |= {call_id: more} if more else {}
        if not rest and not of_calls:
            return None
        return {"format": self.format, "message": rest, **({"tool_calls": of_calls} if of_calls else {})}

    async def _join(self, events: AsyncIterable[Any], on_text: TextCallback) -> Any:
        body: dict[str, Any] = {}
        message: dict[str, Any] = {"role": "assistant", "content": None}
        reason = None
        async for event in events:
            event = mapping(event)
            if event.get("error"):
                return event
            body |= {name: event[name] for name in ("id", "model", "usage") if event.get(name)}
            choice = mapping(next(iter(sequence(event.get("choices"))), None))
            delta = mapping(choice.get("delta") or choice.get("message"))
            reason = choice.get("finish_reason") or reason
            if on_text is not None and (piece := text(delta.get("content"))):
                await on_text(piece)
            for name, piece in delta.items():
                if name != "role":
                    # Mistral sends reasoning in parts and text in strings.
                    piece = text(piece) if name == "content" else piece
                    message[name] = _joined_field(message.get(name), piece, name)
        if reason is None:
            raise ModelError(f"{self._source} ended its stream before the reply was whole", retryable=True)
        if calls := [mapping(call) for call in sequence(message.get("tool_calls"))]:
            message["tool_calls"] = sorted(calls, key=lambda call: count(call.get("index")) or 0)
        return {**body, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


class ResponsesModel(OpenAIModel):
    """A model behind the Responses API, which stores nothing and gets its encrypted reasoning back. It has no seed."""

    path = "/responses"
    format = "responses"

    def _settings(self, tools: Sequence[ToolSpec], options: CallOptions) -> dict[str, Any]:
        schema = _schema(options)
        return {
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "temperature": options.temperature,
            "top_p": options.top_p,
            "max_output_tokens": options.max_output_tokens,
            "reasoning": {"effort": options.reasoning_effort} if options.reasoning_effort else None,
            "parallel_tool_calls": options.parallel_tool_calls if tools else None,
            "tool_choice": options.tool_choice if tools else None,
            "text": {"format": {"type": "json_schema", **schema}} if schema else None,
        }

    def _lists(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], with_state: bool
    ) -> dict[str, Iterable[str]]:
        # Strict mode makes optional parameters required.
        functions = [{"type": "function", "strict": False, **tool.as_openai()["function"]} for tool in tools]
        items = [item for message in messages for item in self._items(message, with_state)]
        return {
            "input": [compact_json(item) for item in items],
            "tools": [compact_json(function) for function in functions],
        }

    def _items(self, message: Message, with_state: bool) -> Iterator[dict[str, Any]]:
        """Yield the items of a message: those of its state in the server's order, if it has any."""
        if message.role == "tool":
            yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content or ""}
            return
        items = sequence(self._state_of(message).get("output")) if with_state else []
        functions = [(c.id, sendable_name(c.name), sendable_arguments(c.arguments)) for c in message.tool_calls]
        calls = {i: {"type": "function_call", "call_id": i, "name": n, "arguments": a} for i, n, a in functions}
        written = "".join(item["content"] for item in items if item["type"] == "message")
        called = [item.get("call_id") for item in items if item["type"] == "function_call"]
        if items and (written, called) == (message.content or "", list(calls)):  # else the message was edited
            for item in items:
                yield item | calls[item["call_id"]] if item["type"] == "function_call" else item
            return
        if message.content or not message.tool_calls:
            yield {"role": message.role, "content": message.content or ""}
        yield from calls.values()

    def _read(self, fields: dict[str, Any], sent: int) -> tuple[Message, str]:
        if not isinstance(fields.get("output"), list) or fields.get("status") in ("failed", "cancelled"):
            raise ModelError(f"{self._source} sent a response without output", retryable=True)
        output = [mapping(item) for item in fields["output"]]
        wanted = [item for item in output if item.get("type") == "function_call"]
        calls = tool_calls(((c.get("call_id"), c.get("name"), c.get("arguments")) for c in wanted), f"call_{sent}")
        parts = [part for item in output if item.get("type") == "message" for part in sequence(item.get("content"))]
        thoughts = [p for item in output if item.get("type") == "reasoning" for p in sequence(item.get("summary"))]
        items = [_returnable(item) for item in output]
        more = any(set(item) - {"type", "role", "content", "call_id", "name", "arguments"} for item in items)
        message = Message(
            "assistant",
            _joined(parts) if parts else None,
            calls,
            reasoning="\n\n".join(text(mapping(part).get("text")) or "" for part in thoughts) or None,
            provider_state={"format": self.format, "output": items} if more else None,
        )
        if fields.get("status") != "incomplete":
            return message, "tool_calls" if calls else "stop"
        why = mapping(fields.get("incomplete_details")).get("reason")
        return message, "length" if why == "max_output_tokens" else text(why) or "incomplete"

    async def _join(self, events: AsyncIterable[Any], on_text: TextCallback) -> Any:
        async for event in events:
            event = mapping(event)
            if event.get("type") == "error" or event.get("error"):
                return {"error": event.get("error") or event}
            if event.get("type") in ("response.completed", "response.incomplete", "response.failed"):
                return event.get("response")
            if on_text is not None and event.get("type") == "response.output_text.delta":
                await on_text(text(event.get("delta")) or "")
        raise ModelError(f"{self._source} ended its stream before the reply was whole", retryable=True)


def _returnable(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item for the next request, without ids, which refer to items stored at the provider."""
    item = {name: value for name, value in item.items() if name not in ("id", "status")}
    if item.get("type") != "message":
        return {"type": "", **item}
    return {**item, "content": _joined(sequence(item.get("content")))}


def _joined(parts: Iterable[Any]) -> str:
    return "".join(text(mapping(part).get("text") or mapping(part).get("refusal")) or "" for part in parts)


def _schema(options: CallOptions) -> dict[str, Any] | None:
    """Return the name and the JSON schema of a reply, None without a schema. OpenAI's strict mode refuses ours."""
    schema = options.response_schema
    return None if schema is None else {"name": "reply", "schema": dict(schema), "strict": False}


def _without(fields: Mapping[str, Any], *read: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in read}


def _joined_field(whole: Any, piece: Any, name: str = "") -> Any:
    """Return a field of a streamed message with one more piece: texts and lists are joined, objects by field."""
    if whole is None or piece is None:
        return piece if whole is None else whole
    if isinstance(whole, str) and isinstance(piece, str):
        return whole if name in ("id", "type", "name", "format", "signature") and whole == piece else whole + piece
    if isinstance(whole, dict) and isinstance(piece, dict):
        return whole | {key: _joined_field(whole.get(key), value, key) for key, value in piece.items()}
    if not (isinstance(whole, list) and isinstance(piece, list)):
        return piece
    joined = list(whole)
    for position, item in enumerate(piece):
        index = mapping(item).get("index")
        if index is None and name == "tool_calls":
            index = position
        same = [n for n, one in enumerate(joined) if index is not None and mapping(one).get("index", n) == index]
        if same:
            joined[same[0]] = _joined_field(joined[same[0]], item)
        else:
            joined.append(item)
    return joined

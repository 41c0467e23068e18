"""Models behind OpenAI's Chat Completions and Responses APIs, called with the `openai` package.

The package's own retries are off: those of a run respect budgets. Replies are read as JSON, since servers send fields
that the package does not know. Fields that are not interpreted here are kept in `Message.provider_state`.
"""

import asyncio
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies

from graphwalk.errors import ModelError
from graphwalk.models.chat import (
    CallOptions,
    Message,
    Reply,
    ToolSpec,
    compact_json,
    json_object,
    sendable_arguments,
    sendable_name,
)
from graphwalk.models.provider_replies import (
    mapping,
    reported_error,
    sequence,
    status_error,
    text,
    tool_calls,
    usage,
)
from graphwalk.sanitise import one_line

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_SHOWN_CHARACTERS = 200
_CONNECT_SECONDS = 10.0
_WINDOW_SECONDS = 2.0
_UNKNOWN_FIELD = re.compile(r"unsupported|unknown|unrecognized|unexpected|not (?:permitted|allowed|supported)", re.I)
"""Words of a server that refuses the state that it sent, as Groq does."""
OPENAI_HOST = "api.openai.com"
TextCallback = Callable[[str], Awaitable[None]] | None


def is_local(host: str) -> bool:
    """Return True for a name or address of this machine."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


class OpenAIModel(ABC):
    """A model behind a client of `openai`.

    `variable`: the prefix of the variables of API key and base URL, for errors. None: the client is the user's, who
    closes it.
    """

    path: str
    format: str
    """The `format` of this API's state in `Message.provider_state`."""
    stream_fields: Mapping[str, Any] = {}
    """Fields of a request for a stream."""

    def __init__(self, name: str, client: "AsyncOpenAI", model: str, variable: str | None = None) -> None:
        self.name = name
        self._client = client
        self._model = model
        self._variable = variable
        self._returns_state = True
        url = client.base_url
        self._source = f"{url.host}:{url.port}" if url.port else url.host
        self._at_openai = url.host == OPENAI_HOST or url.host.endswith(".azure.com")

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Return the model's next message. A server that refuses its own state gets none from then on."""
        with_state = self._returns_state
        try:
            return await self._complete(messages, tools, options, with_state)
        except ModelError as error:
            refused = with_state and not error.retryable and _UNKNOWN_FIELD.search(error.message)
            if not (refused and any(map(self._state_of, messages))):
                raise
        reply = await self._complete(messages, tools, options, with_state=False)
        self._returns_state = False
        return reply

    async def _complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions, with_state: bool
    ) -> Reply:
        fields, lists = self._request(messages, tools, options, with_state)
        stream = True if options.on_text is not None else None
        fields = {"model": self._model, "stream": stream, **fields, **options.extra}
        present = {name: value for name, value in fields.items() if value is not None}
        if present.get("stream"):
            present = {**self.stream_fields, **present}
        written = [f',"{name}":[{",".join(items)}]' for name, items in lists.items() if items]
        body = compact_json(present).removesuffix("}") + "".join(written) + "}"
        started = time.perf_counter()
        answer = mapping(await self._post(body, options.on_text))
        if answer.get("error"):
            raise reported_error(answer["error"], self._source)
        message, reason = self._read(answer, len(messages))
        model = answer["model"] if isinstance(answer.get("model"), str) else ""
        return Reply(message, usage(answer.get("usage")), reason, time.perf_counter() - started, model)

    async def probe(self) -> None:
        """Raise ModelError if no connection to the server can be made. One behind a proxy is not tried.

        A server that is to run on this machine and does not is worth no retry.
        """
        url, local = self._client.base_url, is_local(self._client.base_url.host)
        if self._variable is None or (getproxies() and not local):
            return
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                _, writer = await asyncio.open_connection(url.host, url.port or (443 if url.scheme == "https" else 80))
        except OSError as error:
            reason = "connection refused" if local else one_line(error) or "no connection in time"
            hint = f"start the server, or correct {self._variable}_BASE_URL"
            raise ModelError(f"no server at {self._source}: {reason}", hint=hint, retryable=not local) from None
        writer.close()

    async def context_tokens(self) -> int | None:
        """Return the context window that the server reports, None if it reports none within two seconds.

        Read llama.cpp's `/props`, `/v1/models` of vLLM and others, and `/api/show` of Ollama, which alone has
        `/api/version`, in this order.
        """
        root = str(self._client.base_url).rstrip("/").removesuffix("/v1")
        paths = (f"{root}/props", "/models", f"{root}/api/version")
        props, models, ollama = await asyncio.gather(
            *(self._facts(self._client.get(path, cast_to=object)) for path in paths)
        )
        details = {}
        if ollama:
            show = self._client.post(f"{root}/api/show", cast_to=object, body={"model": self._model})
            details = await self._facts(show)
        listed = map(mapping, sequence(models.get("data")))
        entry = next((entry for entry in listed if entry.get("id") == self._model), {})
        windows = [
            mapping(props.get("default_generation_settings")).get("n_ctx"),
            *map(entry.get, ("max_model_len", "context_length", "context_window")),
            *(n for name, n in mapping(details.get("model_info")).items() if name.endswith(".context_length")),
        ]
        return next((tokens for tokens in windows if type(tokens) is int and tokens > 0), None)

    async def _facts(self, request: Awaitable[object]) -> dict[str, Any]:
        """Return the object that a server replies, {} after any failure: most servers lack most of these paths."""
        with suppress(Exception):
            async with asyncio.timeout(_WINDOW_SECONDS):
                return mapping(await request)
        return {}

    async def close(self) -> None:
        if self._variable is not None:
            await self._client.close()

    @abstractmethod
    def _request(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions, with_state: bool
    ) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """Return the fields of a request (None: not sent), and its lists by their field, with each item as JSON."""

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

    async def _post(self, body: str, on_text: TextCallback) -> Any:
        """Send a request and return the reply's JSON; a stream is joined. Raise ModelError for every failure."""
        import openai

        # A model may have written half a surrogate pair, which UTF-8 cannot encode.
        content = body.encode("utf-8", "replace")
        try:
            # Some servers stream unasked, so the response is opened as a stream.
            events = await self._client.post(
                self.path, content=content, cast_to=object, stream=True, stream_cls=openai.AsyncStream[object]
            )
            async with events:
                if "text/event-stream" in events.response.headers.get("content-type", ""):
                    return await self._join(events, on_text)
                response: Any = events.response
                await response.aread()
        except ModelError:
            raise
        except openai.APIStatusError as error:
            reason = error.response.text if error.body is None else error.body
            key = "the API key" if self._variable is None else f"{self._variable}_API_KEY"
            raise status_error(error.status_code, error.response.headers, reason, self._source, key) from None
        except Exception as error:  # the package wraps some exceptions of its transport, and none of a stream
            if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
                raise reported_error(error.body or {"message": error.message}, self._source) from None
            await self.probe()
            root = error.__cause__ or error
            # Some messages contain the whole address, which may hold a key.
            words = "" if "://" in str(root) else str(root)
            message = f"no whole reply from {self._source}: {type(root).__name__} {words}".rstrip()
            raise ModelError(message, hint=f"is a server running at {self._source}?", retryable=True) from None
        try:
            return response.json()
        except (ValueError, RecursionError) as error:
            page = "html" in response.headers.get("content-type", "")
            cause = f"{self._source} answered {response.status_code} with a broken reply ({type(error).__name__})"
            start = response.content[:_SHOWN_CHARACTERS].decode("utf-8", "replace")
            hint = "a web page answered: check the base URL" if page else ""
            raise ModelError(f"{cause} that begins with {start!r}", hint=hint, retryable=not page) from None


class ChatModel(OpenAIModel):
    """A model behind Chat Completions, of OpenAI or a compatible server."""

    path = "/chat/completions"
    format = "chat_completions"
    stream_fields: Mapping[str, Any] = {"stream_options": {"include_usage": True}}

    def _request(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions, with_state: bool
    ) -> tuple[dict[str, Any], dict[str, list[str]]]:
        # OpenAI's default is yes, and its reasoning models refuse the option; other servers need it.
        parallel = options.parallel_tool_calls is False or not self._at_openai
        # Calls are cut off their text anyway, and OpenAI's reasoning models refuse the option.
        stop = options.stop and not self._at_openai
        schema = options.json_schema
        fields = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            "max_completion_tokens" if self._at_openai else "max_tokens": options.max_output_tokens,
            "reasoning_effort": options.reasoning_effort,
            "seed": options.seed,
            "parallel_tool_calls": options.parallel_tool_calls if tools and parallel else None,
            "tool_choice": options.tool_choice if tools else None,
            "stop": [*options.stop] if stop else None,
            "response_format": {"type": "json_schema", "json_schema": schema} if schema else None,
        }
        written = [
            self._with_state(message) if with_state and message.provider_state else message.json for message in messages
        ]
        return fields, {"messages": written, "tools": [tool.json for tool in tools]}

    def _with_state(self, message: Message) -> str:
        """Return a message as JSON with the server's own state."""
        wire, state = message.as_openai(), self._state_of(message)
        state_fields = dict(mapping(state.get("message")))
        if text(state_fields.get("content")) != message.content:
            state_fields.pop("content", None)
        wire |= state_fields
        for call in wire.get("tool_calls", ()):
            call |= mapping(state.get("tool_calls")).get(call["id"], {})
        return compact_json(wire)

    def _read(self, fields: dict[str, Any], sent: int) -> tuple[Message, str]:
        choice = mapping(next(iter(sequence(fields.get("choices"))), None))
        if choice.get("error"):
            raise reported_error(choice["error"], self._source)
        message, reason = choice.get("message"), choice.get("finish_reason")
        if message is None and reason:
            message = {}  # Gemini, if thoughts take up the whole reply or a call is malformed
        if not isinstance(message, dict):
            raise ModelError(f"{self._source} sent a reply without a message", retryable=True)
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

    def _state(self, fields: dict[str, Any], calls: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
        """Return the fields of a message, and by id of its calls, that are not interpreted; None without any."""
        read = {"role", "tool_calls", *(["content"] if isinstance(fields.get("content"), str) else [])}
        rest = {name: value for name, value in fields.items() if name not in read and value is not None}
        of_calls = {}
        for call_id, call in calls.items():
            if more := {name: call[name] for name in call if name not in ("id", "type", "function", "index")}:
                of_calls[call_id] = more
        if not rest and not of_calls:
            return None
        return {"format": self.format, "message": rest, **({"tool_calls": of_calls} if of_calls else {})}

    async def _join(self, events: AsyncIterable[Any], on_text: TextCallback) -> Any:
        body: dict[str, Any] = {}
        message: dict[str, Any] = {}
        calls: list[dict[str, Any]] = []
        reason = None
        async for event in events:
            event = mapping(event)
            body |= {name: event[name] for name in ("id", "model", "usage") if event.get(name)}
            choice = mapping(next(iter(sequence(event.get("choices"))), None))
            reason = choice.get("finish_reason") or reason
            delta = mapping(choice.get("delta"))
            if not (delta or message or calls):
                delta = mapping(choice.get("message"))  # some servers end with the whole message, or send nothing else
            delta = {name: value for name, value in delta.items() if name != "role"}
            for piece in map(mapping, sequence(delta.pop("tool_calls", None))):
                _add_piece(calls, piece)
            if "content" in delta:
                # Mistral sends reasoning in parts and text in strings.
                delta["content"] = text(delta["content"])
                if on_text is not None and delta["content"]:
                    await on_text(delta["content"])
            message = _joined(message, delta)
        if reason is None:
            raise ModelError(f"{self._source} ended its stream before the reply was whole", retryable=True)
        message = {"role": "assistant", "content": None, **message, "tool_calls": calls}
        return {**body, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


class ResponsesModel(OpenAIModel):
    """A model behind the Responses API, which stores nothing and gets its encrypted reasoning back. It has no seed."""

    path = "/responses"
    format = "responses"

    def _request(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions, with_state: bool
    ) -> tuple[dict[str, Any], dict[str, list[str]]]:
        schema = options.json_schema
        fields = {
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
        # Strict mode makes optional parameters required.
        functions = [{"type": "function", "strict": False, **tool.as_openai()["function"]} for tool in tools]
        items = [item for message in messages for item in self._items(message, with_state)]
        return fields, {"input": list(map(compact_json, items)), "tools": list(map(compact_json, functions))}

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
            _text_of(parts) if parts else None,
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
            if event.get("type") == "error":
                return {"error": event}
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
    return {**item, "content": _text_of(sequence(item.get("content")))}


def _text_of(parts: Iterable[Any]) -> str:
    return "".join(text(mapping(part).get("text") or mapping(part).get("refusal")) or "" for part in parts)


def _add_piece(calls: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    """Add a piece of a streamed call to the call that it continues, or begin a call with it.

    Servers leave out `index` and `id`, or repeat them for all calls: a name with another id, or after whole arguments,
    begins a call.
    """
    function, index, call_id = mapping(piece.get("function")), piece.get("index"), piece.get("id")
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        arguments = compact_json(arguments)
        piece = {**piece, "function": {**function, "arguments": arguments}}
    of_index = [call for call in calls if index is None or call.get("index") == index]
    of_id = [call for call in of_index if call_id and call.get("id") == call_id]
    for call in (of_id or of_index)[-1:]:
        another = call_id and call.get("id", call_id) != call_id
        whole = json_object(mapping(call.get("function")).get("arguments") or "") is not None
        if not (function.get("name") and (another or (whole and arguments))):
            # Some servers draw an id for each piece.
            call |= _joined(call, {**piece, "id": call.get("id") or call_id})
            return
    calls.append(piece)


def _joined(whole: Any, piece: Any, name: str = "") -> Any:
    """Return a field of a streamed message with one more piece: texts and lists are joined, objects by field."""
    if isinstance(whole, dict) and isinstance(piece, dict):
        return whole | {key: _joined(whole.get(key), value, key) for key, value in piece.items()}
    if isinstance(whole, str) and isinstance(piece, str):
        return whole if name in ("id", "type", "name", "format", "signature") and whole == piece else whole + piece
    if not (isinstance(whole, list) and isinstance(piece, list)):
        return whole if piece is None else piece
    joined = list(whole)
    for item in piece:
        index = mapping(item).get("index")
        places = [n for n, one in enumerate(joined) if index is not None and mapping(one).get("index", n) == index]
        if places:
            joined[places[0]] = _joined(joined[places[0]], item)
        else:
            joined.append(item)
    return joined

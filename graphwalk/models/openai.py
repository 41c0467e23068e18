"""Models behind OpenAI's Chat Completions and Responses APIs, called with the `openai` package.

The package's own retries are off: those of a run respect budgets. Replies are read as JSON, since servers send fields
that the package does not know. Fields that are not interpreted here are kept in `Message.provider_state`.
"""

import asyncio
import json
import re
import ssl
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from urllib.request import getproxies

from graphwalk.errors import ModelError
from graphwalk.models.chat import (
    CallOptions,
    Message,
    Reply,
    ToolSpec,
    compact_json,
    json_object,
)
from graphwalk.models.finish_reasons import is_cut_off, is_of_model
from graphwalk.models.provider_replies import (
    SHOWN_CHARACTERS,
    UnreadableCallError,
    mapping,
    reported_error,
    sequence,
    status_error,
    text,
    tool_calls,
    usage,
    without_reply,
)
from graphwalk.sanitise import one_line

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

JsonObject = dict[str, Any]
"""An object of a request or a reply. Of a reply nothing is known before it is checked."""

_CONNECT_SECONDS = 10.0
_WINDOW_SECONDS = 2.0
_SAYS_NOTHING_OF_STATE = frozenset({None, 401, 402, 403, 404, 408, 409, 413, 425, 429, 503, 504, 529})
"""Statuses of errors about other things: a key, a name, a rate, a load. Groq refuses its own state with 400, the
template of a model in llama.cpp with 500."""
_STREAM = re.compile(rb"\s*(?:data|event|id|retry)?:")
"""The beginning of a stream: a field, or a comment. JSON has none."""
_LONGEST_FIELD = len("retry:")
_MOST_SPACE = 4096
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DONE = "[DONE]"
OPENAI_HOST = "api.openai.com"
_AZURE_HOSTS = (".azure.com", ".azure.us", ".azure.cn")
TextCallback = Callable[[str], Awaitable[None]] | None


def is_local(host: str) -> bool:
    """Return True for a name or address of this machine."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _path_of(client: "AsyncOpenAI", path: str, model: str) -> str:
    """Return the path of an API. Azure's client finds the deployment in a body that is an object; ours is bytes."""
    from openai import AsyncAzureOpenAI

    has_deployment = "/deployments/" in client.base_url.path
    if not isinstance(client, AsyncAzureOpenAI) or has_deployment or path != ChatModel.path:
        return path
    return f"/deployments/{quote(model, safe='')}{path}"


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
        self._state_failures = 0
        url = client.base_url
        self._source = f"{url.host}:{url.port}" if url.port else url.host
        self._at_openai = url.host == OPENAI_HOST or url.host.endswith(_AZURE_HOSTS)
        self._path = _path_of(client, self.path, model)

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Return the model's next message. A server that refuses its own state gets one try without it.

        If that helps it gets none from then on. An error of status 500 may have passed by itself: it counts the second
        time.
        """
        with_state = self._returns_state
        try:
            return await self._complete(messages, tools, options, with_state)
        except ModelError as error:
            if not with_state or not self._may_refuse_state(error, messages):
                raise
            refusal = error
        try:
            reply = await self._complete(messages, tools, options, with_state=False)
        except ModelError:
            raise refusal from None
        self._state_failures += 1
        self._returns_state = refusal.retryable and self._state_failures < 2
        return reply

    def _may_refuse_state(self, error: ModelError, messages: Sequence[Message]) -> bool:
        """Return True if a server may have refused its own state, whatever its words."""
        if error.status in _SAYS_NOTHING_OF_STATE or error.context_overflow or isinstance(error, UnreadableCallError):
            return False
        return any(self._state_of(message) for message in messages)

    async def _complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions, with_state: bool
    ) -> Reply:
        body = self._body(messages, tools, options, with_state)
        started = time.perf_counter()
        answer = await self._post(body, options.on_text)

        # An error may come in a good status.
        if isinstance(answer, list) and answer:
            answer = answer[0]
        fields = mapping(answer)
        if fields.get("error"):
            raise reported_error(fields["error"], self._source)
        read = self._read(fields, len(messages))
        if read is None:
            raise without_reply(answer, self._source)

        message, finish_reason = read
        return Reply(
            message,
            usage(fields.get("usage")),
            finish_reason,
            seconds=time.perf_counter() - started,
            model=fields["model"] if isinstance(fields.get("model"), str) else "",
        )

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions, with_state: bool
    ) -> JsonObject:
        """Return the request. `options.extra` replaces other options, and removes those for which it has None."""
        fields: JsonObject = {"model": self._model}
        if options.on_text is not None:
            fields["stream"] = True
        fields.update(self._options(tools, options))
        fields.update(options.extra)

        if fields.get("stream"):
            fields = {**self.stream_fields, **fields}

        body = {name: value for name, value in fields.items() if value is not None}
        for name, items in self._conversation(messages, tools, with_state).items():
            if items:
                body[name] = items
        return body

    async def probe(self) -> None:
        """Raise ModelError if no connection to the server can be made. One behind a proxy is not tried.

        A server that is to run on this machine and does not is worth no retry.
        """
        url = self._client.base_url
        local = is_local(url.host)
        if self._variable is None or (getproxies() and not local):
            return

        usual_port = 443 if url.scheme == "https" else 80
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                _, writer = await asyncio.open_connection(url.host, url.port or usual_port)
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
        props, models, ollama = await asyncio.gather(
            self._facts(self._client.get(f"{root}/props", cast_to=object)),
            self._facts(self._client.get("/models", cast_to=object)),
            self._facts(self._client.get(f"{root}/api/version", cast_to=object)),
        )

        # {"default_generation_settings": {"n_ctx": 8192}}
        windows = [mapping(props.get("default_generation_settings")).get("n_ctx")]

        # {"data": [{"id": "my-model", "max_model_len": 8192}]}
        for listed in sequence(models.get("data")):
            entry = mapping(listed)
            if entry.get("id") == self._model:
                windows.extend(entry.get(name) for name in ("max_model_len", "context_length", "context_window"))
                break

        # {"model_info": {"llama.context_length": 8192}}
        if ollama:
            show = self._client.post(f"{root}/api/show", cast_to=object, body={"model": self._model})
            details = await self._facts(show)
            for name, value in mapping(details.get("model_info")).items():
                if name.endswith(".context_length"):
                    windows.append(value)

        for tokens in windows:
            if type(tokens) is int and tokens > 0:
                return tokens
        return None

    async def _facts(self, request: Awaitable[object]) -> JsonObject:
        """Return the object that a server replies, {} after any failure: most servers lack most of these paths."""
        with suppress(Exception):
            async with asyncio.timeout(_WINDOW_SECONDS):
                return mapping(await request)
        return {}

    async def close(self) -> None:
        if self._variable is not None:
            await self._client.close()

    @abstractmethod
    def _options(self, tools: Sequence[ToolSpec], options: CallOptions) -> JsonObject:
        """Return the fields of a request beside the conversation; None: not sent."""

    @abstractmethod
    def _conversation(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], with_state: bool
    ) -> dict[str, list[JsonObject]]:
        """Return messages and tools by their fields of a request; an empty list is not sent."""

    @abstractmethod
    def _read(self, fields: JsonObject, sent: int) -> tuple[Message, str] | None:
        """Return message and finish reason, None without the part of a response where this API's replies are.

        `sent`, the number of messages, is part of generated call ids.
        """

    @abstractmethod
    async def _join(self, events: AsyncIterable[JsonObject | None], on_text: TextCallback) -> Any:
        """Join the events of a stream, and None for `[DONE]`, to one body.

        Raise a retryable ModelError if the stream ends too early.
        """

    def _state_of(self, message: Message) -> JsonObject:
        """Return this API's state of a message, {} for a message from another API."""
        state = message.provider_state or {}
        return dict(state) if state.get("format") == self.format else {}

    async def _post(self, body: JsonObject, on_text: TextCallback) -> Any:
        """Send a request and return the reply's JSON; a stream is joined. Raise ModelError for every failure."""
        import openai

        # A model may have written half a surrogate pair, which UTF-8 cannot encode: given the body, the package raises.
        content = compact_json(body).encode("utf-8", "replace")
        try:
            opened = await self._client.post(
                self._path, content=content, cast_to=object, stream=True, stream_cls=openai.AsyncStream[object]
            )
            async with opened:
                return await self._read_response(opened.response, on_text)
        except ModelError:
            raise
        except openai.APIStatusError as error:
            raise self._refusal(error) from None
        except Exception as error:  # the package wraps some exceptions of its transport, and none of a stream
            raise await self._no_whole_reply(error) from None

    async def _read_response(self, response: Any, on_text: TextCallback) -> Any:
        """Return the JSON of a response. Its beginning decides if it is a stream: many headers are wrong."""
        chunks = response.aiter_bytes()
        content = b""
        async for chunk in chunks:
            content = (content + chunk).removeprefix(_BYTE_ORDER_MARK)
            if len(content.lstrip()) >= _LONGEST_FIELD or len(content) > _MOST_SPACE:
                break
        if _STREAM.match(content):
            return await self._join(self._events(content, chunks), on_text)

        parts = [content]
        async for chunk in chunks:
            parts.append(chunk)
        return self._json_of(b"".join(parts), response)

    async def _events(self, start: bytes, chunks: AsyncIterable[bytes]) -> AsyncIterator[JsonObject | None]:
        """Yield the JSON of each event of a stream, and None for `[DONE]`. Raise ModelError for an error in it."""
        async for event_text in _event_texts(start, chunks):
            if event_text.strip() == _DONE:
                yield None
                return
            event = mapping(json.loads(event_text))
            if event.get("error"):
                raise reported_error(event["error"], self._source)
            if event.get("object") == "error":
                raise reported_error(event, self._source)
            yield event

    def _refusal(self, error: "APIStatusError") -> ModelError:
        reason = error.response.text if error.body is None else error.body
        key = "the API key" if self._variable is None else f"{self._variable}_API_KEY"
        return status_error(error.status_code, error.response.headers, reason, self._source, key)

    async def _no_whole_reply(self, error: Exception) -> ModelError:
        """Return the error for a connection that failed. Raise that of `probe` if there is no server."""
        tls_error = _tls_error(error)
        if tls_error is not None:
            return _no_trust(tls_error, self._source)
        await self.probe()
        cause = error.__cause__ or error
        # Some messages contain the whole address, which may hold a key.
        words = "" if "://" in str(cause) else str(cause)
        message = f"no whole reply from {self._source}: {type(cause).__name__} {words}".rstrip()
        return ModelError(message, hint=f"is a server running at {self._source}?", retryable=True)

    def _json_of(self, content: bytes, response: Any) -> Any:
        """Return the JSON of a reply. Raise ModelError with its beginning if it is none."""
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            is_page = "html" in response.headers.get("content-type", "")
            cause = f"{self._source} answered {response.status_code} with a broken reply ({type(error).__name__})"
            start = content[:SHOWN_CHARACTERS].decode("utf-8", "replace")
            hint = "a web page answered: check the base URL" if is_page else ""
            raise ModelError(f"{cause} that begins with {start!r}", hint=hint, retryable=not is_page) from None


async def _event_texts(start: bytes, chunks: AsyncIterable[bytes]) -> AsyncIterator[str]:
    """Yield the data of each event of a stream, an event a line as models' servers write them.

    `data: {"choices": []}` is `{"choices": []}`; comments and other fields are left out.
    """
    rest = b""
    async for chunk in _chained(start, chunks):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[len(b"data:") :].decode()
    if rest.startswith(b"data:"):
        yield rest[len(b"data:") :].decode()


async def _chained(start: bytes, chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    yield start
    async for chunk in chunks:
        yield chunk


def _tls_error(error: BaseException | None) -> ssl.SSLError | None:
    """Return the error of TLS among the causes of an exception, None without one."""
    while error is not None:
        certificate_error = getattr(error, "certificate_error", None)  # of aiohttp, whose own error is one of TLS too
        error = certificate_error or error
        if isinstance(error, ssl.SSLError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _no_trust(error: ssl.SSLError, source: str) -> ModelError:
    """Return the error for a server whose certificate or TLS is refused: it runs, and a retry does not help."""
    if isinstance(error, ssl.SSLCertVerificationError):
        message = f"the certificate of {source} is not trusted: {error.verify_message}"
        hint = "name the file of the authority that signed it: export SSL_CERT_FILE=FILE.pem"
        return ModelError(message, hint=hint)
    return ModelError(f"no TLS with {source}: {one_line(error)}", hint="check the address: https:// or http://")


class ChatModel(OpenAIModel):
    """A model behind Chat Completions, of OpenAI or a compatible server."""

    path = "/chat/completions"
    format = "chat_completions"
    stream_fields: Mapping[str, Any] = {"stream_options": {"include_usage": True}}

    def _options(self, tools: Sequence[ToolSpec], options: CallOptions) -> JsonObject:
        length_field = "max_completion_tokens" if self._at_openai else "max_tokens"
        fields: JsonObject = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            length_field: options.max_output_tokens,
            "reasoning_effort": options.reasoning_effort,
            "seed": options.seed,
        }

        if tools:
            fields["parallel_tool_calls"] = options.parallel_tool_calls
            fields["tool_choice"] = options.tool_choice
        # Calls are cut off their text anyway, and OpenAI's reasoning models refuse the option.
        if options.stop and not self._at_openai:
            fields["stop"] = list(options.stop)
        if options.json_schema:
            fields["response_format"] = {"type": "json_schema", "json_schema": options.json_schema}
        return fields

    def _conversation(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], with_state: bool
    ) -> dict[str, list[JsonObject]]:
        written = []
        for message in messages:
            if with_state and message.provider_state:
                written.append(self._with_state(message))
            else:
                written.append(message.as_openai())
        return {"messages": written, "tools": [tool.as_openai() for tool in tools]}

    def _with_state(self, message: Message) -> JsonObject:
        """Return a message with the server's own state, without a content that was edited since."""
        state = self._state_of(message)
        fields_of_server = dict(mapping(state.get("message")))
        if text(fields_of_server.get("content")) != message.content:
            fields_of_server.pop("content", None)

        wire = message.as_openai()
        wire.update(fields_of_server)
        for call in wire.get("tool_calls", ()):
            call.update(mapping(state.get("tool_calls")).get(call["id"], {}))
        return wire

    def _read(self, fields: JsonObject, sent: int) -> tuple[Message, str] | None:
        choice = _first_choice(fields)
        if not choice:
            return None
        if choice.get("error"):
            raise reported_error(choice["error"], self._source)

        message = choice.get("message")
        finish_reason = choice.get("finish_reason")
        if message is None and finish_reason:
            message = {}  # Gemini, if thoughts take up the whole reply or a call is malformed
        if not isinstance(message, dict):
            raise ModelError(f"{self._source} sent a reply without a message", retryable=True)

        written_calls = _written_calls(message)
        parts_of_calls = []
        for call in written_calls:
            function = mapping(call.get("function"))
            parts_of_calls.append((call.get("id"), function.get("name"), function.get("arguments")))
        calls = tool_calls(parts_of_calls, f"call_{sent}")

        content = text(message.get("content"))
        if content is None:
            content = text(message.get("refusal"))
        written_by_id = {call.id: written for call, written in zip(calls, written_calls, strict=True)}
        read = Message(
            "assistant",
            content,
            calls,
            reasoning=text(message.get("reasoning_content") or message.get("reasoning")),
            provider_state=self._state(message, written_by_id),
        )
        return read, finish_reason if isinstance(finish_reason, str) else ""

    def _state(self, message: JsonObject, calls: Mapping[str, JsonObject]) -> JsonObject | None:
        """Return the fields of a message, and by id of its calls, that are not interpreted; None without any."""
        interpreted = {"role", "tool_calls", "function_call"}
        if isinstance(message.get("content"), str):
            interpreted.add("content")
        rest = {name: value for name, value in message.items() if name not in interpreted and value is not None}

        rest_of_calls = {}
        for call_id, call in calls.items():
            rest_of_call = {name: call[name] for name in call if name not in ("id", "type", "function", "index")}
            if rest_of_call:
                rest_of_calls[call_id] = rest_of_call

        if not rest and not rest_of_calls:
            return None
        state: JsonObject = {"format": self.format, "message": rest}
        if rest_of_calls:
            state["tool_calls"] = rest_of_calls
        return state

    async def _join(self, events: AsyncIterable[JsonObject | None], on_text: TextCallback) -> Any:
        streamed = _StreamedChat()
        is_done = False
        async for event in events:
            if event is None:
                is_done = True
                break
            new_text = streamed.add(event)
            if on_text is not None and new_text:
                await on_text(new_text)
        if streamed.finish_reason is None and not (is_done and streamed.has_content):
            raise ModelError(f"{self._source} ended its stream before the reply was whole", retryable=True)
        return streamed.body()


def _first_choice(fields: JsonObject) -> JsonObject:
    choices = sequence(fields.get("choices"))
    return mapping(choices[0]) if choices else {}


def _written_calls(message: JsonObject) -> list[JsonObject]:
    """Return the calls of a message in today's form; `{"function_call": {"name": …}}`, the form of 2023, is one."""
    calls = [mapping(call) for call in sequence(message.get("tool_calls"))]
    old_call = mapping(message.get("function_call"))
    if not calls and old_call.get("name"):
        calls.append({"function": old_call})
    return calls


class ResponsesModel(OpenAIModel):
    """A model behind the Responses API, which stores nothing and gets its encrypted reasoning back. It has no seed."""

    path = "/responses"
    format = "responses"

    def _options(self, tools: Sequence[ToolSpec], options: CallOptions) -> JsonObject:
        fields: JsonObject = {
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "temperature": options.temperature,
            "top_p": options.top_p,
            "max_output_tokens": options.max_output_tokens,
        }
        if options.reasoning_effort:
            fields["reasoning"] = {"effort": options.reasoning_effort}
        if tools:
            fields["parallel_tool_calls"] = options.parallel_tool_calls
            fields["tool_choice"] = options.tool_choice
        if options.json_schema:
            fields["text"] = {"format": {"type": "json_schema", **options.json_schema}}
        return fields

    def _conversation(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], with_state: bool
    ) -> dict[str, list[JsonObject]]:
        items = []
        for message in messages:
            items.extend(self._items(message, with_state))
        # Strict mode makes optional parameters required.
        functions = [{"type": "function", "strict": False, **tool.as_openai()["function"]} for tool in tools]
        return {"input": items, "tools": functions}

    def _items(self, message: Message, with_state: bool) -> list[JsonObject]:
        """Return the items of a message: those of its state in the server's order, if it has any."""
        if message.role == "tool":
            return [{"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content or ""}]

        calls: dict[str, JsonObject] = {}
        for call in message.tool_calls:
            sent = call.sendable()
            calls[call.id] = {
                "type": "function_call",
                "call_id": sent.id,
                "name": sent.name,
                "arguments": sent.arguments,
            }

        items_of_server = sequence(self._state_of(message).get("output")) if with_state else []
        if items_of_server and _are_of(items_of_server, message.content or "", list(calls)):
            items = []
            for item in items_of_server:
                if item["type"] == "function_call":
                    item = item | calls[item["call_id"]]
                items.append(item)
            return items

        items = list(calls.values())
        if message.content or not message.tool_calls:
            items.insert(0, {"role": message.role, "content": message.content or ""})
        return items

    def _read(self, fields: JsonObject, sent: int) -> tuple[Message, str] | None:
        if not isinstance(fields.get("output"), list):
            return None
        output = [mapping(item) for item in fields["output"]]
        parts_of_calls = []
        parts_of_text: list[Any] = []
        thoughts: list[Any] = []
        for item in output:
            kind = item.get("type")
            if kind == "function_call":
                parts_of_calls.append((item.get("call_id"), item.get("name"), item.get("arguments")))
            elif kind == "message":
                parts_of_text.extend(_parts(item.get("content")))
            elif kind == "reasoning":
                thoughts.extend(sequence(item.get("summary")))

        calls = tool_calls(parts_of_calls, f"call_{sent}")
        reasoning = "\n\n".join(text(mapping(thought).get("text")) or "" for thought in thoughts)
        message = Message(
            "assistant",
            _text_of(parts_of_text) if parts_of_text else None,
            calls,
            reasoning=reasoning or None,
            provider_state=self._state([_returnable(item) for item in output]),
        )
        return message, _finish_reason(fields, has_calls=bool(calls))

    def _state(self, items: list[JsonObject]) -> JsonObject | None:
        """Return the items as state if one has a field that is not interpreted, None without any."""
        interpreted = {"type", "role", "content", "call_id", "name", "arguments"}
        if all(item.keys() <= interpreted for item in items):
            return None
        return {"format": self.format, "output": items}

    async def _join(self, events: AsyncIterable[JsonObject | None], on_text: TextCallback) -> Any:
        async for event in events:
            if event is None:
                break
            if event.get("type") == "error":
                return {"error": event}
            if event.get("type") in ("response.completed", "response.incomplete", "response.failed"):
                return event.get("response")
            if on_text is not None and event.get("type") == "response.output_text.delta":
                await on_text(text(event.get("delta")) or "")
        raise ModelError(f"{self._source} ended its stream before the reply was whole", retryable=True)


def _are_of(items: Iterable[JsonObject], content: str, call_ids: list[str]) -> bool:
    """Return False for items of a message that was edited since: they have another text, or other calls."""
    written = ""
    called = []
    for item in items:
        if item["type"] == "message":
            written += item["content"]
        elif item["type"] == "function_call":
            called.append(item.get("call_id"))
    return written == content and called == call_ids


def _finish_reason(fields: JsonObject, *, has_calls: bool) -> str:
    """Return the finish reason in the words of Chat Completions."""
    status = fields.get("status") or "completed"
    if status == "completed":
        return "tool_calls" if has_calls else "stop"
    if status != "incomplete":
        return text(status) or ""

    # {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    reason = text(mapping(fields.get("incomplete_details")).get("reason")) or ""
    if is_cut_off(reason):
        return "length"
    return reason if reason and is_of_model(reason) else status


def _returnable(item: JsonObject) -> JsonObject:
    """Return an item for the next request, without ids, which refer to items stored at the provider."""
    item = {name: value for name, value in item.items() if name not in ("id", "status")}
    if item.get("type") != "message":
        return {"type": "", **item}
    item["content"] = _text_of(_parts(item.get("content")))
    return item


def _parts(content: Any) -> list[Any]:
    """Return the parts of the content of a message; some servers send a text instead of a list."""
    return [{"text": content}] if isinstance(content, str) else sequence(content)


def _text_of(parts: Iterable[Any]) -> str:
    """Return the text of the parts of a message: `[{"text": "Ida"}, {"refusal": "no"}]` is "Idano"."""
    texts = []
    for part in parts:
        fields = mapping(part)
        texts.append(text(fields.get("text") or fields.get("refusal")) or "")
    return "".join(texts)


class _StreamedChat:
    """A reply of Chat Completions, put together from the events of its stream.

    Two events, and the message of the body that they make:

        {"choices": [{"delta": {"role": "assistant", "content": "It is"}}]}
        {"choices": [{"delta": {"content": " Ida."}, "finish_reason": "stop"}]}

        {"role": "assistant", "content": "It is Ida.", "tool_calls": []}
    """

    def __init__(self) -> None:
        self.finish_reason: Any = None
        self._fields: JsonObject = {}
        self._message: JsonObject = {}
        self._calls: list[JsonObject] = []

    @property
    def has_content(self) -> bool:
        """True if the model has written anything: text, a thought or a call."""
        return bool(self._calls) or any(self._message.values())

    def add(self, event: JsonObject) -> str | None:
        """Add an event, and return the text in it."""
        for name in ("id", "model", "usage"):
            if event.get(name):
                self._fields[name] = event[name]
        choice = _first_choice(event)
        self.finish_reason = choice.get("finish_reason") or self.finish_reason

        delta = dict(mapping(choice.get("delta")))
        if not delta and not self._message and not self._calls:
            # Some servers end with the whole message, or send nothing else.
            delta = dict(mapping(choice.get("message")))
        delta.pop("role", None)

        for piece in sequence(delta.pop("tool_calls", None)):
            _add_piece(self._calls, mapping(piece))
        if "content" in delta:
            # Mistral sends reasoning in parts and text in strings.
            delta["content"] = text(delta["content"])
        self._message = _joined(self._message, delta)
        return delta.get("content")

    def body(self) -> JsonObject:
        """Return the reply as it would be without a stream."""
        message = {"role": "assistant", "content": None, **self._message, "tool_calls": self._calls}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        return {**self._fields, "choices": [choice]}


def _add_piece(calls: list[JsonObject], piece: JsonObject) -> None:
    """Add a piece of a streamed call to the call that it continues, or begin a call with it.

    Two pieces of one call:

        {"index": 0, "id": "c1", "function": {"name": "search_nodes", "arguments": ""}}
        {"index": 0, "function": {"arguments": "{\\"text\\": \\"Ida\\"}"}}

    Servers leave out `index` and `id`, or repeat them for all calls: a name with another id, or after whole arguments,
    begins a call.
    """
    function = mapping(piece.get("function"))
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        arguments = compact_json(arguments)
        piece = {**piece, "function": {**function, "arguments": arguments}}

    call = _last_call_of(calls, piece)
    if call is None or _begins_another(piece, call):
        calls.append(piece)
        return
    # Some servers draw an id for each piece.
    continuation = {**piece, "id": call.get("id") or piece.get("id")}
    call.update(_joined(call, continuation))


def _last_call_of(calls: Sequence[JsonObject], piece: JsonObject) -> JsonObject | None:
    """Return the last call with the index of a piece, and with its id if there is one."""
    index = piece.get("index")
    call_id = piece.get("id")
    of_index = [call for call in calls if index is None or call.get("index") == index]
    of_id = [call for call in of_index if call_id and call.get("id") == call_id]
    if of_id:
        return of_id[-1]
    return of_index[-1] if of_index else None


def _begins_another(piece: JsonObject, call: JsonObject) -> bool:
    """Return True if a piece belongs to another call than the one that it seems to continue."""
    function = mapping(piece.get("function"))
    if not function.get("name"):
        return False
    piece_id = piece.get("id")
    if piece_id and call.get("id", piece_id) != piece_id:
        return True
    arguments_so_far = mapping(call.get("function")).get("arguments") or ""
    is_whole = json_object(arguments_so_far) is not None
    return is_whole and bool(function.get("arguments"))


_REPEATED = ("id", "type", "name", "format", "signature")
"""Texts that some servers send whole with every piece."""


def _joined(whole: Any, piece: Any, name: str = "") -> Any:
    """Return a field of a streamed message with one more piece: texts and lists are joined, objects by field."""
    if isinstance(whole, dict) and isinstance(piece, dict):
        joined = dict(whole)
        for field, value in piece.items():
            joined[field] = _joined(whole.get(field), value, field)
        return joined
    if isinstance(whole, str) and isinstance(piece, str):
        is_repeated = name in _REPEATED and whole == piece
        return whole if is_repeated else whole + piece
    if isinstance(whole, list) and isinstance(piece, list):
        return _joined_lists(whole, piece)
    return whole if piece is None else piece


def _joined_lists(whole: list[Any], piece: list[Any]) -> list[Any]:
    """Join the items of the same `index`; others are added."""
    joined = list(whole)
    for item in piece:
        place = _place_of(mapping(item).get("index"), joined)
        if place is None:
            joined.append(item)
        else:
            joined[place] = _joined(joined[place], item)
    return joined


def _place_of(index: Any, items: list[Any]) -> int | None:
    """Return the place of the first item with this `index`; that of an item without one is its place."""
    if index is None:
        return None
    for place, item in enumerate(items):
        if mapping(item).get("index", place) == index:
            return place
    return None

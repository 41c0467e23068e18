"""A real server on loopback that speaks Chat Completions and Responses, and misbehaves on request.

async with ModelServer(lambda request: Answer(chat("hello"))) as server:
    OPENAI_BASE_URL = server.url
"""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from jsonschema import Draft202012Validator


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]
    raw: bytes
    time: float
    """Seconds of the event loop's clock."""

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


@dataclass(frozen=True)
class Answer:
    """A response of the server: `body` as JSON (bytes as they are), and how it misbehaves while doing so.

    `delay`: seconds before the first byte. `then`: after the body, whose length header promises more, the connection is
    reset, hangs, or never ends.
    """

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    then: Literal["", "reset", "hang", "endless"] = ""

    @property
    def last(self) -> bool:
        """The connection serves no further request, and is watched, so that a client who leaves is noticed at once."""
        return bool(self.then or self.delay > 1)

    def payload(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Respond = Callable[[Request], Answer]


def chat(
    content: Any = None, calls: Sequence[tuple[str, Any]] = (), usage: Any = (10, 5), reason: str = "", **message: Any
) -> dict[str, Any]:
    """A Chat Completions body; `calls` are (tool name, arguments), arguments that are no text are written as JSON."""
    tool_calls = [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": _text(arguments)}}
        for i, (name, arguments) in enumerate(calls)
    ]
    if isinstance(usage, tuple):
        usage = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    message = {"role": "assistant", "content": content, **({"tool_calls": tool_calls} if calls else {}), **message}
    reason = reason or ("tool_calls" if calls else "stop")
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def responses(text: str | None = None, calls: Sequence[tuple[str, Any]] = (), **more: Any) -> dict[str, Any]:
    """A Responses body: a reasoning item, the text, the calls."""
    output: list[dict[str, Any]] = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0IHRob3VnaHRz"}
    ]
    if text is not None:
        part = {"type": "output_text", "text": text, "annotations": []}
        output.append({"type": "message", "id": "msg_1", "role": "assistant", "content": [part]})
    for i, (name, arguments) in enumerate(calls):
        call = {"type": "function_call", "id": f"fc_{i}", "call_id": f"call_{i}", "name": name}
        output.append({**call, "arguments": _text(arguments)})
    usage = {"input_tokens": 10, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}}
    return {"id": "resp_1", "status": "completed", "model": "m", "output": output, "usage": usage, **more}


def stream(*events: Any, done: bool = True) -> Answer:
    """Server-Sent Events, after a comment; `done`: a last line ends the stream."""
    text = ": hello\r\n\r\n"
    for event in events:
        text += f"data: {json.dumps(event)}\n\n"
    if done:
        text += "data: [DONE]\n\n"
    return Answer(text.encode(), headers={"content-type": "text/event-stream"})


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> Answer:
    """An error in OpenAI's form; header names with `_` for `-`."""
    body = {"error": {"message": message, "type": "error", "code": code, "param": None}}
    return Answer(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


def in_turn(*turns: Answer | str) -> Respond:
    """Return the function of a server that gives each answer once, the last one for ever. A text is one of either API."""
    left = list(turns)

    def respond(request: Request) -> Answer:
        turn = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(turn, Answer):
            return turn
        return Answer(responses(turn) if request.path.endswith("/responses") else chat(turn))

    return respond


def schema_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a reply in a request, in the form of either API. Fail if it is no valid schema."""
    form = body["text"]["format"] if "text" in body else body["response_format"]
    assert form["type"] == "json_schema"
    described = form if "text" in body else form["json_schema"]
    assert described["name"].isidentifier()
    Draft202012Validator.check_schema(described["schema"])
    assert described["schema"]["type"] == "object"
    return described["schema"]  # type: ignore[no-any-return]


def allows(schema: Mapping[str, Any], value: Any) -> bool:
    return bool(Draft202012Validator(schema).is_valid(value))


class ModelServer:
    """Counts `requests` (kept unless `record` is off) and open `connections`.

    `facts`: answers about the server itself, by path (`/props`, `/v1/models`, `/api/version`, `/api/show`), else status 404;
    `fact_paths` counts these requests.
    """

    def __init__(self, respond: Respond | None = None, *, record: bool = True) -> None:
        self.respond = respond or in_turn("hello")
        self.record = record
        self.url = ""
        self.facts: dict[str, Answer] = {}
        self.fact_paths: Counter[str] = Counter()
        self.requests: list[Request] = []
        self.served: Counter[int] = Counter()
        self.connections = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=1024)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.connections -= 1
            self._tasks.discard(task)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; False where the connection is not to be used again."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in fields}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        request = Request(head[0].split()[1], headers, raw, asyncio.get_running_loop().time())
        if request.path in ("/props", "/v1/models", "/api/version", "/api/show"):
            self.fact_paths[request.path] += 1
            answer = self.facts.get(request.path, error(404))
        else:
            if self.record:
                self.requests.append(request)
            answer = self.respond(request)
        self.served[answer.status] += 1
        gone = asyncio.ensure_future(reader.read(1)) if answer.last else None
        sending = asyncio.ensure_future(_send(writer, answer))
        await asyncio.wait({sending} if gone is None else {sending, gone}, return_when=asyncio.FIRST_COMPLETED)
        if gone is not None:
            gone.cancel()
        if not sending.done():
            sending.cancel()
            return False
        sending.result()
        return gone is None


async def _send(writer: asyncio.StreamWriter, answer: Answer) -> None:
    await asyncio.sleep(answer.delay) if answer.delay else None
    payload = answer.payload()
    length = len(payload) + (1 << 40 if answer.then else 0)
    headers = {"content-type": "application/json", "content-length": str(length), **answer.headers}
    if answer.last:
        headers["connection"] = "close"
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {answer.status} Status\r\n{lines}\r\n".encode("latin-1")
    writer.write(head + payload)
    await writer.drain()
    if answer.then == "hang":
        await asyncio.sleep(math.inf)
    while answer.then == "endless":
        writer.write(b" " * 65536)
        await writer.drain()
        await asyncio.sleep(0)


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)

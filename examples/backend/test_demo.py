"""The backend against a real server on loopback."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from graphwalk_demo import PREFIX, Backend

from graphwalk.extend import CallOptions, Message, ModelError, ToolSpec, Variables

LOOK = ToolSpec("look", "Look at a node.", {"type": "object", "properties": {"key": {"type": "string"}}})
CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"key": "a"}'}}


@asynccontextmanager
async def backend(requests: list[dict[str, Any]], status: int = 200) -> AsyncIterator[Backend]:
    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        requests.append(body)
        called = any(message["role"] == "tool" for message in body["messages"])
        message = {"content": "It is a."} if called else {"tool_calls": [CALL]}
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        return web.json_response({"message": message, "usage": usage, "finish_reason": "stop"}, status=status)

    app = web.Application()
    app.router.add_post("/chat", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    model = Backend("m", Variables({f"{PREFIX}_BASE_URL": f"http://{host}:{port}"}))
    try:
        yield model
    finally:
        await model.close()
        await runner.cleanup()


def test_a_conversation_with_a_tool() -> None:
    requests: list[dict[str, Any]] = []

    async def converse() -> None:
        async with backend(requests) as model:
            messages = [Message("user", "Which one?")]
            first = await model.complete(messages, (LOOK,), CallOptions(max_output_tokens=50))
            (call,) = first.message.tool_calls
            assert (call.name, json.loads(call.arguments)) == ("look", {"key": "a"})
            assert first.usage.total_tokens == 10
            messages += [first.message, Message("tool", "a", tool_call_id=call.id)]
            last = await model.complete(messages, (LOOK,), CallOptions())
            assert last.message.content == "It is a."

    asyncio.run(converse())
    assert requests[0]["max_tokens"] == 50
    assert requests[0]["tools"][0]["function"]["name"] == "look"
    assert [message["role"] for message in requests[1]["messages"]] == ["user", "assistant", "tool"]


@pytest.mark.parametrize(("status", "retryable"), [(503, True), (400, False)])
def test_a_failure(status: int, retryable: bool) -> None:
    async def fail() -> None:
        async with backend([], status) as model:
            await model.complete([Message("user", "hi")], (), CallOptions())

    with pytest.raises(ModelError) as failure:
        asyncio.run(fail())
    assert failure.value.retryable == retryable

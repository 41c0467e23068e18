"""Five checks of a model (`graphwalk doctor MODEL`); a weak model may fail what its backend would pass."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import yaml

from graphwalk.config.resources import data_path
from graphwalk.errors import ModelError
from graphwalk.models.chat import CallOptions, Message, Model, Reply, ToolCall, ToolSpec, Wrapper, json_object

Status = Literal["ok", "failed", "absent"]
Finding = tuple[Status, str]
_LONGEST_DETAIL = 120


@dataclass(frozen=True, slots=True)
class Capability:
    """The result of one check. `absent`: not supported, and not needed. `failed`: promised and not kept."""

    name: str
    status: Status
    detail: str


async def check_model(
    model: Model, *, seconds: float = 120.0, options: CallOptions = CallOptions()
) -> list[Capability]:
    """Check all capabilities in order, each with a timeout of `seconds`. Stop if the first check gets no reply.

    `options` are sent with each call.
    """
    model = _WithOptions(model, options)
    results: list[Capability] = []
    for name, check in _CHECKS.items():
        replied = False
        status: Status = "failed"
        hint = ""
        try:
            async with asyncio.timeout(seconds):
                status, detail = await check(model)
            replied = True
        except TimeoutError:
            detail = f"no reply within {seconds:g} s"
        except ModelError as error:
            detail = error.message
            hint = error.hint
        except Exception as error:
            # The interface allows only ModelError; other exceptions are what this test looks for.
            detail = f"raised {type(error).__name__} instead of ModelError: {error}"
        advice = f"\n→ {hint}" if hint else ""
        results.append(Capability(name, status, detail[:_LONGEST_DETAIL] + advice))
        if not replied and len(results) == 1:
            break
    return results


class _WithOptions(Wrapper):
    """A model that is called with the options of a user, beside those of a check."""

    def __init__(self, inner: Model, options: CallOptions) -> None:
        super().__init__(inner)
        self._options = options

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        options = replace(self._options, response_schema=options.response_schema)
        return await self.inner.complete(messages, tools, options)


async def _plain_text(model: Model) -> Finding:
    reply = await _ask(model, "plain_text")
    content = reply.message.content or ""
    return ("ok" if content.strip() else "failed"), repr(content)


async def _tool_call(model: Model) -> Finding:
    message = (await _ask(model, "tool_call", (_tool(),))).message
    if not message.tool_calls:
        return "absent", f"no tool call: try -o agent.tool_format=text. It wrote {message.content!r}"
    status: Status = "ok"
    for call in message.tool_calls:
        arguments = json_object(call.arguments) or {}
        if call.name != _tool().name or "city" not in arguments:
            status = "failed"
    return status, "; ".join(f"{call.name}({call.arguments})" for call in message.tool_calls)


async def _tool_result(model: Model) -> Finding:
    call = ToolCall("call_1", _tool().name, _requests()["arguments"])
    result = _requests()["result"]
    call_message = Message("assistant", None, (call,))
    result_message = Message("tool", result, tool_call_id=call.id)
    reply = await _ask(model, "tool_call", (_tool(),), call_message, result_message)
    content = reply.message.content or ""
    digits = re.sub(r"\D", "", content)  # models write 493817 as 493,817
    return ("ok" if result in digits else "failed"), f"expected {result!r}, got {content!r}"


async def _response_format(model: Model) -> Finding:
    schema = _requests()["schema"]
    options = CallOptions(response_schema=schema)
    try:
        content = (await _ask(model, "response_format", options=options)).message.content or ""
    except ModelError as error:
        if error.retryable:
            raise
        return "absent", f"refused; use tool_format native or text: {error.message}"
    if (json_object(content) or {}).get("answer") in schema["properties"]["answer"]["enum"]:
        return "ok", content
    return "absent", f"a JSON schema was ignored: {content!r}"


async def _usage(model: Model) -> Finding:
    usage = (await _ask(model, "plain_text")).usage
    cost = "cost not reported" if usage.cost is None else f"cost ${usage.cost:g}"
    if not usage.total_tokens:
        return "absent", "tokens not reported: budgets in tokens cannot be kept"
    return "ok", f"{usage.input_tokens} tokens in, {usage.output_tokens} out; {cost}"


@cache
def _requests() -> dict[str, Any]:
    text = (data_path("templates") / "conformance.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)  # type: ignore[no-any-return]


def _tool() -> ToolSpec:
    return ToolSpec(**_requests()["tool"])


async def _ask(
    model: Model, request: str, tools: Sequence[ToolSpec] = (), *more: Message, options: CallOptions = CallOptions()
) -> Reply:
    return await model.complete([Message("user", _requests()[request]), *more], tools, options)


_CHECKS: dict[str, Callable[[Model], Awaitable[Finding]]] = {
    "plain_text": _plain_text,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "response_format": _response_format,
    "usage": _usage,
}

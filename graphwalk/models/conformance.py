"""Conformance test of a model (`graphwalk doctor`); a weak model may fail what its backend would pass."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal

import yaml

from graphwalk.errors import ModelError
from graphwalk.files.resources import data_path
from graphwalk.models.base import Model
from graphwalk.models.provider_replies import mapping
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec

Status = Literal["ok", "failed", "absent"]
Finding = tuple[Status, str]
Check = Callable[[Model], Awaitable[Finding]]
_LONGEST_DETAIL = 120
_SEPARATOR = re.compile(r"(?<=\d)[,.' \u00a0\u202f](?=\d{3})")
"""Models write 493817 as 493,817."""


@dataclass(frozen=True, slots=True)
class Capability:
    """The result of one check. `absent`: not supported, and not needed. `failed`: promised and not kept."""

    name: str
    status: Status
    detail: str
    seconds: float


async def check_model(model: Model, *, seconds: float = 120.0) -> list[Capability]:
    """Check all capabilities in order, each with a timeout of `seconds`. Stop if the first check gets no reply."""
    results: list[Capability] = []
    for name, check in _CHECKS.items():
        started = time.perf_counter()
        replied = False
        status: Status = "failed"
        try:
            async with asyncio.timeout(seconds):
                status, detail = await check(model)
            replied = True
        except TimeoutError:
            detail = f"no reply within {seconds:g} s"
        except ModelError as error:
            detail = str(error)
            if name == "long_context" and error.context_overflow:
                status, detail = "absent", f"recognised as a context overflow: {error}"
        except Exception as error:
            # The interface allows only ModelError; other exceptions are what this test looks for.
            detail = f"raised {type(error).__name__} instead of ModelError: {error}"
        results.append(Capability(name, status, detail[:_LONGEST_DETAIL], time.perf_counter() - started))
        if not replied and len(results) == 1:
            break
    return results


async def _text(model: Model, request: str) -> Finding:
    """Check that a reply has the text that the request expects, or any text."""
    return _has_text(await _ask(model, request), request)


async def _tool_call(model: Model) -> Finding:
    reply = await _ask(model, "tool_call")
    if not reply.message.tool_calls:
        return "absent", f"no tool call; set tool_protocol to text. It wrote {reply.message.content!r}"
    return _well_formed(reply.message.tool_calls)


async def _parallel_tool_calls(model: Model) -> Finding:
    calls = (await _ask(model, "parallel_tool_calls", parallel_tool_calls=True)).message.tool_calls
    if len({call.id for call in calls}) < len(calls):
        return "failed", "two calls have the same id"
    return _well_formed(calls) if len(calls) > 1 else ("absent", f"{len(calls)} call instead of 2")


async def _tool_result(model: Model) -> Finding:
    words = _requests()
    arguments = json.dumps({"city": words["tool_result"]["city"]})
    call = Message("assistant", None, (ToolCall("call_1", _tool().name, arguments),))
    result = Message("tool", words["tool_result"]["result"], tool_call_id="call_1")
    conversation = [Message("user", words["tool_call"]["user"]), call, result]
    return _has_text(await model.complete(conversation, (_tool(),), CallOptions()), "tool_result")


async def _response_format(model: Model) -> Finding:
    words = _requests()["response_format"]
    answer = {"type": "string", "enum": words["allowed"]}
    schema = {
        "type": "object",
        "properties": {"answer": answer},
        "required": ["answer"],
        "additionalProperties": False,
    }
    try:
        content = (await _ask(model, "response_format", response_schema=schema)).message.content or ""
    except ModelError as error:
        if error.retryable:
            raise
        return "absent", f"refused; use tool_protocol native or text: {error}"
    with suppress(ValueError, RecursionError):
        if mapping(json.loads(content)).get("answer") in words["allowed"]:
            return "ok", content
    return "absent", f"a JSON schema was ignored: {content!r}"


async def _tool_choice(model: Model) -> Finding:
    message = (await _ask(model, "tool_choice", tool_choice="required")).message
    if message.tool_calls:
        return "ok", f"{len(message.tool_calls)} call where none was needed"
    return "absent", f"tool_choice: required was ignored: {message.content!r}"


async def _strict_tools(model: Model) -> Finding:
    """Offer only cities that the question does not name."""
    words = _requests()["strict_tools"]
    city = {"type": "string", "enum": words["allowed"]}
    schema = {"type": "object", "properties": {"city": city}, "required": ["city"], "additionalProperties": False}
    tool = replace(_tool(), parameters=schema, strict=True)
    calls = (await model.complete([Message("user", words["user"])], (tool,), CallOptions())).message.tool_calls
    if not calls:
        return "absent", "no tool call"
    inside = all(mapping(json.loads(call.arguments)).get("city") in words["allowed"] for call in calls)
    return ("ok" if inside else "absent"), f"{calls[0].arguments} with the cities {', '.join(words['allowed'])}"


async def _usage(model: Model) -> Finding:
    usage = (await _ask(model, "options")).usage
    cost = "cost not reported" if usage.cost is None else f"cost ${usage.cost:g}"
    if not usage.total_tokens:
        return "absent", "tokens not reported: budgets in tokens cannot be kept"
    return "ok", f"{usage.input_tokens} tokens in, {usage.output_tokens} out; {cost}"


async def _reasoning_state(model: Model) -> Finding:
    """Check two turns with a tool call between them; the second sends the provider's state of the first."""
    words = _requests()
    question = Message("user", words["tool_call"]["user"])
    first = (await model.complete([question], (_tool(),), CallOptions())).message
    state = first.provider_state
    if not first.tool_calls or state is None:
        return "absent", "no tool call" if not first.tool_calls else "the provider sends no state with its messages"
    results = [Message("tool", words["tool_result"]["result"], tool_call_id=call.id) for call in first.tool_calls]
    try:
        await model.complete([question, first, *results], (_tool(),), CallOptions())
    except ModelError as error:
        return "failed", f"the second turn was refused: {error}"
    return "ok", "the second turn was answered"


async def _errors(model: Model) -> Finding:
    try:
        await _ask(model, "options", extra={"temperature": "hot"})
    except ModelError as error:
        return ("failed", f"called worth another try: {error}") if error.retryable else ("ok", str(error))
    return "absent", "a senseless option was accepted"


@cache
def _requests() -> dict[str, Any]:
    requests = yaml.safe_load((data_path("templates") / "prompts" / "conformance.yaml").read_text(encoding="utf-8"))
    long = requests["long_context"]
    half = long["filler"] * (long["times"] // 2)
    long["user"] = half + long["fact"] + half + long["question"]
    return requests  # type: ignore[no-any-return]


def _tool() -> ToolSpec:
    words = _requests()["tool"]
    city = {"type": "string", "description": words["argument"]}
    parameters = {"type": "object", "properties": {"city": city}, "required": ["city"]}
    return ToolSpec(words["name"], words["description"], parameters)


async def _ask(model: Model, request: str, **options: Any) -> Reply:
    words = _requests()[request]
    tools = (_tool(),) if words.get("tool") else ()
    return await model.complete([Message("user", words["user"])], tools, CallOptions(**options))


def _has_text(reply: Reply, request: str) -> Finding:
    content, expected = reply.message.content or "", _requests()[request].get("expect")
    if expected is None:
        return ("ok" if content.strip() else "failed"), repr(content)
    good = expected in content or expected in _SEPARATOR.sub("", content)
    return ("ok" if good else "failed"), f"expected {expected!r}, got {content!r}"


def _well_formed(calls: Sequence[ToolCall]) -> Finding:
    written = "; ".join(f"{call.name}({call.arguments})" for call in calls)
    try:
        good = all(call.name == _tool().name and "city" in json.loads(call.arguments) for call in calls)
    except (ValueError, TypeError):
        good = False
    return ("ok" if good else "failed"), written


_CHECKS: dict[str, Check] = {
    "plain_text": partial(_text, request="plain_text"),
    "tool_call": _tool_call,
    "parallel_tool_calls": _parallel_tool_calls,
    "tool_result": _tool_result,
    "tool_choice": _tool_choice,
    "strict_tools": _strict_tools,
    "response_format": _response_format,
    "usage": _usage,
    "reasoning_state": _reasoning_state,
    "long_context": partial(_text, request="long_context"),
    "errors": _errors,
}
CAPABILITIES = tuple(_CHECKS)

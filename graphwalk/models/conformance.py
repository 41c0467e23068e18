"""Conformance test of a model backend: `graphwalk models check provider/model`.

Each check makes one or two real calls. A weak model may fail a check that its backend would pass; the detail contains
the reply.
"""

import asyncio
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import yaml

from graphwalk.errors import ModelError
from graphwalk.models.base import Model
from graphwalk.models.langchain import FORMAT as LANGCHAIN
from graphwalk.models.provider_replies import mapping, sequence
from graphwalk.resources import data_path
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec

Status = Literal["ok", "failed", "absent"]
Finding = tuple[Status, str]
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
    for name, check in zip(CAPABILITIES, _CHECKS, strict=True):
        started = time.perf_counter()
        status: Status | None = None
        try:
            async with asyncio.timeout(seconds):
                status, detail = await check(model)
        except TimeoutError:
            detail = f"no reply within {seconds:g} s"
        except ModelError as error:
            detail = str(error)
        except Exception as error:
            # The interface allows only ModelError; other exceptions are what this test looks for.
            detail = f"raised {type(error).__name__} instead of ModelError: {error}"
        results.append(Capability(name, status or "failed", detail[:_LONGEST_DETAIL], time.perf_counter() - started))
        if status is None and len(results) == 1:
            break
    return results


async def _plain_text(model: Model) -> Finding:
    return _has_text(await _ask(model, _words()["plain_text"]))


async def _system_prompt(model: Model) -> Finding:
    words = _words()["system_prompt"]
    return _expects(await _ask(model, words["user"], system=words["system"]), words["expect"])


async def _tool_call(model: Model) -> Finding:
    reply = await _ask(model, _words()["tool_call"], tools=(_tool(),))
    if not reply.message.tool_calls:
        return "absent", f"no tool call; set tool_protocol to text. It wrote {reply.message.content!r}"
    return _well_formed(reply.message.tool_calls)


async def _parallel_tool_calls(model: Model) -> Finding:
    options = CallOptions(parallel_tool_calls=True)
    calls = (await _ask(model, _words()["parallel_tool_calls"], tools=(_tool(),), options=options)).message.tool_calls
    if len({call.id for call in calls}) < len(calls):
        return "failed", "two calls have the same id"
    return _well_formed(calls) if len(calls) > 1 else ("absent", f"{len(calls)} call instead of 2")


async def _one_call_at_a_time(model: Model) -> Finding:
    options = CallOptions(parallel_tool_calls=False)
    calls = (await _ask(model, _words()["parallel_tool_calls"], tools=(_tool(),), options=options)).message.tool_calls
    return ("ok", f"{len(calls)} call") if len(calls) <= 1 else ("absent", f"{len(calls)} calls in spite of the option")


async def _tool_result(model: Model) -> Finding:
    words = _words()["tool_result"]
    call = ToolCall("call_1", _tool().name, json.dumps({"city": words["city"]}))
    conversation = [
        Message("user", _words()["tool_call"]),
        Message("assistant", None, (call,)),
        Message("tool", words["result"], tool_call_id=call.id),
    ]
    return _expects(await model.complete(conversation, (_tool(),), CallOptions()), words["expect"])


async def _usage(model: Model) -> Finding:
    usage = (await _ask(model, _words()["options"])).usage
    cost = "cost not reported" if usage.cost is None else f"cost ${usage.cost:g}"
    if not usage.total_tokens:
        return "absent", "tokens not reported: budgets in tokens cannot be kept"
    return "ok", f"{usage.input_tokens} tokens in, {usage.output_tokens} out; {cost}"


async def _reasoning(model: Model) -> Finding:
    reply = await _ask(model, _words()["plain_text"])
    tokens = reply.usage.reasoning_tokens
    if reply.message.reasoning or tokens:
        return "ok", f"{tokens if tokens is not None else 'unknown'} tokens, {len(reply.message.reasoning or '')} shown"
    return "absent", "no reasoning reported"


async def _reasoning_state(model: Model) -> Finding:
    """Check two turns with a tool call between them; the second sends the provider's state of the first."""
    question = Message("user", _words()["tool_call"])
    first = (await model.complete([question], (_tool(),), CallOptions())).message
    state = first.provider_state
    if not first.tool_calls or state is None:
        return "absent", "no tool call" if not first.tool_calls else "the provider sends no state with its messages"
    names = _state_names(state)
    if not names:
        return "absent", "a message of LangChain without blocks of its provider: what is sent back is not seen here"
    results = [Message("tool", _words()["tool_result"]["result"], tool_call_id=call.id) for call in first.tool_calls]
    try:
        await model.complete([question, first, *results], (_tool(),), CallOptions())
    except ModelError as error:
        return "failed", f"refused its own state ({names}): {error}"
    provider: Any = model
    while hasattr(provider, "inner"):
        provider = provider.inner
    if getattr(provider, "refuses_state", False):
        return "absent", f"the server refuses its own state, which it gets no longer: {names}"
    return "ok", f"state came back and was accepted: {names}"


def _state_names(state: Mapping[str, Any]) -> str:
    """Return the names of the fields of a state; "" if an integration of LangChain's may drop all of it."""
    message, calls = mapping(state.get("message")), mapping(state.get("tool_calls"))
    if state.get("format") == LANGCHAIN:
        kinds = [mapping(block).get("type") for block in sequence(message.get("content"))]
        return ", ".join(str(kind) for kind in dict.fromkeys(kinds) if kind not in ("text", "tool_use"))
    of_calls = [name for call in calls.values() for name in call]
    items = [mapping(item).get("type") for item in sequence(state.get("output"))]
    return ", ".join(map(str, dict.fromkeys([*message, *of_calls, *items]))) or "fields of its own"


async def _unicode(model: Model) -> Finding:
    words = _words()["unicode"]
    return _expects(await _ask(model, words["user"]), words["expect"])


async def _hostile_text(model: Model) -> Finding:
    return _has_text(await _ask(model, f"{_words()['hostile_text']} \ud800 \u202e \ufeff \x07"))


async def _long_context(model: Model) -> Finding:
    words = _words()["long_context"]
    half = words["filler"] * (words["times"] // 2)
    try:
        return _expects(await _ask(model, half + words["fact"] + half + words["question"]), words["expect"])
    except ModelError as error:
        if error.context_overflow:
            return "absent", f"recognised as a context overflow: {error}"
        raise


async def _temperature_and_seed(model: Model) -> Finding:
    return _has_text(await _ask(model, _words()["options"], options=CallOptions(temperature=0.0, seed=1)))


async def _output_limit(model: Model) -> Finding:
    reply = await _ask(model, _words()["plain_text"], options=CallOptions(max_output_tokens=16))
    tokens = reply.usage.output_tokens
    within = tokens is None or tokens <= 16
    return ("ok" if within else "failed"), f"{tokens} tokens, finished for {reply.finish_reason!r}"


async def _errors(model: Model) -> Finding:
    try:
        await _ask(model, _words()["options"], options=CallOptions(extra={"temperature": "hot"}))
    except ModelError as error:
        return ("failed", f"called worth another try: {error}") if error.retryable else ("ok", str(error))
    return "absent", "a senseless option was accepted"


@cache
def _words() -> dict[str, Any]:
    text = (data_path("templates") / "prompts" / "conformance.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)  # type: ignore[no-any-return]


def _tool() -> ToolSpec:
    words = _words()["tool"]
    city = {"type": "string", "description": words["argument"]}
    parameters = {"type": "object", "properties": {"city": city}, "required": ["city"]}
    return ToolSpec(words["name"], words["description"], parameters)


async def _ask(
    model: Model,
    user: str,
    *,
    system: str | None = None,
    tools: Sequence[ToolSpec] = (),
    options: CallOptions = CallOptions(),
) -> Reply:
    prompt = [Message("system", system)] if system is not None else []
    return await model.complete([*prompt, Message("user", user)], tools, options)


def _has_text(reply: Reply) -> Finding:
    content = reply.message.content or ""
    return ("ok" if content.strip() else "failed"), repr(content)


def _expects(reply: Reply, expected: str) -> Finding:
    content = reply.message.content or ""
    plain = _SEPARATOR.sub("", content)
    return ("ok" if expected in content or expected in plain else "failed"), f"expected {expected!r}, got {content!r}"


def _well_formed(calls: Sequence[ToolCall]) -> Finding:
    written = "; ".join(f"{call.name}({call.arguments})" for call in calls)
    try:
        good = all(call.name == _tool().name and "city" in json.loads(call.arguments) for call in calls)
    except (ValueError, TypeError):
        good = False
    return ("ok" if good else "failed"), written


_CHECKS = (
    _plain_text, _system_prompt, _tool_call, _parallel_tool_calls, _one_call_at_a_time, _tool_result, _usage,
    _reasoning, _reasoning_state, _unicode, _hostile_text, _long_context, _temperature_and_seed, _output_limit, _errors,
)  # fmt: skip
CAPABILITIES = tuple(check.__name__.removeprefix("_") for check in _CHECKS)
"""Names of the checks, in order."""

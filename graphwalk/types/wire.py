"""Dictionary forms of conversations and episodes: what the run log and the reply cache write as JSON.

Lossless: `x_from_dict(json.loads(json.dumps(x_to_dict(x)))) == x`, lone surrogates, NUL and huge texts included, as
long as JSON is written with `ensure_ascii` (the default of `json.dumps`). None, empty and default fields are left
out; infinite and NaN floats, which JSON does not have, become the texts "inf", "-inf" and "nan".
"""

import math
from collections.abc import Mapping
from typing import Any

from graphwalk.types.chat import Message, Reply, ToolCall, Usage
from graphwalk.types.episode import ExitStatus, ToolResult, Trajectory, Turn

Wire = dict[str, Any]


def tool_call_to_dict(call: ToolCall) -> Wire:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def tool_call_from_dict(wire: Mapping[str, Any]) -> ToolCall:
    return ToolCall(wire["id"], wire["name"], wire["arguments"])


def message_to_dict(message: Message) -> Wire:
    wire: Wire = {"role": message.role}
    if message.content is not None:
        wire["content"] = message.content
    if message.tool_calls:
        wire["tool_calls"] = [tool_call_to_dict(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    if message.reasoning is not None:
        wire["reasoning"] = message.reasoning
    return wire


def message_from_dict(wire: Mapping[str, Any]) -> Message:
    calls = tuple(tool_call_from_dict(call) for call in wire.get("tool_calls", ()))
    return Message(wire["role"], wire.get("content"), calls, wire.get("tool_call_id"), wire.get("reasoning"))


def usage_to_dict(usage: Usage) -> Wire:
    """{} where the provider said nothing."""
    counts = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost": None if usage.cost is None else _finite(usage.cost),
    }
    return {name: value for name, value in counts.items() if value is not None}


def usage_from_dict(wire: Mapping[str, Any]) -> Usage:
    cost = wire.get("cost")
    return Usage(
        wire.get("input_tokens"),
        wire.get("output_tokens"),
        wire.get("reasoning_tokens"),
        wire.get("cached_tokens"),
        None if cost is None else float(cost),
    )


def reply_to_dict(reply: Reply) -> Wire:
    rest = _call_facts(reply.usage, reply.finish_reason, reply.seconds)
    return {"message": message_to_dict(reply.message), **rest, **({"model": reply.model} if reply.model else {})}


def reply_from_dict(wire: Mapping[str, Any]) -> Reply:
    return Reply(
        message_from_dict(wire["message"]),
        usage_from_dict(wire.get("usage", {})),
        wire.get("finish_reason", ""),
        float(wire.get("seconds", 0.0)),
        wire.get("model", ""),
    )


def tool_result_to_dict(result: ToolResult) -> Wire:
    wire: Wire = {"call": tool_call_to_dict(result.call), "content": result.content}
    if result.error is not None:
        wire["error"] = result.error
    if result.rows is not None:
        wire["rows"] = result.rows
    if result.seconds:
        wire["seconds"] = _finite(result.seconds)
    return wire


def tool_result_from_dict(wire: Mapping[str, Any]) -> ToolResult:
    call = tool_call_from_dict(wire["call"])
    return ToolResult(call, wire["content"], wire.get("error"), wire.get("rows"), float(wire.get("seconds", 0.0)))


def turn_to_dict(turn: Turn) -> Wire:
    rest = _call_facts(turn.usage, turn.finish_reason, turn.seconds)
    wire: Wire = {"message": message_to_dict(turn.message), **rest}
    if turn.results:
        wire["results"] = [tool_result_to_dict(result) for result in turn.results]
    if turn.next_user is not None:
        wire["next_user"] = turn.next_user
    if turn.summary is not None:
        wire["summary"] = turn.summary
    if turn.forced:
        wire["forced"] = True
    return wire


def turn_from_dict(wire: Mapping[str, Any]) -> Turn:
    return Turn(
        message_from_dict(wire["message"]),
        usage_from_dict(wire.get("usage", {})),
        wire.get("finish_reason", ""),
        float(wire.get("seconds", 0.0)),
        tuple(tool_result_from_dict(result) for result in wire.get("results", ())),
        wire.get("next_user"),
        summary=wire.get("summary"),
        forced=wire.get("forced", False),
    )


def trajectory_to_dict(trajectory: Trajectory) -> Wire:
    wire: Wire = {
        "prompt": [message_to_dict(message) for message in trajectory.prompt],
        "turns": [turn_to_dict(turn) for turn in trajectory.turns],
        "exit_status": trajectory.exit_status.value,
    }
    if trajectory.error is not None:
        wire["error"] = trajectory.error
    return wire


def trajectory_from_dict(wire: Mapping[str, Any]) -> Trajectory:
    return Trajectory(
        tuple(message_from_dict(message) for message in wire["prompt"]),
        tuple(turn_from_dict(turn) for turn in wire["turns"]),
        ExitStatus(wire["exit_status"]),
        wire.get("error"),
    )


def _call_facts(usage: Usage, finish_reason: str, seconds: float) -> Wire:
    facts: Wire = {"usage": usage_to_dict(usage), "finish_reason": finish_reason, "seconds": _finite(seconds)}
    return {name: value for name, value in facts.items() if value}


def _finite(number: float) -> float | str:
    return number if math.isfinite(number) else str(float(number))

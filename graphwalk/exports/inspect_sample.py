"""An episode as a sample of inspect_ai."""

import hashlib
import json
from typing import Any

from graphwalk.exports.conversations import Said, calls_of, is_language_model, read_arguments, said
from graphwalk.exports.plain_json import without_none
from graphwalk.runlog.result import Result
from graphwalk.types.chat import Message, ToolCall, Usage
from graphwalk.types.episode import ToolResult, Turn

_MEASURES = ("f1", "precision", "recall")
_STOPS = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls", "content_filter": "content_filter"}
_NOT_UNDERSTOOD = ("bad_json", "bad_arguments")
_SUMMARY = (
    *("id", "epoch", "input", "target", "metadata", "scores", "model_usage", "total_time", "working_time", "uuid"),
    "turn_count",
)
_LONGEST = 500
"""Characters of a text in the list of samples."""


def sample_of(result: Result) -> dict[str, Any]:
    """All of an episode, in the fields of inspect_ai's `EvalSample`."""
    messages = [_message(one, result, number) for number, one in enumerate(said(result))]
    usage = _usage(result.usage)
    end = result.trajectory.turns[-1] if result.trajectory.turns else None
    return without_none(
        {
            "id": result.key.task_id,
            "epoch": result.key.repeat + 1,
            "input": messages[: len(result.trajectory.prompt)] or result.task.get("question", ""),
            "target": _text(result.task.get("gold")),
            "messages": messages,
            "output": {"model": result.key.model, "choices": _choices(messages, end), "usage": usage},
            "scores": _scores(result),
            "metadata": _metadata(result),
            "model_usage": {result.key.model: usage} if usage and is_language_model(result.key.model) else {},
            "total_time": result.seconds,
            "working_time": result.seconds,
            "uuid": hashlib.sha256(result.key.text.encode("utf-8", "replace")).hexdigest()[:22],
            "error": _error(result),
            "turn_count": len(result.trajectory.turns),
        }
    )


def summary_of(sample: dict[str, Any]) -> dict[str, Any]:
    """What the list of samples says of it: short texts, and no conversation."""
    short = {name: sample[name] for name in _SUMMARY if name in sample}
    question = sample["metadata"]["question"]
    failed = {"error": sample["error"]["message"]} if "error" in sample else {}
    kept = {name: value for name, value in sample["metadata"].items() if isinstance(value, str | int | float | bool)}
    texts = {"input": question[:_LONGEST], "target": sample["target"][:_LONGEST]}
    return {**short, **texts, **failed, "metadata": kept, "completed": True, "message_count": len(sample["messages"])}


def _message(one: Said, result: Result, number: int) -> dict[str, Any]:
    message, turn, found = one
    wire: dict[str, Any] = {"id": str(number), "role": message.role, "content": message.content or ""}
    if message.role == "assistant":
        wire["content"] = _content(message)
        calls = calls_of(turn) if turn is not None else list(message.tool_calls)
        made = {"model": result.key.model, "source": "generate"} if turn is not None else {}
        return wire | made | ({"tool_calls": [_call(call) for call in calls]} if calls else {})
    if message.role == "tool" and found is not None:
        return wire | _outcome(found)
    return wire


def _content(message: Message) -> Any:
    if not message.reasoning:
        return message.content or ""
    text = [{"type": "text", "text": message.content}] if message.content else []
    return [{"type": "reasoning", "reasoning": message.reasoning}, *text]


def _call(call: ToolCall) -> dict[str, Any]:
    arguments, wrong = read_arguments(call)
    wire = {"id": call.id, "function": call.name, "arguments": arguments, "type": "function"}
    return wire if wrong is None else {**wire, "parse_error": f"{wrong}\n\n{call.arguments}"}


def _outcome(found: ToolResult) -> dict[str, Any]:
    wire: dict[str, Any] = {"tool_call_id": found.call.id, "function": found.call.name}
    if found.error is not None:
        kind = "parsing" if found.error in _NOT_UNDERSTOOD else "unknown"
        wire["error"] = {"type": kind, "message": f"{found.error}: {found.content}"}
    return wire


def _choices(messages: list[dict[str, Any]], end: Turn | None) -> list[dict[str, Any]]:
    replies = [message for message in messages if message["role"] == "assistant"]
    if end is None or not replies:
        return []
    return [{"message": replies[-1], "stop_reason": _STOPS.get(end.finish_reason, "unknown")}]


def _scores(result: Result) -> dict[str, Any] | None:
    """Right or wrong as inspect's C and I, and the other measures as numbers."""
    score = result.score
    if score is None or score.get("correct") is None:
        return None
    first = {"value": "C" if score["correct"] else "I", "answer": _text(result.answer), "metadata": score}
    return {"correct": first, **{name: {"value": score[name]} for name in _MEASURES if score.get(name) is not None}}


def _metadata(result: Result) -> dict[str, Any]:
    task = result.task
    return {
        "question": task.get("question", ""),
        "template": task.get("template"),
        "setting": result.key.setting,
        "exit_status": str(result.exit_status),
        "answer": result.answer,
        "gold_size": task.get("gold_size"),
        "par_calls": task.get("par_calls"),
        "world": result.world,
    }


def _error(result: Result) -> dict[str, str] | None:
    if not result.exit_status.infrastructure:
        return None
    text = f"{result.exit_status}: {result.trajectory.error or ''}"
    return {"message": text, "traceback": "", "traceback_ansi": ""}


def _usage(usage: Usage) -> dict[str, Any] | None:
    if not usage.total_tokens:
        return None
    return without_none(
        {
            "input_tokens": usage.input_tokens or 0,
            "output_tokens": usage.output_tokens or 0,
            "total_tokens": usage.total_tokens,
            "input_tokens_cache_read": usage.cached_tokens,
            "reasoning_tokens": usage.reasoning_tokens,
            "total_cost": usage.cost,
        }
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)

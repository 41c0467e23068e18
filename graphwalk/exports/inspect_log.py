"""Logs for inspect_ai."""

import hashlib
import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from graphwalk.errors import ConfigError
from graphwalk.exports.episodes import (
    EpisodeMessage,
    Episodes,
    calls_of,
    file_name,
    is_language_model,
    messages_of,
    new_folder,
    read_arguments,
    without_none,
)
from graphwalk.files.writing import new_file
from graphwalk.runs.listing import listed
from graphwalk.runs.result import Result
from graphwalk.types.chat import ToolCall, Usage

_MEASURES = ("correct", "f1", "precision", "recall")
_STOPS = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls", "content_filter": "content_filter"}
_NOT_UNDERSTOOD = ("bad_json", "bad_arguments")
_SUMMARY = (
    *("id", "epoch", "input", "target", "metadata", "scores", "model_usage", "total_time", "working_time", "uuid"),
    "turn_count",
)
_LONGEST = 500
"""Characters of a text in the list of samples."""


def sample_of(result: Result) -> dict[str, Any]:
    """Return an episode in the fields of inspect_ai's `EvalSample`."""
    messages = [_message(one, result, number) for number, one in enumerate(messages_of(result))]
    usage = _usage(result.usage)
    failure = f"{result.exit_status}: {result.trajectory.error or ''}" if result.exit_status.infrastructure else None
    return without_none(
        {
            "id": result.key.task_id,
            "epoch": result.key.repeat + 1,
            "input": messages[: len(result.trajectory.prompt)] or result.task.get("question", ""),
            "target": _text(result.task.get("gold")),
            "messages": messages,
            "output": {"model": result.key.model, "choices": _choices(messages, result), "usage": usage},
            "scores": _scores(result),
            "metadata": _metadata(result),
            "model_usage": {result.key.model: usage} if usage and is_language_model(result.key.model) else {},
            "total_time": result.seconds,
            "working_time": result.seconds,
            "uuid": hashlib.sha256(result.key.text.encode("utf-8", "replace")).hexdigest()[:22],
            "error": {"message": failure, "traceback": "", "traceback_ansi": ""} if failure else None,
            "turn_count": len(result.trajectory.turns),
        }
    )


def summary_of(sample: dict[str, Any]) -> dict[str, Any]:
    """Return a sample's entry in the list of samples: short texts, and no conversation."""
    short = {name: sample[name] for name in _SUMMARY if name in sample}
    question = sample["metadata"]["question"] or ""
    failed = {"error": sample["error"]["message"]} if "error" in sample else {}
    facts = {name: value for name, value in sample["metadata"].items() if isinstance(value, str | int | float | bool)}
    texts = {"input": question[:_LONGEST], "target": sample["target"][:_LONGEST]}
    return {**short, **texts, **failed, "metadata": facts, "completed": True, "message_count": len(sample["messages"])}


def _message(one: EpisodeMessage, result: Result, number: int) -> dict[str, Any]:
    message, turn, tool_result = one
    wire: dict[str, Any] = {"id": str(number), "role": message.role, "content": message.content or ""}
    if message.role == "assistant":
        if message.reasoning:
            text = [{"type": "text", "text": message.content}] if message.content else []
            wire["content"] = [{"type": "reasoning", "reasoning": message.reasoning}, *text]
        calls = calls_of(turn) if turn is not None else list(message.tool_calls)
        origin = {"model": result.key.model, "source": "generate"} if turn is not None else {}
        return wire | origin | ({"tool_calls": [_call(call) for call in calls]} if calls else {})
    if message.role == "tool" and tool_result is not None:
        wire |= {"tool_call_id": tool_result.call.id, "function": tool_result.call.name}
        if tool_result.error is not None:
            kind = "parsing" if tool_result.error in _NOT_UNDERSTOOD else "unknown"
            wire["error"] = {"type": kind, "message": f"{tool_result.error}: {tool_result.content}"}
    return wire


def _call(call: ToolCall) -> dict[str, Any]:
    arguments, wrong = read_arguments(call)
    wire = {"id": call.id, "function": call.name, "arguments": arguments, "type": "function"}
    return wire if wrong is None else {**wire, "parse_error": f"{wrong}\n\n{call.arguments}"}


def _choices(messages: list[dict[str, Any]], result: Result) -> list[dict[str, Any]]:
    replies = [message for message in messages if message["role"] == "assistant"]
    if not result.trajectory.turns or not replies:
        return []
    stop = result.trajectory.turns[-1].finish_reason
    return [{"message": replies[-1], "stop_reason": _STOPS.get(stop, "unknown")}]


def _scores(result: Result) -> dict[str, Any] | None:
    """Return the scores: correct or incorrect as C and I, and the other measures as numbers."""
    score = result.score
    if score is None or score.get("correct") is None:
        return None
    first = {"value": "C" if score["correct"] else "I", "answer": _text(result.answer), "metadata": score}
    others = {name: {"value": score[name]} for name in _MEASURES[1:] if score.get(name) is not None}
    return {"correct": first, **others}


def _metadata(result: Result) -> dict[str, Any]:
    return {
        **{name: result.task.get(name) for name in ("question", "template", "gold_size", "reference_calls")},
        "graph_digest": result.task.get("graph_digest"),
        "setting": result.key.setting,
        "exit_status": str(result.exit_status),
        "answer": result.answer,
        "graph": result.graph,
    }


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


def export_inspect(episodes: Episodes, out: Path) -> None:
    """Write inspect_ai logs, one per model and setting.

    --out is a new folder, or a file NAME.eval for one model in one setting.
    """
    players = list(dict.fromkeys((key.model, key.setting) for key in episodes.keys))
    single = out.suffix == ".eval"
    if single and len(players) > 1:
        raise ConfigError(
            f"{out}: an inspect log contains one model and setting, the run has {len(players)}",
            hint=f"--out {out.with_suffix('')}   for one file each in a folder; or choose with --model and --setting",
        )
    folder = out.parent if single else new_folder(out)
    with ExitStack() as stack:
        logs = {}
        for player in players:
            path = out if single else folder / file_name(episodes.manifest["name"], *player, ending=".eval")
            logs[player] = _Log(stack.enter_context(new_file(path)), episodes, *player)
        for result in episodes:
            logs[result.key.model, result.key.setting].add(result)
        for log in logs.values():
            log.finish()


class _Log:
    """One `.eval` file while it is written."""

    def __init__(self, file: BinaryIO, episodes: Episodes, model: str, setting: str) -> None:
        self._zip = ZipFile(file, "w", ZIP_DEFLATED)
        self._episodes, self._model, self._setting = episodes, model, setting
        self._summaries: list[dict[str, Any]] = []
        self._scores: dict[str, list[float]] = {}
        self._usage: Counter[str] = Counter()

    def add(self, result: Result) -> None:
        sample = sample_of(result)
        self._write(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample)
        self._summaries.append(summary_of(sample))
        for name in _MEASURES:
            if result.score is not None and result.score.get(name) is not None:
                self._scores.setdefault(name, []).append(float(result.score[name]))
        self._usage.update(sample["model_usage"].get(self._model, {}))

    def finish(self) -> None:
        """Write the list of samples and the header."""
        self._write("summaries.json", self._summaries)
        number, usage = len(self._summaries), {self._model: dict(self._usage)} if self._usage else {}
        header = {
            "version": 2,
            "status": "success" if listed(self._episodes.folder).state == "finished" else "cancelled",
            "eval": self._spec(),
            "plan": {"name": "plan", "steps": [{"solver": self._setting, "params": {}}], "config": {}},
            "results": {"total_samples": number, "completed_samples": number, "scores": self._results()},
            "stats": {"started_at": self._episodes.manifest["created"], "completed_at": "", "model_usage": usage},
        }
        self._write("header.json", header)
        self._zip.close()

    def _spec(self) -> dict[str, Any]:
        manifest = self._episodes.manifest
        config, suite = manifest["config"], manifest["config"]["suite"]["name"]
        keys = [key for key in self._episodes.keys if (key.model, key.setting) == (self._model, self._setting)]
        ids = list(dict.fromkeys(key.task_id for key in keys))
        return {
            "eval_id": "-".join([manifest["run_id"], file_name(self._model, self._setting, ending="")]),
            "run_id": manifest["run_id"],
            "created": manifest["created"],
            "task": manifest["name"],
            "task_id": f"{manifest['name']}-{self._setting}",
            "task_version": 0,
            "tags": list(config.get("tags", ())) or None,
            "dataset": {"name": suite, "samples": len(ids), "sample_ids": ids, "shuffled": False},
            "model": self._model,
            "model_generate_config": {},
            "config": {"epochs": max(key.repeat for key in keys) + 1},
            "packages": {"graphwalk-agents": manifest["graphwalk_version"]},
            "revision": {"type": "git", "origin": "", "commit": manifest["commit"]} if manifest.get("commit") else None,
            "metadata": {"setting": self._setting, "suite": suite, "seed": config.get("seed")},
            "scorers": [{"name": name} for name in self._scores],
        }

    def _results(self) -> list[dict[str, Any]]:
        results = []
        for name, values in self._scores.items():
            metric = "accuracy" if name == "correct" else "mean"
            metrics = {metric: {"name": metric, "value": sum(values) / len(values)}}
            counts = {"scored_samples": len(values), "unscored_samples": len(self._summaries) - len(values)}
            results.append({"name": name, "scorer": name, **counts, "metrics": metrics})
        return results

    def _write(self, name: str, value: Any) -> None:
        # The same run gives the same bytes: no time of today is in the file.
        entry = ZipInfo(name)
        entry.compress_type = ZIP_DEFLATED
        self._zip.writestr(entry, json.dumps(value))

"""Export of traces as fine-tuning chats, and verification of an export."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict  # pydantic needs this one below Python 3.12

from graphwalk.console import counted
from graphwalk.errors import ConfigError
from graphwalk.evaluation.splits import ChatSplit, check_disjoint, read_chats, write_chats, write_manifest
from graphwalk.files import is_scratch, make_folder
from graphwalk.graphs.formats.json import parse_json
from graphwalk.seeds import stdlib_random
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.answers import write_answer
from graphwalk.suites.magma.config import MagmaSpec
from graphwalk.suites.magma.generate import Instance, MagmaTrace, make_traces
from graphwalk.types.chat import Message
from graphwalk.types.episode import SCHEMA_VERSION

MANIFEST = "manifest.json"
STRATEGIES = ("io", "io_reasoning", "is", "ish")
"""Strategies of the paper; for others see `graphwalk export traces`."""
Manifest = dict[str, Any]
Chat = dict[str, Any]


def export_magma(
    specs: Sequence[MagmaSpec],
    folder: Path,
    *,
    seed: int,
    strategies: Sequence[str] = STRATEGIES,
    mixed: bool = False,
) -> Manifest:
    """Write chats and manifest into a new or empty folder, and return the manifest.

    Write one file per split, algorithm, size and strategy; with `mixed` one per split in random order. Raise
    ConfigError for a folder with content, an unknown strategy, or a split with too few traces.
    """
    unknown = sorted(set(strategies) - set(STRATEGIES))
    if unknown or not strategies:
        raise ConfigError(f"unknown strategy {', '.join(unknown)}", hint=f"strategies: {', '.join(STRATEGIES)}")
    make_folder(folder, parents=False)
    if any(not is_scratch(entry) for entry in folder.iterdir()):
        raise ConfigError(f"{folder} is not an empty folder", hint="choose a new folder")
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "suite": "magma",
        "seed": seed,
        "specs": [spec.model_dump() for spec in specs],
        "strategies": list(strategies),
        "mixed": mixed,
        "files": [_write(folder, facts, chats) for facts, chats in _files(specs, seed, strategies, mixed)],
    }
    write_manifest(folder / MANIFEST, manifest)
    return manifest


def chat(trace: MagmaTrace, strategy: str) -> list[Message]:
    """Return the chat of a trace: one answer in input–output strategies, else one per step."""
    reasoned = strategy == "io_reasoning"
    answer = prompts.reasoned_answer(trace) if reasoned else write_answer(trace.algorithm, trace.final)
    return [*prompts.conversation(trace, strategy, len(trace.steps)), Message("assistant", answer)]


def _chats(spec: MagmaSpec, seed: int, strategies: Sequence[str]) -> Iterator[tuple[str, Chat]]:
    """Yield the strategy and the chat of every trace in every strategy."""
    for trace in make_traces(spec, seed):
        for strategy in strategies:
            messages = [{"role": message.role, "content": message.content} for message in chat(trace, strategy)]
            yield strategy, {"messages": messages}


def _files(
    specs: Sequence[MagmaSpec], seed: int, strategies: Sequence[str], mixed: bool
) -> Iterator[tuple[Manifest, list[Chat]]]:
    """Yield facts and chats of each file; the values of the facts are its name."""
    if mixed:
        for split in dict.fromkeys(spec.split for spec in specs):
            chats = [c for spec in specs if spec.split == split for _, c in _chats(spec, seed, strategies)]
            stdlib_random(seed, "magma.export", split).shuffle(chats)
            yield {"split": split}, chats
        return
    for spec in specs:
        of_spec = list(_chats(spec, seed, strategies))
        for strategy in strategies:
            facts = {"split": spec.split, "algorithm": spec.algorithm, "n": spec.nodes, "strategy": strategy}
            yield facts, [chat for own, chat in of_spec if own == strategy]


def _write(folder: Path, facts: Manifest, chats: Sequence[Chat]) -> Manifest:
    """Write a file that does not exist yet; return its entry in the manifest."""
    path = folder / ("-".join(f"n{value}" if name == "n" else value for name, value in facts.items()) + ".jsonl")
    if path.exists():
        raise ConfigError(f"two exports have the same file name {path.name}", hint="name every kind once")
    return {"file": path.name, **facts, "chats": len(chats), "sha256": write_chats(path, chats)}


_NODES = re.compile(r"its nodes are the numbers 0 to (\d+)\.")
_MESSAGE = {"role", "content"}


@dataclass(frozen=True)
class Verification:
    """Numbers of chats, distinct data points and distinct graphs per split of an export."""

    chats: dict[str, int]
    data_points: dict[str, int]
    graphs: dict[str, int]


def verify_export(folder: Path) -> Verification:
    """Verify every line of an export. Raise ConfigError with file and line for the first error.

    Errors: a digest or count differs from the manifest; a line is not a chat; a chat is repeated; two splits share a
    graph, even with other weights or another source.
    """
    splits: dict[str, ChatSplit] = {}
    points: dict[str, set[Instance]] = {}
    for entry in _manifest(folder):
        name, path = entry["split"], folder / entry["file"]
        split = splits.setdefault(name, ChatSplit(name))
        before = split.chats
        for place, record in read_chats(path, entry["sha256"]):
            messages = _checked_messages(record, place)
            point = _data_point(messages, place)
            points.setdefault(name, set()).add(point)
            if place != (first := split.add(messages, (point.n, point.edges), place)):
                raise ConfigError(f"repeated chat: {first} and {place}")
        if split.chats - before != entry["chats"]:
            raise ConfigError(f"{path}: {counted(split.chats - before, 'chat')}, the manifest has {entry['chats']}")
    check_disjoint(list(splits.values()))
    return Verification(
        {name: split.chats for name, split in splits.items()},
        {name: len(of_split) for name, of_split in points.items()},
        {name: len(split.graphs) for name, split in splits.items()},
    )


class _File(TypedDict):
    file: str
    sha256: str
    chats: int
    split: str


_FILES = TypeAdapter(list[_File])


def _manifest(folder: Path) -> list[_File]:
    path = folder / MANIFEST
    try:
        return _FILES.validate_python(parse_json(path.read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"{path} is not the manifest of an export: {error}") from error


def _checked_messages(record: Chat, place: str) -> list[dict[str, str]]:
    """Return the messages of a chat: a system message, then user and assistant in turn, the assistant last."""
    messages: list[dict[str, str]] = record["messages"]
    good = set(record) == {"messages"} and all(map(_is_message, messages))
    turns = len(messages) // 2
    if not good or turns == 0 or [m["role"] for m in messages] != ["system", *["user", "assistant"] * turns]:
        raise ConfigError(f"{place}: not a chat of system, user and assistant messages")
    return messages


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and message.keys() == _MESSAGE and isinstance(message["content"], str)


def _data_point(messages: list[dict[str, str]], place: str) -> Instance:
    text = messages[1]["content"]
    nodes = _NODES.search(text)
    instance = prompts.read_problem(text, int(nodes[1]) + 1) if nodes else None
    if instance is None:
        raise ConfigError(f"{place}: no graph in the problem statement")
    return instance

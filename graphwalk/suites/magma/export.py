"""Training data: traces as chats in JSONL, which fine-tuning services and the `datasets` library read as they are.

A chat is `{"messages": [{"role", "content"}, …]}` and nothing else, since some services refuse other keys. The manifest
beside the files says how they were made and holds their digests.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.files import is_scratch, make_folder, write_whole
from graphwalk.seeds import stdlib_random
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.answers import write_answer
from graphwalk.suites.magma.config import MagmaSpec, Split
from graphwalk.suites.magma.generator.traces import MagmaTrace, make_traces
from graphwalk.types.chat import Message
from graphwalk.types.episode import SCHEMA_VERSION

MANIFEST = "manifest.json"
STRATEGIES = tuple(prompts.STRATEGIES)
"""Those whose chats need no tools; for `tools` see `graphwalk export traces`."""
Manifest = dict[str, Any]


def export_magma(
    specs: Sequence[MagmaSpec],
    folder: Path,
    *,
    seed: int,
    strategies: Sequence[str] = STRATEGIES,
    mixed: bool = False,
) -> Manifest:
    """Write chats and manifest into a new or empty folder, and return the manifest.

    One file per split, algorithm, size and strategy; with `mixed` one per split, in a random order that the seed fixes.
    ConfigError for a folder that holds something, an unknown strategy, or a split with fewer traces than asked for.
    """
    unknown = sorted(set(strategies) - set(STRATEGIES))
    if unknown or not strategies:
        raise ConfigError(f"no strategy {', '.join(unknown)}", hint=f"strategies: {', '.join(STRATEGIES)}")
    make_folder(folder, parents=False)
    if any(not is_scratch(entry) for entry in folder.iterdir()):
        raise ConfigError(f"{folder} exists and is not an empty folder", hint="name a new folder")
    write = _write_mixed if mixed else _write_apart
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "suite": "magma",
        "seed": seed,
        "specs": [spec.model_dump() for spec in specs],
        "strategies": list(strategies),
        "mixed": mixed,
        "files": list(write(specs, folder, seed, strategies)),
    }
    write_whole(folder / MANIFEST, [json.dumps(manifest, indent=2), "\n"])
    return manifest


def chat(trace: MagmaTrace, strategy: str) -> list[Message]:
    """The whole chat of a trace: one answer in the input–output strategies, one per step in the others."""
    reasoned = strategy == "io_reasoning"
    answer = prompts.reasoned_answer(trace) if reasoned else write_answer(trace.algorithm, trace.final)
    return [*prompts.conversation(trace, strategy, len(trace.steps)), Message("assistant", answer)]


def chat_line(trace: MagmaTrace, strategy: str) -> str:
    """One line of an exported file."""
    messages = [{"role": message.role, "content": message.content} for message in chat(trace, strategy)]
    return json.dumps({"messages": messages}, ensure_ascii=False) + "\n"


def _write_apart(specs: Sequence[MagmaSpec], folder: Path, seed: int, strategies: Sequence[str]) -> Iterator[Manifest]:
    for spec in specs:
        traces = list(make_traces(spec, seed))
        for strategy in strategies:
            name = f"{spec.split}-{spec.algorithm}-n{spec.nodes}-{strategy}.jsonl"
            facts = {"split": spec.split, "algorithm": spec.algorithm, "n": spec.nodes, "strategy": strategy}
            yield _write(folder / name, [chat_line(trace, strategy) for trace in traces], facts)


def _write_mixed(specs: Sequence[MagmaSpec], folder: Path, seed: int, strategies: Sequence[str]) -> Iterator[Manifest]:
    lines: dict[Split, list[str]] = {}
    for spec in specs:
        for trace in make_traces(spec, seed):
            lines.setdefault(spec.split, []).extend(chat_line(trace, strategy) for strategy in strategies)
    for split, chats in lines.items():
        stdlib_random(seed, "magma.export", split).shuffle(chats)
        yield _write(folder / f"{split}.jsonl", chats, {"split": split})


def _write(path: Path, lines: Sequence[str], facts: Manifest) -> Manifest:
    """Write a file that does not exist yet; its entry in the manifest."""
    if path.exists():
        raise ConfigError(f"two exports would be written to {path.name}", hint="ask for every kind once")
    write_whole(path, lines)
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    return {"file": path.name, **facts, "chats": len(lines), "sha256": digest}

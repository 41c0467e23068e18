"""Export of traces as fine-tuning chats."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError
from graphwalk.evaluation.splits import write_chats, write_manifest
from graphwalk.experiments.experiment import AnyExperiment
from graphwalk.experiments.loading import experiment_from
from graphwalk.experiments.protocols import DEFAULT_PROTOCOL, apply_protocol
from graphwalk.files.writing import new_folder
from graphwalk.seeds import stdlib_random
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.answers import write_answer
from graphwalk.suites.magma.config import MagmaSpec
from graphwalk.suites.magma.generate import MagmaTrace, make_traces
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
    protocol: str = DEFAULT_PROTOCOL,
) -> Manifest:
    """Write chats and manifest into a new or empty folder, and return the manifest.

    Write one file per split, algorithm, size and strategy; with `mixed` one per split in random order. Chats are
    those of a run with the protocol. Raise ConfigError for a folder with content, an unknown strategy or protocol, or a
    split with too few traces.
    """
    unknown = sorted(set(strategies) - set(STRATEGIES))
    if unknown or not strategies:
        raise ConfigError(f"unknown strategy {', '.join(unknown)}", hint=f"strategies: {', '.join(STRATEGIES)}")
    data: dict[str, Any] = {"name": "export", "suite": {"name": "magma"}, "protocol": protocol}
    apply_protocol(data)
    config = experiment_from(data, "export magma")
    new_folder(folder)
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "suite": "magma",
        "seed": seed,
        "specs": [spec.model_dump() for spec in specs],
        "strategies": list(strategies),
        "mixed": mixed,
        "protocol": protocol,
        "files": [_write(folder, facts, chats) for facts, chats in _files(specs, seed, strategies, mixed, config)],
    }
    write_manifest(folder / MANIFEST, manifest)
    return manifest


def chat(
    trace: MagmaTrace, strategy: str, agent: AgentConfig = AgentConfig(), *, explain: bool = True
) -> list[Message]:
    """Return the chat of a trace: one answer in input–output strategies, else one per step."""
    reasoned = strategy == "io_reasoning"
    answer = prompts.reasoned_answer(trace, agent) if reasoned else write_answer(trace.algorithm, trace.final)
    prompt = prompts.conversation(trace, strategy, len(trace.steps), agent, explain=explain)
    return [*prompt, Message("assistant", answer)]


def _chats(spec: MagmaSpec, seed: int, strategies: Sequence[str], config: AnyExperiment) -> Iterator[tuple[str, Chat]]:
    """Yield the strategy and the chat of every trace in every strategy."""
    for trace in make_traces(spec, seed):
        for strategy in strategies:
            beginning = trace.beginning(config.suite.first_state)
            messages = chat(beginning, strategy, config.agent, explain=config.suite.explain)
            yield strategy, {"messages": [{"role": message.role, "content": message.content} for message in messages]}


def _files(
    specs: Sequence[MagmaSpec], seed: int, strategies: Sequence[str], mixed: bool, config: AnyExperiment
) -> Iterator[tuple[Manifest, list[Chat]]]:
    """Yield facts and chats of each file; the values of the facts are its name."""
    if mixed:
        for split in dict.fromkeys(spec.split for spec in specs):
            chats = [c for spec in specs if spec.split == split for _, c in _chats(spec, seed, strategies, config)]
            stdlib_random(seed, "magma.export", split).shuffle(chats)
            yield {"split": split}, chats
        return
    for spec in specs:
        of_spec = list(_chats(spec, seed, strategies, config))
        for strategy in strategies:
            facts = {"split": spec.split, "algorithm": spec.algorithm, "n": spec.nodes, "strategy": strategy}
            yield facts, [chat for own, chat in of_spec if own == strategy]


def _write(folder: Path, facts: Manifest, chats: Sequence[Chat]) -> Manifest:
    """Write a file that does not exist yet; return its entry in the manifest."""
    path = folder / ("-".join(f"n{value}" if name == "n" else value for name, value in facts.items()) + ".jsonl")
    if path.exists():
        raise ConfigError(f"two exports have the same file name {path.name}", hint="name every kind once")
    return {"file": path.name, **facts, "chats": len(chats), "sha256": write_chats(path, chats)}

"""What each policy for small models is worth: the same questions asked plainly, with each policy alone, and with all.

    python -m benchmarks.small_policies fit [--server URL]       how many kinds of question fit into a small context
    python -m benchmarks.small_policies ask FOLDER --model NAME  a run per policy in FOLDER; the table of those done

Both write their table into docs/training.md. `fit` counts the largest call of the expert, all that it is sent and says,
by our rule for tokens or with the tokenizer of a llama.cpp server. An `ask` that is stopped is gone on with.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import graphwalk
from benchmarks.markers import DOCS, markdown_table, write_between_markers
from benchmarks.token_ratios import by_server
from graphwalk.environment import Environment
from graphwalk.experiments.loading import load_experiment
from graphwalk.models.tokens import MESSAGE_TOKENS, count_tokens, message_text
from graphwalk.runner.par_walk import ParWalks
from graphwalk.runner.places import Places
from graphwalk.runner.plan import make_plan
from graphwalk.runner.resolve import resolve
from graphwalk.scoring.statistics.wilson import wilson_bounds
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.store import Database

PAGE = DOCS / "training.md"
WALKING = ["get_node_by_property", "get_all_nearest_neighbors", "get_unique_property_values"]
PLAIN = {"tool_protocol": "text"}
POLICIES: Mapping[str, Mapping[str, Any]] = {
    "short prompts": {"prompts": "short", "tool_words": "short"},
    "compact results": {"encoding": "compact"},
    "fewer tools": {"tools": WALKING},
    "answer by reference": {"tools": [*WALKING, "answer"]},
    "one call a turn, old results left out": {
        "parallel_tool_calls": False,
        "compaction": "window",
        "compaction_window": 1,
    },
    "short names": {"short_names": True},
}
"""Name → fields of `agent`; `short_names` is one of the graphs."""
SHORT_WALKS = (
    *("node_by_property", "node_count", "node_with_most_relationships", "path_finding", "path_from_specific_node"),
    *("remote_node_property", "compositional_intersection", "negation_on_rel_property", "negation_with_connection"),
)
"""The kinds for which the expert needs few calls; the other three are told by walking the whole graph."""
SIZES = {20: 4096, 40: 8192}
"""Nodes → tokens of the context."""


def together() -> dict[str, Any]:
    return {name: value for fields in POLICIES.values() for name, value in fields.items()}


def growing() -> Iterator[tuple[str, dict[str, Any]]]:
    """One policy more at a time."""
    fields: dict[str, Any] = {}
    yield "plain", dict(fields)
    for name, more in POLICIES.items():
        fields |= more
        yield f"+ {name}", dict(fields)


def experiment(fields: Mapping[str, Any], nodes: int, graphs: int, **more: Any) -> dict[str, Any]:
    agent = {**PLAIN, **fields}
    graph = {"nodes": nodes, "count": graphs, "short_names": agent.pop("short_names", False)}
    suite = {"name": "questions", "graphs": [graph], **more.pop("suite", {})}
    return {"name": "small-policies", "suite": suite, "settings": ["tools"], "agent": agent, **more}


async def largest(config: Mapping[str, Any], size: Callable[[str], int]) -> dict[str, list[int]]:
    """Kind → the tokens of the largest call with its reply, one number for each graph."""
    resolved = resolve(load_experiment(dict(config), flags={"models": ["openai/any"]}), Environment(), keys=False)

    async def open_scratch() -> Database:
        return EmbeddedDatabase()

    plan = await make_plan(resolved, Places(open_scratch), lambda tasks: None)
    walks = ParWalks(resolved, experts=("by_reference" if "answer" in (resolved.agent.tools or ()) else "expert",))
    found: dict[str, list[int]] = {}
    for planned in plan.episodes:
        calls = (await walks.of(planned)).calls
        sizes = (
            sum(size(message_text(message)) + MESSAGE_TOKENS for message in (*call.messages, call.reply))
            for call in calls
        )
        found.setdefault(planned.task.template, []).append(max(sizes))
    return found


def fit(options: argparse.Namespace) -> None:
    size = lru_cache(by_server(options.server) if options.server else lambda text: count_tokens(text)[0])
    rows = []
    for name, fields in growing():
        cells = [name]
        for nodes, most in SIZES.items():
            found = asyncio.run(largest(experiment(fields, nodes, options.graphs), size))
            fitting = [kind for kind, sizes in found.items() if max(sizes) <= most]
            missing = [f"`{kind}` ({max(sizes):,})" for kind, sizes in found.items() if max(sizes) > most]
            print(nodes, name, len(fitting), *missing, file=sys.stderr, flush=True)
            cells += [str(len(fitting)), ", ".join(missing) if 0 < len(missing) <= 4 else "–"]
        rows.append(cells)
    columns = ["policies", *(cell for n, most in SIZES.items() for cell in (f"{n} nodes, {most:,} tokens", "too long"))]
    table = markdown_table(columns, rows)
    print(table)
    write_between_markers(PAGE, "small-contexts", table)


def ask(options: argparse.Namespace) -> None:
    variants = {"plain": {}, "all": together(), **POLICIES}
    names = options.only or list(variants)
    for name in names:
        folder = options.folder / name.split(",")[0].replace(" ", "-")
        if (folder / "results.jsonl.gz").exists():
            continue
        print(name, file=sys.stderr, flush=True)
        if folder.exists():
            graphwalk.open_run(folder).resume()
            continue
        config = experiment(
            variants[name],
            20,
            options.graphs,
            suite={"questions": list(SHORT_WALKS)},
            seed=7,
            options={"temperature": 0, "max_output_tokens": 256},
            limits={"max_concurrency": 1, "call_seconds": 1800},
        )
        config["agent"]["turn_limit"] = 12
        graphwalk.run(config, models=[options.model], out=folder)
    table = told({name: options.folder / name.split(",")[0].replace(" ", "-") for name in variants})
    print(table)
    write_between_markers(PAGE, "small-policies", table)


def told(folders: Mapping[str, Path]) -> str:
    """Of the runs that are done: right answers with Wilson's interval over the questions, F1, calls, tokens."""
    rows: list[Sequence[str]] = []
    for name, folder in folders.items():
        if not (folder / "results.jsonl.gz").exists():
            continue
        records = graphwalk.open_run(folder).records()
        n, right = len(records), sum(record["correct"] for record in records)
        low, high = wilson_bounds(np.array([right / n]), np.array([n]), np.array([1.96]))
        walked = [record["trajectory"] for record in records]
        f1 = sum(record["f1"] for record in records) / n
        calls = sum(record["tool_calls"] for record in records) / n
        rows.append(
            [
                name,
                f"{right} of {n} ({100 * low[0]:.0f}–{100 * high[0]:.0f} %)",
                f"{f1:.2f}",
                f"{calls:.1f}",
                f"{sum(record['tool_error_rate'] or 0 for record in records) / n:.2f}",
                str(len(walked)),
            ]
        )
    return markdown_table(["policy", "right (95 %)", "F1", "calls", "errors", "x"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_policies", description=__doc__)
    commands = parser.add_subparsers(required=True)
    fits = commands.add_parser("fit")
    fits.add_argument("--server", help="a llama.cpp server, whose tokenizer is asked")
    fits.add_argument("--graphs", type=int, default=3)
    fits.set_defaults(call=fit)
    asks = commands.add_parser("ask")
    asks.add_argument("folder", type=Path)
    asks.add_argument("--model", required=True)
    asks.add_argument("--graphs", type=int, default=1)
    asks.add_argument("--only", nargs="*", choices=("plain", "all", *POLICIES))
    asks.set_defaults(call=ask)
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()

"""How many kinds of question fit into a small context, with each policy for small models added to those before it.

    python -m benchmarks.small_contexts [--server URL]      writes the table of docs/training.md

What is counted is the largest call of the expert, all that it is sent and says: by our rule for tokens, or with the
tokenizer of a llama.cpp server.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from benchmarks.markers import DOCS, markdown_table, write_between_markers
from benchmarks.token_ratios import by_server
from graphwalk.experiments.loading import load_experiment
from graphwalk.models.tokens import MESSAGE_TOKENS, count_tokens, message_text
from graphwalk.runs.estimate import ExpertEpisodes
from graphwalk.runs.experiment import resolve
from graphwalk.runs.graph_sources import GraphSources
from graphwalk.runs.plan import make_plan
from graphwalk.settings import Settings

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
SIZES = {20: 4096, 40: 8192}
"""Nodes → tokens of the context."""
_TOLD = 3
"""So many kinds that are too long are named."""


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
    resolved = resolve(load_experiment(dict(config), flags={"models": ["openai/any"]}), Settings(), keys=False)

    plan = await make_plan(resolved, GraphSources(), lambda tasks: None)
    expert = ExpertEpisodes(
        resolved, experts=("by_reference" if "answer" in (resolved.agent.tools or ()) else "expert",)
    )
    found: dict[str, list[int]] = {}
    for planned in plan.episodes:
        calls = (await expert.of(planned)).calls
        sizes = (
            sum(size(message_text(message)) + MESSAGE_TOKENS for message in (*call.messages, call.reply))
            for call in calls
        )
        found.setdefault(planned.task.template, []).append(max(sizes))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_contexts", description=__doc__)
    parser.add_argument("--server", help="a llama.cpp server, whose tokenizer is asked")
    parser.add_argument("--graphs", type=int, default=3, help="of each size")
    options = parser.parse_args()
    size = lru_cache(by_server(options.server) if options.server else lambda text: count_tokens(text)[0])
    rows = []
    for name, fields in growing():
        cells = [name]
        for nodes, most in SIZES.items():
            found = asyncio.run(largest(experiment(fields, nodes, options.graphs), size))
            fitting = [kind for kind, sizes in found.items() if max(sizes) <= most]
            missing = [f"`{kind}` ({max(sizes):,})" for kind, sizes in found.items() if max(sizes) > most]
            print(nodes, name, len(fitting), *missing, file=sys.stderr, flush=True)
            told = ", ".join(missing) if len(missing) <= _TOLD else f"{len(missing)} kinds"
            cells += [str(len(fitting)), told or "none"]
        rows.append(cells)
    columns = ["policies", *(cell for n, most in SIZES.items() for cell in (f"{n} nodes, {most:,} tokens", "too long"))]
    table = markdown_table(columns, rows)
    print(table)
    write_between_markers(PAGE, "small-contexts", table)


if __name__ == "__main__":
    main()

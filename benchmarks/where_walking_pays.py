"""From which size of a graph on a walk costs fewer tokens than reading all of it, per kind of question.

The walk is the expert's: what a model would read and write on it, everything sent again in every turn. The whole graph
is read once. Both by the same estimate of tokens, cached prompts at full price.
"""

import argparse
import asyncio
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import cast, get_args

from benchmarks.markers import DOCS, caption, markdown_table, write_between_markers
from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.text import GraphEncoding
from graphwalk.models.scripted import Policy
from graphwalk.models.tokens import count_tokens
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.graph_prompts import tools_system, whole_graph
from graphwalk.suites.questions.catalogue import choose_kinds
from graphwalk.suites.questions.make_tasks import tasks_on
from graphwalk.suites.reference import drive
from graphwalk.tools.graph_toolbox import GraphToolbox

PAGE = DOCS / "method.md"
SIZES = (100, 200, 500, 1_000, 2_000, 5_000)
ENCODINGS = cast("Sequence[GraphEncoding]", get_args(GraphEncoding))
SHORTEST = "incidence"


@dataclass
class Costs:
    """Tokens of the tasks on graphs of one size."""

    walks: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """By question."""
    openings: list[int] = field(default_factory=list)
    """Of schema, guidance and tools: what every turn of a walk begins with."""
    texts: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """By encoding: the prompt with the whole graph."""

    def walk(self, question: str) -> float:
        return median(self.walks[question])

    def text(self, encoding: str) -> float:
        return median(self.texts[encoding])


def spec_of(nodes: int) -> GraphSpec:
    """The paper's classes at any size, with a mean out-degree of 3."""
    return GraphSpec(nodes=nodes, labels=8, relationship_types=4, properties=6, values=10, mean_degree=3)


async def measure(nodes: int, graphs: int, seed: int = 0) -> Costs:
    costs = Costs()
    for index in range(graphs):
        graph = generate_graph(spec_of(nodes), seed, index)
        costs.openings.append(await _tokens_of_opening(graph))
        for task in (await tasks_on(graph, seed=seed)).asked:
            costs.walks[task.template].append((task.reference_input_tokens or 0) + (task.reference_output_tokens or 0))
        for encoding in ENCODINGS:
            costs.texts[encoding].append(_tokens_of_text(graph, encoding))
    return costs


async def _tokens_of_opening(graph: PropertyGraph) -> int:
    def thinks_of_nothing() -> Policy:
        yield from ()
        return ""

    store = await EmbeddedDatabase().load(graph)
    schema = await store.schema()
    prompt = (tools_system(schema, AgentConfig()),)
    return (await drive(thinks_of_nothing(), GraphToolbox(store, schema), prompt)).input_tokens


def _tokens_of_text(graph: PropertyGraph, encoding: GraphEncoding) -> int:
    """Without question and answer, which are the same for both."""
    prompt = (whole_graph(graph, AgentConfig(graph_encoding=encoding)),)
    return sum(count_tokens(message.content or "") for message in prompt)


def pays_from(costs: Mapping[int, Costs], question: str, encoding: str) -> int | None:
    """The smallest size from which on every walk to this kind of question takes fewer tokens than the text."""
    pays = None
    for nodes in sorted(costs, reverse=True):
        if costs[nodes].walk(question) >= costs[nodes].text(encoding):
            break
        pays = nodes
    return pays


def tables(costs: Mapping[int, Costs]) -> str:
    sizes = sorted(costs)
    columns = ["tokens (thousands)", *(f"{nodes:,} nodes" for nodes in sizes), "pays from: json", SHORTEST]
    rows = [
        [f"whole graph, `{encoding}`", *(_thousands(costs[nodes].text(encoding)) for nodes in sizes), "", ""]
        for encoding in ENCODINGS
    ]
    openings = [_thousands(median(costs[nodes].openings)) for nodes in sizes]
    rows.append(["schema and tools, in each turn of a walk", *openings, "", ""])
    for question in (kind.name for kind in choose_kinds()):
        walks = [_thousands(costs[nodes].walk(question)) for nodes in sizes]
        sooner = [_size(pays_from(costs, question, encoding), sizes) for encoding in ("json", SHORTEST)]
        rows.append([f"walk, `{question}`", *walks, *sooner])
    return markdown_table(columns, rows)


def _thousands(tokens: float) -> str:
    return f"{tokens / 1000:.1f}" if tokens < 99_950 else f"{tokens / 1000:,.0f}"


def _size(nodes: int | None, sizes: Sequence[int]) -> str:
    if nodes is None:
        return f"not up to {sizes[-1]:,}"
    return f"{nodes:,}" + (" or less" if nodes == sizes[0] else "")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.where_walking_pays", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES, help="numbers of nodes; default: 100 to 5,000")
    parser.add_argument("--graphs", type=int, default=3, help="of each size; the table has medians")
    parser.add_argument("--print", action="store_true", help="leave docs/method.md as it is")
    options = parser.parse_args()
    costs = {}
    for nodes in options.sizes:
        print(f"{nodes} nodes …", file=sys.stderr, flush=True)
        costs[nodes] = asyncio.run(measure(nodes, options.graphs))
    written = f"{caption('python -m benchmarks.where_walking_pays')}\n\n{tables(costs)}"
    print(written)
    if not options.print:
        write_between_markers(PAGE, "where-walking-pays", written)


if __name__ == "__main__":
    main()

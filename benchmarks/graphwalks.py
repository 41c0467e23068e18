"""GraphWalks: tokens of a walk beside those of the edge list.

The walk is the expert's: what a model would read and write on it, everything sent again in every turn. The edge list is
read once. Both by the same estimate of tokens; cached input at full price.
"""

import argparse
import asyncio
import sys
from statistics import median

from benchmarks.markers import DOCS, caption, markdown_table, write_between_markers
from graphwalk.config.agent import AgentConfig
from graphwalk.models.tokens import count_tokens
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.graphwalks.config import GraphwalksConfig, ProblemSpec
from graphwalk.suites.graphwalks.problems import Problem, generated
from graphwalk.suites.graphwalks.suite import GraphwalksSuite
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph

PAGE = DOCS / "studies.md"
EDGES = (100, 300, 1_000, 3_000, 10_000, 30_000, 70_000)
OUT_DEGREE = 5
DEPTHS = (1, 2, 3, 4, 5, 6)
GRAPHS = 3


async def costs(edges: int) -> dict[str, float]:
    """Return the median tokens of reading and of the walks: "read", "parents", "bfs 1", …, and calls of the latter."""
    figures: dict[str, list[int]] = {}
    for index in range(GRAPHS):
        graph, (start, parents) = generated(ProblemSpec(nodes=edges // OUT_DEGREE, out_degree=OUT_DEGREE), 0, index)
        problems = [parents, *(Problem("bfs", start.node, depth) for depth in DEPTHS)]
        instance = GraphInstance.of(graph, problems, {"entry": 0, "index": index})
        store = await EmbeddedDatabase().load(graph)
        tasks = (
            await GraphwalksSuite().tasks(LoadedGraph(instance, store), GraphwalksConfig(), 0, AgentConfig())
        ).asked
        prompt = tasks[1].whole_prompt(instance, AgentConfig())
        figures.setdefault("read", []).append(count_tokens(prompt.content or ""))
        for problem, task in zip(problems, tasks, strict=True):
            name = "parents" if problem is parents else f"bfs {problem.depth}"
            tokens = (task.reference_input_tokens or 0) + (task.reference_output_tokens or 0)
            figures.setdefault(name, []).append(tokens)
            figures.setdefault(f"{name} calls", []).append(task.reference_calls or 0)
    return {name: median(values) for name, values in figures.items()}


def table(measured: dict[int, dict[str, float]]) -> str:
    """Return the tokens by number of edges; walks that cost less than reading are bold."""
    names = ["parents", *(f"bfs {depth}" for depth in DEPTHS)]
    rows = []
    for edges, figures in measured.items():
        cells = []
        for name in names:
            text = f"{short(figures[name])} ({figures[f'{name} calls']:,.0f})"
            cells.append(f"**{text}**" if figures[name] < figures["read"] else text)
        rows.append([f"{edges:,}", short(figures["read"]), *cells])
    titles = ["edges", "read", "parents", *(f"depth {depth}" for depth in DEPTHS)]
    return markdown_table(titles, rows)


def short(tokens: float) -> str:
    return f"{tokens / 1e6:.1f}M" if tokens >= 999_500 else f"{tokens / 1e3:.{tokens < 9_950:d}f}k"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graphwalks", description=__doc__)
    parser.add_argument("edges", nargs="*", type=int, default=EDGES, help="numbers of edges; default: 100 to 70,000")
    parser.add_argument("--print", action="store_true", help="leave docs/studies.md as it is")
    options = parser.parse_args()
    measured = {}
    for edges in options.edges:
        print(f"{edges:,} edges …", file=sys.stderr, flush=True)
        measured[edges] = asyncio.run(costs(edges))
    written = f"{caption('python -m benchmarks.graphwalks')}\n\n{table(measured)}"
    print(written)
    if not options.print:
        write_between_markers(PAGE, "graphwalks", written)


if __name__ == "__main__":
    main()

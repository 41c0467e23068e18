"""GraphWalks: tokens of a walk beside those of the edge list, and seconds for the longest published kind of row.

The walk is the expert's: what a model would read and write on it, everything sent again in every turn. The edge list is
read once. Both by the same estimate of tokens; cached input at full price.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import process_time

import graphwalk
from benchmarks.markers import DOCS, caption, markdown_table, write_between_markers
from graphwalk.config.agent import AgentConfig
from graphwalk.models.tokens import count_tokens
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.graphwalks.config import GraphwalksConfig, ProblemSpec
from graphwalk.suites.graphwalks.problems import Problem, answer_of, generated
from graphwalk.suites.graphwalks.suite import GraphwalksSuite
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.types.graph import PropertyGraph

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


async def seconds_of_longest_row() -> str:
    """Return a sentence on reading, planning and walking a row of 1.75 million characters, without the imports."""
    await run_on_row(ProblemSpec(nodes=10, out_degree=OUT_DEGREE))
    characters, edges, calls, read, whole = await run_on_row(ProblemSpec(nodes=14_000, out_degree=OUT_DEGREE, depth=4))
    return (
        f"A row of {characters:,.0f} characters and {edges:,.0f} edges is read in {read:.1f} s of processor time. A"
        f" whole run on it, an episode of {calls:,.0f} calls included, takes {whole:.1f} s."
    )


async def run_on_row(spec: ProblemSpec) -> tuple[float, ...]:
    """Return characters, edges, calls, and the processor time of reading a row and of a run of the expert on it."""
    graph, (problem, _) = generated(spec, 0, 0)
    prompt = row_prompt(problem, graph)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "row.jsonl"
        path.write_text(
            json.dumps({"prompt": prompt, "answer_nodes": answer_of(problem, graph), "problem_type": "bfs"})
        )
        begun = process_time()
        list(GraphwalksSuite().graphs(GraphwalksConfig(file=path), 0))
        read = process_time() - begun
        data = {"name": "row", "suite": {"name": "graphwalks", "file": str(path)}, "models": ["scripted/expert"]}
        run = await graphwalk.arun(data, out=Path(folder) / "run")
        (record,) = run.records()
        assert record["correct"]
        return len(prompt), graph.relationship_count, record["tool_calls"], read, process_time() - begun - read


def row_prompt(problem: Problem, graph: PropertyGraph) -> str:
    edges = "\n".join(f"{source} -> {target}" for source, target in graph.edges())
    head = "Here is the graph to operate on:\nThe graph has the following edges:"
    operation = f"Operation:\nPerform a BFS from node {problem.node} with depth {problem.depth}."
    return f"{head}\n{edges}\n\n{operation}\n\nFinal Answer: [node1, node2]\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graphwalks", description=__doc__)
    parser.add_argument("edges", nargs="*", type=int, default=EDGES, help="numbers of edges; default: 100 to 70,000")
    parser.add_argument("--print", action="store_true", help="leave docs/studies.md as it is")
    options = parser.parse_args()
    measured = {}
    for edges in options.edges:
        print(f"{edges:,} edges …", file=sys.stderr, flush=True)
        measured[edges] = asyncio.run(costs(edges))
    sentence = asyncio.run(seconds_of_longest_row())
    written = f"{caption('python -m benchmarks.graphwalks')}\n\n{table(measured)}\n\n{sentence}"
    print(written)
    if not options.print:
        write_between_markers(PAGE, "graphwalks", written)


if __name__ == "__main__":
    main()

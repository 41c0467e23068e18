"""Configuration and problems of GraphWalks: generated, or read from the data set openai/graphwalks; and the answers."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Literal

from pydantic import Field, PositiveInt, model_validator

from graphwalk.config.strict import ExistingFile, Spec, SuiteConfig
from graphwalk.files.bulk import Row
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.seeds import generator
from graphwalk.suites.graph_prompts import query_texts
from graphwalk.suites.questions.tasks.graph_index import distances

Operation = Literal["bfs", "parents"]
LABEL, TYPE = "Node", "EDGE"
COLUMNS = ("prompt", "answer_nodes", "problem_type")
_MARKER, _EDGES, _OPERATION = "Here is the graph to operate on:", "The graph has the following edges:", "Operation:"
_EDGE = re.compile(r"([^\s,\[\]]+) -> ([^\s,\[\]]+)")
_WORDS = {
    "bfs": re.compile(
        r"Perform a BFS from node (\S+) (?:with|and return only the nodes at exactly) depth (\d{1,6})\b.*"
    ),
    "parents": re.compile(r"Find the parents of node (\S+?)()\.?"),
}


class ProblemSpec(Spec):
    """Random graphs of `nodes` nodes with exactly `out_degree` edges from each, and one problem per operation."""

    nodes: int = Field(default=40, ge=1, le=100_000)
    """Nodes of the graph."""
    out_degree: int = Field(default=3, ge=1, le=50)
    """Edges from each node; parallel edges and self-loops occur."""
    depth: PositiveInt = 2
    """Depth of the breadth-first search."""
    operations: tuple[Operation, ...] = Field(default=("bfs", "parents"), min_length=1)
    """Operations on each graph: breadth-first search, or parents of a node."""


class GraphwalksConfig(SuiteConfig):
    """The suite `graphwalks`: a breadth-first search, or the parents of a node, on generated or published graphs."""

    graphs_field: ClassVar[str] = "problems"

    name: Literal["graphwalks"] = "graphwalks"
    problems: tuple[ProblemSpec, ...] = (ProblemSpec(count=5),)
    """Problems to generate; by default none if `file` is set."""
    file: ExistingFile | None = None
    """Published problems: a .parquet or .jsonl file of the data set openai/graphwalks."""
    max_chars: PositiveInt | None = None
    """Of a file: only prompts of at most this number of characters."""

    @model_validator(mode="before")
    @classmethod
    def _generate_nothing_beside_a_file(cls, data: Any) -> Any:
        return {"problems": (), **data} if isinstance(data, dict) and data.get("file") is not None else data

    def texts(self) -> Mapping[str, str]:
        return query_texts()


@dataclass(frozen=True)
class Problem:
    """An operation on a graph; `row` (from 1 on), `prompt` and `target` are those of a published problem."""

    operation: Operation
    node: str
    depth: int
    row: int | None = None
    prompt: str | None = None
    target: tuple[str, ...] | None = None


def generated(spec: ProblemSpec, seed: int, index: int) -> tuple[PropertyGraph, list[Problem]]:
    """Return a random graph, its targets uniform over all nodes, and one problem per operation on a random node."""
    keys = [hashlib.md5(str(n).encode(), usedforsecurity=False).hexdigest()[:10] for n in range(spec.nodes)]
    draw = generator(seed, "graphwalks", spec.nodes, spec.out_degree, index)
    targets = draw.integers(spec.nodes, size=spec.nodes * spec.out_degree).tolist()
    edges = [(keys[place // spec.out_degree], keys[target]) for place, target in enumerate(targets)]
    starts = dict(zip(("bfs", "parents"), draw.integers(spec.nodes, size=2).tolist(), strict=True))
    problems = [Problem(name, keys[starts[name]], spec.depth if name == "bfs" else 1) for name in spec.operations]
    return PropertyGraph.from_edges(edges, LABEL, TYPE), problems


def answer_of(problem: Problem, graph: PropertyGraph) -> list[str]:
    """Return the sorted nodes at exactly the depth, without the start."""
    following = defaultdict[str, set[str]](set)
    for source, target in graph.edges():
        start, end = (source, target) if problem.operation == "bfs" else (target, source)
        following[start].add(end)
    steps = distances(problem.node, problem.depth, following)
    return sorted(key for key, number in steps.items() if number == problem.depth and key != problem.node)


def read_problem(config: GraphwalksConfig, row: Row, number: int) -> tuple[PropertyGraph, Problem] | None:
    """Return the graph and the problem in a row, None if it is not chosen. Raise ValueError if it has none."""
    prompt, target, kind = (row[name] for name in COLUMNS)
    names = target if isinstance(target, list) else [None]
    if kind not in _WORDS or not isinstance(prompt, str) or not all(isinstance(name, str) for name in names):
        raise ValueError("it is not in the form of the data set openai/graphwalks")
    if len(prompt) > (config.max_chars or len(prompt)):
        return None
    listed, _, rest = prompt.rpartition(_MARKER)[2].partition(_EDGES)[2].rpartition(_OPERATION)
    edges = [_EDGE.fullmatch(line) for line in filter(None, map(str.strip, listed.split("\n")))]
    ends = [(edge[1], edge[2]) for edge in edges if edge is not None]
    words = _WORDS[kind].fullmatch(rest.strip().partition("\n")[0].strip())
    if _MARKER not in prompt or words is None or len(ends) < len(edges) or words[1] not in chain(*ends):
        raise ValueError("its prompt is not understood: expected edges, and an operation on one of their nodes")
    graph = PropertyGraph.from_edges(ends, LABEL, TYPE)
    return graph, Problem(kind, words[1], int(words[2] or 1), number, prompt, tuple(sorted({*names})))

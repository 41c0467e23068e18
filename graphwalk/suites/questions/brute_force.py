"""A graph in networkx, searched by brute force: the third answer to a question, without Cypher or our index.

Slow and plain on purpose: every path is walked, relationship by relationship.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from graphwalk.errors import OracleError
from graphwalk.suites.questions.catalogue import PythonPart
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.rows import same_rows
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.suite import GraphInstance, Verification
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Row, Value

_MOST_PATHS = 3_000_000
"""Paths walked for one question: some seconds."""


class TooManyPathsError(Exception):
    """Brute force would take too long."""


def rows_by_brute_force(
    python: PythonPart | None, graph: PropertyGraph, parameters: Mapping[str, Any]
) -> list[Row] | None:
    """Return all right rows, repetitions included; None if the kind has no brute force, or there are too many paths."""
    if python is None or python.brute_force is None:
        return None
    try:
        return list(python.brute_force(NetworkxGraph(graph), **parameters))
    except TooManyPathsError:
        return None


def same_value(left: Any, right: Value) -> bool:
    """Return whether two values are equal as in Cypher, where 1 is not true."""
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


class NetworkxGraph:
    """A `networkx.MultiDiGraph` as `nx`: nodes have `labels` and `properties`, edges `type` and `properties`."""

    def __init__(self, graph: PropertyGraph) -> None:
        import networkx as nx

        self.nx: Any = nx.MultiDiGraph()
        self.nx.add_nodes_from((n.key, {"labels": n.labels, "properties": n.properties}) for n in graph.nodes())
        self.nx.add_edges_from(
            (r.source, r.target, {"type": r.type, "properties": r.properties}) for r in graph.relationships()
        )

    def value(self, key: str, name: str) -> Any:
        """Return the value of a property of a node; its `key` counts as one."""
        return key if name == "key" else self.nx.nodes[key]["properties"].get(name)

    def has_label(self, key: str, label: str) -> bool:
        return label in self.nx.nodes[key]["labels"]

    def labelled(self, label: str, key: str | None = None) -> list[str]:
        """Return the keys of the nodes with a label; with `key`, only this one."""
        return [k for k, labels in self.nx.nodes(data="labels") if label in labels and key in (None, k)]

    def labels_beside(self, key: str) -> set[str]:
        """Return all labels of the nodes that a relationship leads to."""
        return {label for target in self.nx.successors(key) for label in self.nx.nodes[target]["labels"]}

    def paths(self, starts: list[str], longest: int) -> Iterator[list[tuple[str, str, int]]]:
        """Yield every directed path of 1 … `longest` relationships (source, target, number), none of them twice."""
        left = _MOST_PATHS
        for start in starts:
            waiting = [[edge] for edge in self.nx.out_edges(start, keys=True)]
            while waiting:
                if not (left := left - 1):
                    raise TooManyPathsError
                path = waiting.pop()
                yield path
                if len(path) < longest:
                    waiting += [[*path, edge] for edge in self.nx.out_edges(path[-1][1], keys=True) if edge not in path]


class QuestionVerification(Verification[QuestionsConfig, QuestionTask]):
    async def confirm(self, task: QuestionTask, instance: GraphInstance, config: QuestionsConfig) -> str | None:
        """Confirm by brute force, for questions that have one."""
        assert instance.graph is not None
        kind = next(kind for kind in config.kinds if kind.name == task.template)
        rows = rows_by_brute_force(kind.python, instance.graph, task.parameters)
        if rows is not None and not same_rows(rows, task.gold):
            raise OracleError(f"brute force over networkx finds other rows for {task.template} {task.parameters}")
        return None if rows is None else "networkx"

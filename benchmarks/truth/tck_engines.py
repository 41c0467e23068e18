"""The two engines as the TCK needs them: an empty graph, queries that may write, results as plain values."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import kglite
import neo4j
from neo4j.graph import Node, Path, Relationship

from benchmarks.truth.tck_values import node, path, relationship
from graphwalk.stores.loading import RESERVED
from graphwalk.variables import Variables

Table = tuple[list[str], list[list[Any]]]
"""Columns, and rows in their order."""
_SECONDS = 20.0
_COUNTS = {"nodes": "MATCH (n) RETURN count(n) AS n", "relationships": "MATCH ()-[r]->() RETURN count(r) AS n"}


class RefusedError(Exception):
    """The engine refuses a query."""


class Engine(ABC):
    """An engine as a scenario uses it."""

    name: str

    @abstractmethod
    def clear(self) -> None:
        """Empty the graph."""

    @abstractmethod
    def run(self, query: str, parameters: Mapping[str, Any]) -> Table:
        """Return the rows of a query in the engine's dialect. Raise RefusedError if it refuses."""

    @abstractmethod
    def adapted(self, text: str) -> str:
        """Return a query, or a cell of a table, with the names that this engine uses."""

    @abstractmethod
    def close(self) -> None: ...

    def ask(self, query: str, parameters: Mapping[str, Any]) -> Table:
        """Return the rows of a scenario's query. Raise RefusedError if it is refused."""
        return self.run(self.adapted(query), parameters)

    def counts(self) -> dict[str, int]:
        """Return the numbers of nodes and relationships."""
        return {name: self.run(query, {})[1][0][0] for name, query in _COUNTS.items()}


class Kglite(Engine):
    """The embedded engine, used as our store uses it: property names that it reserves are stored under others."""

    name = "kglite"
    _NAMES = re.compile(rf"(?<!\$)\b({'|'.join(sorted(RESERVED | {'name'}))})\b(?!\s*\()")
    """With `name`, which a node without a title of its own has too, as every node that a scenario creates."""

    def __init__(self) -> None:
        kglite.set_query_warning_policy("silent")
        self.clear()

    def clear(self) -> None:
        self._graph = kglite.KnowledgeGraph()

    def run(self, query: str, parameters: Mapping[str, Any]) -> Table:
        try:
            found: Any = self._graph.cypher(
                query, params=dict(parameters), timeout_ms=int(_SECONDS * 1000), hide_structural_keys=True
            )
        except Exception as error:  # every kind of its refusals counts, panics of its own among them
            raise RefusedError(f"{type(error).__name__}: {error}") from error
        columns = list(found.columns)
        return columns, [[_from_kglite(row.get(name)) for name in columns] for row in found.to_list()]

    def adapted(self, text: str) -> str:
        """In texts too, since a text can be the name of a property: renamed everywhere, it is the same scenario."""
        return self._NAMES.sub(lambda found: f"{found[1]}_", text)

    def close(self) -> None:
        self.clear()


class Neo4j(Engine):
    def __init__(self, variables: Variables, name: str) -> None:
        self.name = name
        account = (variables.get("NEO4J_USERNAME") or "neo4j", variables.get("NEO4J_PASSWORD") or "")
        self._driver = neo4j.GraphDatabase.driver(
            variables.get("NEO4J_URI") or "", auth=account, notifications_min_severity="OFF"
        )
        self._session = self._driver.session(database=variables.get("NEO4J_DATABASE"))

    def clear(self) -> None:
        self.run("MATCH (n) DETACH DELETE n", {})

    def run(self, query: str, parameters: Mapping[str, Any]) -> Table:
        try:
            found = self._session.run(neo4j.Query(query, timeout=_SECONDS), dict(parameters))
            columns = list(found.keys())
            return columns, [[_from_neo4j(value) for value in record.values()] for record in found]
        except neo4j.exceptions.Neo4jError as error:
            raise RefusedError(str(error.code)) from error

    def adapted(self, text: str) -> str:
        return text

    def close(self) -> None:
        self._session.close()
        self._driver.close()


def _from_kglite(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_kglite(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"nodes", "relationships"}:
        ends = [found["id"] for found in value["nodes"]]
        nodes, steps = [list(map(_from_kglite, value[part])) for part in ("nodes", "relationships")]
        forward = [step["start"] == ends[i] for i, step in enumerate(value["relationships"])]
        return _path(nodes, steps, forward)
    if value.keys() == {"id", "labels", "properties"}:
        labels = [label for label in value["labels"] if label != "Node"]  # what it calls a node that has none
        own = {name: item for name, item in value["properties"].items() if name not in RESERVED}
        return node(labels, {name: _from_kglite(item) for name, item in own.items()})
    if value.keys() == {"id", "start", "end", "type", "properties"}:
        return relationship(value["type"], {n: _from_kglite(v) for n, v in value["properties"].items()})
    return {name: _from_kglite(item) for name, item in value.items()}


def _from_neo4j(value: Any) -> Any:
    if isinstance(value, Node):
        return node(list(value.labels), {n: _from_neo4j(v) for n, v in value.items()})
    if isinstance(value, Relationship):
        return relationship(value.type, {n: _from_neo4j(v) for n, v in value.items()})
    if isinstance(value, Path):
        forward = [step.start_node == value.nodes[i] for i, step in enumerate(value.relationships)]
        return _path([*map(_from_neo4j, value.nodes)], [*map(_from_neo4j, value.relationships)], forward)
    if isinstance(value, list):
        return [_from_neo4j(item) for item in value]
    return {n: _from_neo4j(v) for n, v in value.items()} if isinstance(value, dict) else value


def _path(nodes: Sequence[Any], steps: Sequence[Any], forward: Sequence[bool]) -> Any:
    parts = [nodes[0]]
    for i, step in enumerate(steps):
        parts += [">" if forward[i] else "<", step, nodes[i + 1]]
    return path(parts)

"""Base classes of graph stores: a `Database` holds many graphs, a `GraphStore` is one of them, read only.

Queries are written once, as Jinja text whose identifiers pass a filter (`{{ source_label | label }}`,
`{{ relationship_type | type }}`, `{{ property | property }}`, `({{ any_node }})` for a node without a label), and are
rendered by the store, which knows how to tell its graph from others. Values travel only as parameters.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graphwalk.errors import ConfigError
from graphwalk.stores.cypher import Identifiers, render_cypher
from graphwalk.stores.health import HealthCheck
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

_NODES = (
    'MATCH (n{{ any_node }}) RETURN {{ "n" | key_of }} AS key, {{ "n" | labels_of }} AS labels, '
    '{{ "n" | properties_of }} AS properties'
)
_RELATIONSHIPS = (
    'MATCH (a{{ any_node }})-[r]->(b{{ any_node }}) RETURN type(r) AS type, {{ "a" | key_of }} AS source, '
    '{{ "b" | key_of }} AS target, properties(r) AS properties'
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Rows of a query that a model wrote, and how many there are; None where that is not known.

    `ordered`: the query asks for the order that the rows have.
    """

    rows: list[Row]
    total: int | None
    ordered: bool


class GraphStore(ABC):
    """One loaded graph. All methods may be called from many tasks of one event loop at the same time.

    A store implements `run`, `schema` and `drop`; everything else has a default.
    """

    kind: str
    """The name of the store: "embedded", "neo4j", or one of your own."""
    in_process = False
    """True for a graph in the memory of this process: queries cost no round trip."""
    in_neo4j = False
    """True for a graph that Neo4j's browser can show."""
    generation = 0
    """How often the graph was loaded again after the database had lost it."""

    def render(self, template: str, identifiers: Identifiers) -> str:
        """Return Cypher for this store: identifiers back-tick quoted, every node pattern confined to this graph.

        A list of names is for loops in the template, such as one column per property of a type. Default: for a
        database that holds one graph only.
        """
        return render_cypher(template, identifiers)

    @abstractmethod
    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Return the rows of a read-only query, with values as they are shown (`graphwalk.types.values.shown`).

        Parameters may be any `Value`; a tuple is one value, a list is a list of values. StoreError if the database
        cannot be reached, refuses, or takes too long.
        """

    async def values(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Return the same rows with every `graphwalk.types.values.Value` as the graph has it. Default: as `run`."""
        return await self.run(cypher, parameters)

    async def first(
        self, cypher: str, parameters: Mapping[str, Any], *, rows: int, seconds: float
    ) -> tuple[list[Row], int | None]:
        """Return up to `rows` rows, and how many there are; None where there are more and they were not counted.

        QueryLimitError where it takes longer than `seconds`, or more memory than there is. Default: as `run`.
        """
        found = await self.run(cypher, parameters)
        return found[:rows], len(found)

    async def ask(self, query: str, *, seconds: float, rows: int) -> Asked:
        """Return up to `rows` rows of a read-only query that a model wrote, from this graph and from nothing else.

        QueryRefused (`graphwalk.stores.cypher_guard`) where the query is at fault, or takes longer than `seconds`;
        StoreError where the database is; ConfigError for a store that takes no such queries, as by default.
        """
        raise ConfigError(f"the store {self.kind} does not answer queries of a model's own", hint="docs/extending.md")

    @property
    def takes_queries(self) -> bool:
        """True for a store that has `ask`, so that the setting write_cypher can be played."""
        return type(self).ask is not GraphStore.ask

    @abstractmethod
    async def schema(self, samples: int = 0) -> Schema:
        """Return the schema found in the database, with up to `samples` values per property (0: none)."""

    async def look_closer(self, kind: Literal["node", "relationship"], name: str, samples: int) -> Schema:
        """Return the schema with the properties of this label or type, for a store whose `schema` left them out."""
        return await self.schema(samples)

    async def missing_index(self, label: str, property_name: str) -> str | None:
        """Return the statement for the index that would find nodes by this property; None where none is missing."""
        return None

    def unique_property(self, labels: Sequence[str], key: str) -> tuple[str, str, str | int] | None:
        """Return label, property and value that find a node by the index of a constraint; None where nothing does."""
        return None

    def share_health_check(self, health: HealthCheck, digest: str | None = None) -> None:  # noqa: B027
        """Wait for a database that is away together with others. `digest`: of the graph, to compare it afterwards."""

    async def check_unchanged(self, generation: int) -> None:  # noqa: B027
        """Raise StoreError unless the whole graph is there, and has been since that generation."""

    async def read_graph(self) -> PropertyGraph:
        """Return the whole graph; nodes in the order of their keys."""
        nodes = await self.values(self.render(_NODES, {}))
        relationships = await self.values(self.render(_RELATIONSHIPS, {}))
        for node in nodes:
            node["properties"].pop("key", None)
        nodes.sort(key=lambda node: str(node["key"]))
        return PropertyGraph.from_rows(
            (Node(n["key"], tuple(n["labels"]), n["properties"]) for n in nodes),
            (Relationship(r["type"], r["source"], r["target"], r["properties"]) for r in relationships),
        )

    @abstractmethod
    async def drop(self) -> None:
        """Remove this graph from the database, if GraphWalk put it there."""


class Database(ABC):
    """Something that holds graphs."""

    kind: str

    @abstractmethod
    async def load(self, graph: PropertyGraph) -> GraphStore:
        """Load a graph, or find it already there. Idempotent: a load that was killed is completed or started again."""

    def share_health_check(self, health: HealthCheck) -> None:  # noqa: B027 -- a default: never away
        """Wait for a database that is away together with others."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connections. Graphs stay until they are dropped."""

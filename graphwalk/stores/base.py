"""Base classes of graph stores: a `Database` holds many graphs, a `GraphStore` is one of them, read-only.

Queries are Jinja templates with filters: `{{ source_label | label }}`, `{{ relationship_type | type }}`,
`{{ property | property }}`; `({{ any_node }})` is a node without a label. The store renders them, confined to its
graph. Values are always parameters. Other packages add databases with entry points of the group `graphwalk.stores`.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, Self

from graphwalk.config.resources import Registry
from graphwalk.errors import ConfigError, manual
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.schema import Schema, schema_of
from graphwalk.graphs.values import Row
from graphwalk.stores.cypher import UNSCOPED, Dialect, Identifiers, render_cypher
from graphwalk.stores.loading import ChangedNames
from graphwalk.stores.search import SearchIndex, SearchResult
from graphwalk.variables import Variables

STORES = Registry(
    "store",
    "graphwalk.stores",
    {
        "embedded": "graphwalk.stores.embedded:open_embedded",
        "neo4j": "graphwalk.stores.neo4j.loaded:Neo4jDatabase.open",
    },
)
_NODES = (
    'MATCH (n{{ any_node }}) RETURN {{ "n" | key_of }} AS key, {{ "n" | labels_of }} AS labels, '
    '{{ "n" | properties_of }} AS properties'
)
_RELATIONSHIPS = (
    'MATCH (a{{ any_node }})-[r]->(b{{ any_node }}) RETURN type(r) AS type, {{ "a" | key_of }} AS source, '
    '{{ "b" | key_of }} AS target, properties(r) AS properties'
)


class Closing:
    """A base class of what `async with` closes."""

    async def close(self) -> None:
        """Close the connections."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of a query that a model wrote, and their total number; None if unknown.

    `ordered`: the query specifies the order of the rows.
    """

    rows: list[Row]
    total: int | None
    ordered: bool


class GraphStore(ABC):
    """One loaded graph. All methods may be called from many tasks of one event loop at the same time.

    A store implements `run` and `drop`; everything else has a default.
    """

    kind: str
    """The name of the store: "embedded", "neo4j", or one of your own."""
    in_process = False
    """True for a graph in the memory of this process: queries cost no round trip."""
    takes_queries = False
    """True for a store with `ask`, which the setting write_cypher needs."""
    dialect: Dialect = UNSCOPED
    """How names are written in a query."""
    graph: PropertyGraph | None = None
    """The content under the names that queries use, where it is in memory."""
    changed_names: ChangedNames | None = None
    """Names of the graph that was loaded which are other ones in queries."""
    _search_index: SearchIndex | None = None
    _schemas: Mapping[int, Schema] = MappingProxyType({})
    """By number of samples."""

    def render(self, template: str, identifiers: Identifiers) -> str:
        """Return Cypher for this store: identifiers back-tick quoted, every node pattern confined to this graph.

        A list of names is for loops in the template, for example one column per property.
        """
        return render_cypher(template, identifiers, self.dialect)

    @abstractmethod
    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Return the rows of a read-only query, with values as JSON (`graphwalk.graphs.values.shown`).

        Parameters may be any `Value`. Raise StoreError if the database cannot be reached, refuses, or takes too long.
        """

    async def first(
        self, cypher: str, parameters: Mapping[str, Any], *, rows: int, seconds: float
    ) -> tuple[list[Row], int | None]:
        """Return up to `rows` rows and the total number; None if there are more and they were not counted.

        Raise QueryLimitError beyond `seconds`, or beyond the available memory. Default: as `run`.
        """
        all_rows = await self.run(cypher, parameters)
        return all_rows[:rows], len(all_rows)

    async def ask(self, query: str, *, seconds: float, rows: int) -> QueryResult:
        """Return up to `rows` rows of a read-only query that a model wrote, confined to this graph.

        Raise ToolMistake for a wrong query and beyond `seconds`, StoreError for an error of the database. Default:
        raise ConfigError.
        """
        raise ConfigError(
            f"the store {self.kind} does not run queries of a model", hint="use a copy of the graph: --store embedded"
        )

    async def schema(self, samples: int = 0) -> Schema:
        """Return the schema of the graph, with up to `samples` values per property. Default: from the whole graph."""
        if samples not in self._schemas:
            schema = await asyncio.to_thread(schema_of, await self._whole_graph(), samples)
            self._schemas = {**self._schemas, samples: schema}
        return self._schemas[samples]

    async def search(self, text: str, label: str | None = None, seconds: float | None = None) -> SearchResult:
        """Return nodes (of a label) with a text like this one. Default: by an index in memory, built at first use."""
        if self._search_index is None:
            self._search_index = await asyncio.to_thread(SearchIndex, await self._whole_graph())
        return SearchResult(await asyncio.to_thread(self._search_index.search, text, label))

    async def check_unchanged(self) -> None:  # noqa: B027
        """Raise StoreError unless the database still holds the whole graph."""

    async def _whole_graph(self) -> PropertyGraph:
        """Return the graph in memory; it is read once."""
        if self.graph is None:
            self.graph = await self.read_graph()
        return self.graph

    async def read_graph(self) -> PropertyGraph:
        """Return the whole graph with values as in rows; nodes ordered by key."""
        node_rows = await self.run(self.render(_NODES, {}))
        relationship_rows = await self.run(self.render(_RELATIONSHIPS, {}))
        nodes: list[Node] = []
        for row in sorted(node_rows, key=lambda row: str(row["key"])):
            properties = _with_tuples(row["properties"])
            properties.pop("key", None)
            nodes.append(Node(row["key"], tuple(row["labels"]), properties))
        relationships: list[Relationship] = []
        for row in relationship_rows:
            properties = _with_tuples(row["properties"])
            relationships.append(Relationship(row["type"], row["source"], row["target"], properties))
        return PropertyGraph.from_rows(nodes, relationships)

    @abstractmethod
    async def drop(self) -> None:
        """Remove this graph from the database, if GraphWalk loaded it."""


def _with_tuples(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties whose lists are tuples, as a graph holds them: {"names": ["Ida", "Bo"]} → ("Ida", "Bo")."""
    values: dict[str, Any] = {}
    for name, value in properties.items():
        values[name] = tuple(value) if isinstance(value, list) else value
    return values


class Database(Closing, ABC):
    """A database that holds graphs. Close it with `async with`, or by `close`."""

    kind: str

    @abstractmethod
    async def load(self, graph: PropertyGraph) -> GraphStore:
        """Load a graph, or find it loaded. Idempotent: a killed load is completed or started again."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connections. Graphs are kept until they are dropped."""


class OpenDatabase(Protocol):
    async def __call__(self, variables: Variables, *, run_id: str, timeout_seconds: float) -> Database:
        """Return a connected database. Raise StoreError if it cannot be reached or refuses the password."""
        ...


async def open_database(kind: str, variables: Variables, *, run_id: str, timeout_seconds: float = 30.0) -> Database:
    """Open a database by name: "embedded" (in this process), "neo4j" (NEO4J_URI, or that of `db up`), or a plug-in.

    `timeout_seconds`: limit of a query. Graphs of different `run_id`s are kept apart. Raise ConfigError for an unknown
    kind, StoreError if the database cannot be reached or refuses the password.
    """
    opener: OpenDatabase = STORES.load(kind)
    database = await opener(variables, run_id=run_id, timeout_seconds=timeout_seconds)
    if not isinstance(database, Database):
        raise ConfigError(
            f"the store {kind!r} ({STORES.origin(kind)}) must return a graphwalk.stores.base.Database",
            hint=f"derive its classes from Database and GraphStore: {manual('extending')}",
        )
    return database

"""The seam to a graph database: a `Database` holds many graphs, a `GraphStore` is one of them, read only.

Queries are written once, as Jinja text whose identifiers pass a filter (`{{ source_label | label }}`,
`{{ relationship_type | type }}`, `{{ property | property }}`, `({{ any_node }})` for a node without a label), and are
rendered by the store, which knows how to tell its graph from others. Values travel only as parameters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row


class GraphStore(Protocol):
    """One loaded graph. All methods may be called from many tasks of one event loop at the same time."""

    kind: str
    """"embedded" or "neo4j"; third parties use a name of their own."""

    def render(self, template: str, identifiers: Mapping[str, str | int | Sequence[str]]) -> str:
        """Cypher for this store: identifiers back-tick quoted, every node pattern confined to this graph.

        A list of names is for loops in the template, such as one column per property of a type.
        """
        ...

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Rows of a read-only query, with values as they are shown (`graphwalk.types.values.shown`).

        Parameters may be any `Value`; a tuple is one value, a list is a list of values. StoreError if the database
        cannot be reached, refuses, or takes too long.
        """
        ...

    async def schema(self, samples: int = 0) -> Schema:
        """The schema found in the database, with up to `samples` values per property (0: none)."""
        ...

    async def drop(self) -> None:
        """Remove this graph from the database, if it was GraphWalk that put it there."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """What a query that a model wrote found: some rows, and how many there are; None where that is not known.

    `ordered`: the query asks for the order that the rows have.
    """

    rows: list[Row]
    total: int | None
    ordered: bool


@runtime_checkable
class OpenToQueries(Protocol):
    """A store that answers Cypher that a model wrote (the setting write_cypher). Not every store needs to."""

    async def ask(self, query: str, *, seconds: float, rows: int) -> Asked:
        """Up to `rows` rows of a read-only query, from this graph and from nothing else.

        QueryRefused (`graphwalk.stores.written.refusal`) where the query is at fault, or takes longer than `seconds`;
        StoreError where the database is.
        """
        ...


@runtime_checkable
class GivesValues(Protocol):
    """A store that gives values as the graph has them, where `run` gives them as they are shown."""

    async def values(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Rows of a read-only query with `graphwalk.types.values.Value` in them; see `GraphStore.run`."""
        ...


@runtime_checkable
class Bounded(Protocol):
    """A store that stops a query where it has given enough."""

    async def first(
        self, cypher: str, parameters: Mapping[str, Any], *, rows: int, seconds: float
    ) -> tuple[list[Row], int | None]:
        """Up to `rows` rows, and how many there are; None where there are more and nobody counted them.

        QueryLimitError where it takes longer than `seconds`, or more memory than there is.
        """
        ...


@runtime_checkable
class Provable(Protocol):
    """A store whose content others could change or lose while it is walked."""

    generation: int
    """How often the graph had to be put there anew."""

    async def prove(self, generation: int) -> None:
        """StoreError unless the graph is there whole, and was all the time since that generation."""
        ...


@runtime_checkable
class Standing(Protocol):
    """A store of a graph that is too large to be looked at whole, and has indexes of its own."""

    async def look_closer(self, kind: Literal["node", "relationship"], name: str, samples: int) -> Schema:
        """The schema with the properties of this label or type."""
        ...

    async def missing_index(self, label: str, property_name: str) -> str | None:
        """The statement that creates the index which would find nodes by this property; None where one does."""
        ...


class Database(Protocol):
    """Something that holds graphs."""

    kind: str

    async def load(self, graph: PropertyGraph) -> GraphStore:
        """Load a graph, or find it already there. Idempotent: a load that was killed is completed or started again."""
        ...

    async def close(self) -> None:
        """Close the connections. Graphs stay until they are dropped."""
        ...

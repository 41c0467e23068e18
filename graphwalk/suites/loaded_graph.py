"""The graph of an experiment: generated or your own, and in a store with what agents are shown of it."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import EXAMPLE, GraphSource
from graphwalk.config.strict import absolute, existing_file
from graphwalk.errors import ConfigError
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.schema import Schema, schema_of
from graphwalk.graphs.text import graph_text
from graphwalk.stores.base import GraphStore
from graphwalk.stores.open import read_file
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import load_tools

MOST_TEXT = 2_000_000
"""Maximum characters of a graph as text, about the context of the largest models."""


@dataclass(frozen=True)
class GraphInstance:
    """A graph of an experiment. `graph` is None for suites without a store; `source` is the suite's own object."""

    digest: str
    graph: PropertyGraph | None
    source: Any = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Recorded by the run: nodes, relationships, size, seed, preset."""
    existing_database: GraphSource | None = None
    """The database that contains `graph`, if agents can use it directly."""
    in_memory: bool = False
    """Load the graph into the embedded engine, even if the run uses another store."""

    @classmethod
    def of(cls, graph: PropertyGraph, source: Any = None, facts: Mapping[str, Any] = {}) -> "GraphInstance":
        """Return the instance of a graph, with its size added to the facts."""
        size = {"nodes": graph.node_count, "relationships": graph.relationship_count}
        return cls(graph.digest, graph, source, {**facts, **size})


@dataclass(frozen=True, eq=False)
class LoadedGraph:
    """A graph in its store (None for suites without one), with what was made of it for all episodes."""

    instance: GraphInstance
    store: GraphStore | None = None
    _cache: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @property
    def graph(self) -> PropertyGraph:
        """Return the graph under the names that its store shows."""
        in_store = None if self.store is None else self.store.graph
        graph = in_store or self.instance.graph
        assert graph is not None
        return graph

    async def schema(self, agent: AgentConfig) -> Schema:
        """Return the schema with the sample values that the agent sees. Raise StoreError."""
        assert self.store is not None
        return await self.store.schema(agent.schema_samples)

    async def whole_schema(self) -> Schema | None:
        """Return the schema of the whole graph, of which an existing database may know a part; None without a store."""
        if self.store is None:
            return None
        is_database = self.instance.existing_database is not None
        if is_database and self.instance.graph is not None:
            schema: Schema = self.once("schema", lambda: schema_of(self.graph))
            return schema
        return await self.store.schema()

    async def toolbox(self, agent: AgentConfig, default: Sequence[str] | None = None) -> GraphToolbox:
        """Return the tools of the agent; `default` names those of an agent that names none. Raise StoreError."""
        names = default if agent.tools is None else agent.tools
        key = ("tools", agent, names)
        if key not in self._cache:
            assert self.store is not None
            tools = None if names is None else load_tools(names)
            self._cache[key] = GraphToolbox(self.store, await self.schema(agent), tools, agent)
        toolbox: GraphToolbox = self._cache[key]
        return toolbox

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what `make` returned the first time that this key was passed."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]


def existing_path(path: Any, info: ValidationInfo) -> Any:
    """Return the absolute path of a file or folder that exists; "example" stays."""
    if str(path) == EXAMPLE and not absolute(path, info).exists():
        return path
    return existing_file(path, info)


class OwnGraph(GraphSource):
    """Your own graph: `{file: movies.graphml}` or `{neo4j: movies}`.

    `labels` and `relationship_types` select a part.
    """

    file: Annotated[Path, BeforeValidator(existing_path)] | None = None
    """A file or folder; "example" is the built-in graph."""
    edges: Annotated[
        Annotated[Path, BeforeValidator(existing_file)] | None, Field(exclude_if=lambda path: path is None)
    ] = None
    """The CSV file of the relationships, if the graph is one of nodes."""


def file_of(entry: OwnGraph) -> PropertyGraph:
    """Return the graph in the file of an entry. Raise ConfigError for one in a database."""
    if entry.file is None:
        raise ConfigError(f"{entry.name} is in a database", hint="use Suite.read_graphs")
    return read_file(entry)


def own_instance(place: int, entry: OwnGraph, graph: PropertyGraph) -> GraphInstance:
    """Return the instance of your own graph, whose source is its entry; `place` is the position in `suite.graphs`."""
    source = f"neo4j {entry.neo4j or entry.loaded}"
    if entry.file is not None:
        source = f"file {entry.file.name}"
    instance = GraphInstance.of(graph, entry, {"entry": place, "name": entry.name, "source": source})
    if entry.neo4j is not None:
        instance = replace(instance, existing_database=entry)
    return instance


def settings_left_out(graph: PropertyGraph, store: GraphStore, agent: AgentConfig) -> dict[str, str]:
    """Return the settings that a graph does not support, with reasons."""
    left_out = queries_left_out(store)
    # A node takes a character or more: the text of a graph with so many nodes is not made.
    size = graph.node_count
    if size <= MOST_TEXT:
        size = len(graph_text(graph, agent.graph_encoding))
    if size > MOST_TEXT:
        left_out["no_tools"] = f"the graph has {size:,} characters as text, more than {MOST_TEXT:,}"
    return left_out


def queries_left_out(store: GraphStore) -> dict[str, str]:
    """Return the setting write_cypher with the reason if the store takes no queries."""
    if store.takes_queries:
        return {}
    return {"write_cypher": "queries of a model run on a copy of the graph in the embedded engine (store: embedded)"}

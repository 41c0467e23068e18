"""The graph of an experiment, and the same graph in a store with what agents are shown of it."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.schema import Schema
from graphwalk.stores.base import GraphStore
from graphwalk.stores.graph_schema import schema_of
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import load_tools


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
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

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
        sampled = self.instance.existing_database is not None and self.instance.graph is not None
        return self.once("schema", lambda: schema_of(self.graph)) if sampled else await self.store.schema()

    async def toolbox(self, agent: AgentConfig, default: Sequence[str] | None = None) -> GraphToolbox:
        """Return the tools of the agent; `default` names those of an agent that names none. Raise StoreError."""
        names = default if agent.tools is None else agent.tools
        if (key := ("tools", agent, names)) not in self._made:
            assert self.store is not None
            tools = None if names is None else load_tools(names)
            self._made[key] = GraphToolbox(self.store, await self.schema(agent), tools, agent)
        toolbox: GraphToolbox = self._made[key]
        return toolbox

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what `make` returned the first time that this key was passed."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

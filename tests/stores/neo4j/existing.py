"""An existing Neo4j for tests: their nodes are removed after them."""

import hashlib
import json
from typing import Any

from graphwalk.config.agent import AgentConfig, foreign_agent
from graphwalk.config.graph_source import GraphSource
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.existing import ExistingStore
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.types.chat import ToolCall
from graphwalk.types.encodings import decode_rows
from graphwalk.types.episode import ToolResult
from graphwalk.types.values import Row
from graphwalk.variables import Variables

MARK = "StandingTest"
"""The label of all that tests write, so that it can be removed."""


class OwnDatabase:
    """Writes to a server as its owner would, and opens it as GraphWalk does."""

    def __init__(self, variables: Variables, owner: Connection) -> None:
        self._settings = variables
        self._owner = owner
        self._constraints: list[str] = []
        self._stores: list[ExistingStore] = []

    async def write(self, cypher: str, **parameters: Any) -> None:
        await self._owner.write(cypher, **parameters)

    async def unique(self, name: str, label: str, property_name: str) -> None:
        self._constraints.append(name)
        await self.write(f"CREATE CONSTRAINT {name} FOR (n:`{label}`) REQUIRE n.`{property_name}` IS UNIQUE")

    async def open(
        self, labels: list[str] | None = None, types: list[str] | None = None, key: str | None = None
    ) -> ExistingStore:
        database = self._settings.neo4j_database or "neo4j"
        source = GraphSource(neo4j=database, labels=labels, relationship_types=types, key=key)  # type: ignore[arg-type]
        store = await ExistingStore.open(source, self._settings)
        self._stores.append(store)
        return store

    async def digest(self) -> str:
        """Of all that this test has in the database: nodes, relationships, properties, indexes, constraints.

        Other tests use the same server at the same time; `tests/safety` has a digest of whole databases.
        """
        sha = hashlib.sha256()
        for query in (
            f"MATCH (n:{MARK}) WITH n ORDER BY elementId(n) RETURN elementId(n), labels(n), properties(n)",
            f"MATCH (a:{MARK})-[r]->(b) WITH a, r, b ORDER BY elementId(r) "
            "RETURN elementId(r), elementId(a), type(r), elementId(b), properties(r)",
            "SHOW INDEXES YIELD name, state, type ORDER BY name WHERE name STARTS WITH 'st_' RETURN name, state, type",
            "SHOW CONSTRAINTS YIELD name, type ORDER BY name WHERE name STARTS WITH 'st_' RETURN name, type",
        ):
            for _, values in await self._owner.read(query, {}, 60):
                sha.update(json.dumps(values, sort_keys=True, default=str).encode())
        return sha.hexdigest()

    async def close(self) -> None:
        for store in self._stores:
            await store.close()
        for name in self._constraints:
            await self.write(f"DROP CONSTRAINT {name} IF EXISTS")
        for _ in range(100):
            left = await self._owner.write(
                f"MATCH (n:{MARK}) WITH n LIMIT 20000 DETACH DELETE n RETURN count(n) AS gone"
            )
            if not left[0]["gone"]:
                break
        await self._owner.close()


async def call(
    store: ExistingStore,
    tool: str,
    agent: AgentConfig | None = None,
    toolbox: GraphToolbox | None = None,
    **arguments: Any,
) -> ToolResult:
    """One call with the limits of foreign graphs."""
    agent = foreign_agent(agent)
    toolbox = toolbox or GraphToolbox(store, await store.schema(agent.schema_samples), agent=agent)
    return await toolbox.call(ToolCall("1", tool, json.dumps(arguments)))


async def find(store: ExistingStore, label: str, name: str, value: object, near: bool = False) -> list[Row]:
    """Return the rows about the nodes with this value, or about their neighbors."""
    tool = "get_all_nearest_neighbors" if near else "get_node_by_property"
    result = await call(store, tool, label=label, property_name=name, property_value=value)
    assert result.error is None, result.content
    return decode_rows(result.content)

"""An existing Neo4j for tests: each has labels of its own, and its nodes are removed after it."""

import hashlib
import json
import uuid
from typing import Any

from graphwalk.config.agent import AgentConfig, foreign_agent
from graphwalk.config.graph_source import GraphSource
from graphwalk.graphs.values import Row
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import ToolResult
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.existing import ExistingStore
from graphwalk.tools.encodings import read_rows
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.variables import Variables


class OwnDatabase:
    """Writes to a server as its owner would, and opens it as GraphWalk does.

    Tests run at the same time on one server: labels, indexes and constraints end with `suffix`.
    """

    def __init__(self, variables: Variables, owner: Connection) -> None:
        self.variables = variables
        self.suffix = uuid.uuid4().hex[:8]
        self.mark = f"Test_{self.suffix}"
        """The label of all nodes of the test."""
        self._owner = owner
        self._drops: list[str] = []
        self._stores: list[ExistingStore] = []

    def labels(self, *names: str) -> list[str]:
        return [f"{name}_{self.suffix}" for name in names]

    async def write(self, cypher: str, **parameters: Any) -> None:
        await self._owner.write(cypher, **parameters)

    async def unique(self, label: str, property_name: str) -> None:
        name = f"unique_{label}"
        self._drops.append(f"DROP CONSTRAINT {name}")
        await self.write(f"CREATE CONSTRAINT {name} FOR (n:{label}) REQUIRE n.{property_name} IS UNIQUE")

    async def index_texts(self, labels: str, properties: str) -> str:
        """Create a full-text index, and return its name."""
        name = f"index_{self.suffix}"
        self._drops.append(f"DROP INDEX {name} IF EXISTS")
        await self.write(f"CREATE FULLTEXT INDEX {name} FOR (n:{labels}) ON EACH [{properties}]")
        await self.write("CALL db.awaitIndexes(60)")
        return name

    async def open(
        self, labels: list[str] | None = None, types: list[str] | None = None, key: str | None = None
    ) -> ExistingStore:
        """Open the nodes of this test, or those with other labels."""
        database = self.variables.get("NEO4J_DATABASE") or "neo4j"
        source = GraphSource(neo4j=database, labels=labels or [self.mark], relationship_types=types, key=key)  # type: ignore[arg-type]
        store = await ExistingStore.open(source, self.variables)
        self._stores.append(store)
        return store

    async def digest(self) -> str:
        """Return a digest of all that this test has in the database."""
        sha = hashlib.sha256()
        for query in (
            f"MATCH (n:{self.mark}) WITH n ORDER BY elementId(n) RETURN elementId(n), labels(n), properties(n)",
            f"MATCH (a:{self.mark})-[r]->(b) WITH a, r, b ORDER BY elementId(r) "
            "RETURN elementId(r), elementId(a), type(r), elementId(b), properties(r)",
            f"SHOW INDEXES YIELD name, state, type ORDER BY name WHERE name ENDS WITH '{self.suffix}' RETURN name, state, type",
        ):
            for _, values in await self._owner.read(query, {}, 60):
                sha.update(json.dumps(values, sort_keys=True, default=str).encode())
        return sha.hexdigest()

    async def close(self) -> None:
        for store in self._stores:
            await store.close()
        for statement in self._drops:
            await self.write(statement)
        removed = 1
        while removed:
            query = f"MATCH (n:{self.mark}) WITH n LIMIT 20000 DETACH DELETE n RETURN count(n) AS removed"
            removed = (await self._owner.write(query))[0]["removed"]
        await self._owner.close()


async def call(store: ExistingStore, tool: str, toolbox: GraphToolbox | None = None, **arguments: Any) -> ToolResult:
    """One call with the limits of foreign graphs."""
    agent = foreign_agent(AgentConfig())
    toolbox = toolbox or GraphToolbox(store, await store.schema(agent.schema_samples), agent=agent)
    return await toolbox.call(ToolCall("1", tool, json.dumps(arguments)))


async def find(store: ExistingStore, label: str, name: str, value: object, near: bool = False) -> list[Row]:
    """Return the rows about the nodes with this value, or about their neighbors."""
    tool = "get_all_nearest_neighbors" if near else "get_node_by_property"
    result = await call(store, tool, label=label, property_name=name, property_value=value)
    assert result.error is None, result.content
    return read_rows(result.content)

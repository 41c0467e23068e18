"""Stores to be attacked: graphs of ours on each engine, and an existing Neo4j, on servers that no other test uses."""

import uuid
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import ToolResult
from graphwalk.stores.base import Database, GraphStore, open_database
from graphwalk.stores.cypher import quote_identifier
from graphwalk.stores.loading import node_batches, relationship_batches
from graphwalk.stores.neo4j.connection import connect
from graphwalk.stores.neo4j.existing import ExistingStore
from graphwalk.suites.mazes.generate import maze_graph
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS, MazeToolbox
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import load_tools
from graphwalk.tools.toolbox import Toolbox
from graphwalk.variables import Variables
from tests.neo4j_servers import RELEASE_NAMES, quiet_settings
from tests.safety.hostile import digest_of
from tests.suites.mazes.stage import SMALL
from tests.tools.conftest import ODD_GRAPH

PLACES = ["embedded", *(f"{kind} {release}" for release in RELEASE_NAMES for kind in ("neo4j", "standing"))]
SETUP = (
    "CREATE INDEX safety_index IF NOT EXISTS FOR (n:Zorep) ON (n.hue)",
    "CREATE CONSTRAINT safety_constraint IF NOT EXISTS FOR (n:Secret) REQUIRE n.word IS UNIQUE",
    "MERGE (s:Secret {word: 'swordfish'}) MERGE (t:Secret {word: 'sesame'}) MERGE (s)-[:OPENS]->(t)",
)
JOIN = (
    "UNWIND $rows AS row MATCH (a {key: row.s}) MATCH (b {key: row.t}) "
    "WHERE none(l IN labels(a) + labels(b) WHERE l STARTS WITH 'gw_') "
)


@dataclass(frozen=True)
class Place:
    """A store under attack; `variables` reaches its server, None: there is none."""

    database: Database
    store: GraphStore
    variables: Variables | None
    maze: GraphStore

    async def digest(self) -> str:
        return await digest_of(self.store, self.variables)

    async def toolbox(self, tool: str) -> Toolbox:
        """The toolbox that this tool runs in."""
        if tool in MAZE_TOOLS:
            return MazeToolbox(self.maze, SMALL.size)
        names = [*OWN_GRAPH_TOOLS, *(["run_cypher"] if self.store.takes_queries else [])]
        # A hostile query may run for ever; each other tool comes to an end, also on a slow machine.
        seconds = 2.0 if tool == "run_cypher" else 60.0
        agent = AgentConfig(call_seconds=seconds)
        return GraphToolbox(self.store, await self.store.schema(), load_tools(names), agent)

    async def call(self, toolbox: Toolbox, tool: str, arguments: str) -> ToolResult:
        return await toolbox.call(ToolCall("1", tool, arguments))


@pytest.fixture(
    params=[pytest.param(p, marks=[] if p == "embedded" else pytest.mark.neo4j, id=p.replace(" ", "-")) for p in PLACES]
)
async def place(request: pytest.FixtureRequest) -> AsyncIterator[Place]:
    kind, _, release = request.param.partition(" ")
    with ExitStack() as stack:
        variables = None if kind == "embedded" else stack.enter_context(quiet_settings(release))
        run_id = f"safety-{uuid.uuid4().hex}"
        database = await open_database(
            "embedded" if variables is None else "neo4j", variables or Variables(), run_id=run_id
        )
        await _set_up(variables)
        loaded, maze = await database.load(ODD_GRAPH), await database.load(maze_graph(SMALL))
        if kind == "standing" and variables is not None:
            standing = await ExistingStore.open(GraphSource(neo4j="neo4j", key="key"), variables)
            yield Place(database, standing, variables, maze)
            await standing.close()
        else:
            yield Place(database, loaded, variables, maze)
        await loaded.drop()
        await maze.drop()
        await database.close()


async def _set_up(variables: Variables | None) -> None:
    """The data of an existing database: the same graph with other labels, and secrets."""
    if variables is None:
        return
    connection = await connect(variables)
    if not (await connection.read("MATCH (s:Secret) RETURN s LIMIT 1", {}, 30)):
        for (label,), rows in node_batches(ODD_GRAPH, 100):
            await connection.write(f"UNWIND $rows AS row CREATE (n:{quote_identifier(label)}) SET n = row", rows=rows)
        for type_, _, rows in relationship_batches(ODD_GRAPH, 100):
            await connection.write(JOIN + f"CREATE (a)-[r:{quote_identifier(type_)}]->(b) SET r = row.p", rows=rows)
        for statement in SETUP:
            await connection.write(statement)
    await connection.close()

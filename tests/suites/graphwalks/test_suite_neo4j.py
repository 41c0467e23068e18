"""Targets, walks and tool results are the same on Neo4j."""

import os

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.neo4j.loaded import Neo4jDatabase
from graphwalk.suites.graphwalks.config import GraphwalksConfig, ProblemSpec
from graphwalk.suites.graphwalks.suite import GraphwalksSuite
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.variables import Variables

pytestmark = pytest.mark.neo4j


async def test_tasks_on_neo4j_and_on_the_embedded_engine_are_the_same(neo4j_server: Variables) -> None:
    specs = [ProblemSpec(nodes=5, out_degree=4, count=5), ProblemSpec(nodes=150, out_degree=2, depth=5, count=2)]
    suite, config = GraphwalksSuite(), GraphwalksConfig(problems=tuple(specs))
    database = await Neo4jDatabase.open(neo4j_server, run_id=f"graphwalks-{os.getpid()}")
    try:
        for instance in suite.graphs(config, 3):
            assert instance.graph is not None
            store = await database.load(instance.graph)
            tasks = (
                await suite.tasks(LoadedGraph(instance, store), config, 3, AgentConfig())
            ).asked  # Cypher and the expert's calls on Neo4j
            await store.drop()
            about = LoadedGraph(instance, await EmbeddedDatabase().load(instance.graph))
            assert tasks == (await suite.tasks(about, config, 3, AgentConfig())).asked
    finally:
        await database.close()

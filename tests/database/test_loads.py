"""The content of a Neo4j, counted."""

import re

import pytest

import graphwalk
from graphwalk import database
from graphwalk.stores.neo4j.connection import connect
from graphwalk.variables import Variables
from tests.cli.test_commands import graphwalk as command

pytestmark = pytest.mark.neo4j


async def test_nodes_that_graphwalk_did_not_create_are_counted(neo4j_server: Variables) -> None:
    loaded = await database.load(neo4j_server, graphwalk.read_graph("example"))
    try:
        async with await connect(neo4j_server, wait_seconds=10) as connection:
            before = (await database.contents(neo4j_server)).other_nodes
            await connection.write("UNWIND range(1, 3) AS n CREATE (:LoadsTest)")
            content = await database.contents(neo4j_server)
            lines = [command(*words, **neo4j_server.values).stdout for words in (["doctor"], ["db", "status"])]
            await connection.write("MATCH (n:LoadsTest) DELETE n")
        assert content.other_nodes == before + 3
        assert loaded.scope in {load.scope for load in content.loads}
        doctor, status = (" ".join(text.split()) for text in lines)
        assert re.search(r"ok neo4j bolt\S+ is running with \d+ graphs? of GraphWalk and [\d,]+ other nodes", doctor)
        assert "which --database neo4j reads" in doctor
        assert re.search(r"other nodes [\d,]+, which GraphWalk did not create: --database neo4j", status)
    finally:
        await database.clean(neo4j_server, kept=True)

"""A Neo4j as it stands, one per test."""

from collections.abc import AsyncIterator

import pytest

from graphwalk.environment import Environment
from graphwalk.stores.neo4j.connection import connect
from tests.stores.neo4j.standing import Standing


@pytest.fixture
async def standing(neo4j_server: Environment) -> AsyncIterator[Standing]:
    opened = Standing(neo4j_server, await connect(neo4j_server, wait_seconds=10))
    yield opened
    await opened.close()

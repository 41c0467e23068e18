"""An existing Neo4j, one per test."""

from collections.abc import AsyncIterator

import pytest

from graphwalk.stores.neo4j.connection import connect
from graphwalk.variables import Variables
from tests.stores.neo4j.existing import OwnDatabase


@pytest.fixture
async def own(neo4j_server: Variables) -> AsyncIterator[OwnDatabase]:
    opened = OwnDatabase(neo4j_server, await connect(neo4j_server))
    yield opened
    await opened.close()

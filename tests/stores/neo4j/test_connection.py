"""Connections to a Neo4j: what is wrong with the settings."""

import pytest

from graphwalk.errors import StoreError
from graphwalk.settings import Settings
from graphwalk.stores.neo4j.connection import connect

pytestmark = pytest.mark.neo4j


@pytest.mark.parametrize(
    ("variables", "problem", "hint"),
    [
        ({}, "requires a password, and NEO4J_PASSWORD is not set", "export NEO4J_PASSWORD=…"),
        ({"NEO4J_USERNAME": "neo4j"}, "NEO4J_PASSWORD is not set", "export NEO4J_PASSWORD=…"),
        (
            {"NEO4J_AUTHENTICATION": "none", "NEO4J_PASSWORD": "any-password"},
            "requires a password, and NEO4J_AUTHENTICATION is none",
            "unset NEO4J_AUTHENTICATION",
        ),
        ({"NEO4J_PASSWORD": "wrong-password"}, "refuses the user name or password", "set NEO4J_USERNAME and"),
    ],
)
async def test_a_missing_or_wrong_password_is_named(
    neo4j_server: Settings, variables: dict[str, str], problem: str, hint: str
) -> None:
    settings = Settings({"NEO4J_URI": neo4j_server.neo4j_uri or "", **variables})
    with pytest.raises(StoreError, match=problem) as raised:
        await connect(settings, wait_seconds=10)
    assert raised.value.hint.startswith(hint)

"""The last lock: were a write to get into a tool's query, the server would refuse it."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError

from graphwalk.errors import StoreError
from graphwalk.stores.base import GraphStore
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS
from graphwalk.tools.tool import load_tools, tool_names
from tests.safety.conftest import Place
from tests.safety.hostile import GOOD

WRITE = "CREATE (:Intruder) WITH 1 AS one "
ASKING = [tool.name for tool in load_tools(tool_names()) if tool.cypher is not None]
Sent = list[tuple[GraphStore, str, Mapping[str, Any]]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, place: Place) -> Sent:
    """Return the queries that a tool sends to its store."""
    queries: Sent = []
    kind = type(place.store)
    run, first = kind.run, kind.first

    async def noted(store: Any, cypher: str, parameters: Mapping[str, Any] | None = None) -> Any:
        queries.append((store, cypher, parameters or {}))
        return await run(store, cypher, parameters)

    async def noted_first(store: Any, cypher: str, parameters: Mapping[str, Any], **limits: Any) -> Any:
        queries.append((store, cypher, parameters))
        return await first(store, cypher, parameters, **limits)

    monkeypatch.setattr(kind, "run", noted)
    monkeypatch.setattr(kind, "first", noted_first)
    return queries


@pytest.mark.parametrize("tool", ASKING)
async def test_a_write_in_a_tools_query_is_refused(place: Place, sent: Sent, tool: str) -> None:
    if tool in MAZE_TOOLS and type(place.store) is not type(place.maze):
        pytest.skip("mazes are graphs of our own")
    before = await place.digest()
    toolbox = await place.toolbox(tool)
    sent.clear()
    answer = await place.call(toolbox, tool, json.dumps(GOOD[tool]))
    assert answer.error is None
    queries = list(sent)
    assert queries
    for store, cypher, parameters in queries:
        with pytest.raises(StoreError) as refused:
            await store.run(WRITE + cypher, parameters)
        cause = refused.value.__cause__
        if place.variables is not None:
            assert isinstance(cause, Neo4jError)
            assert cause.code == "Neo.ClientError.Statement.AccessMode"
        else:
            assert "read-only" in str(cause).lower() or "read only" in str(cause).lower()
    assert await place.digest() == before

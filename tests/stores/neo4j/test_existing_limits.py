"""Limits on an existing Neo4j: large results, large schemas, long values, slow queries."""

from pathlib import Path

import pytest

from graphwalk.config.agent import AgentConfig, foreign_agent
from graphwalk.config.graph_source import GraphSource
from graphwalk.errors import QueryLimitError
from graphwalk.models.tokens import count_tokens
from graphwalk.stores.sources import open_source
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.schema_text import schema_text
from graphwalk.tools.tool import load_tool
from graphwalk.types.encodings import decode_notes, decode_rows, next_pages
from graphwalk.variables import Variables
from tests.stores.neo4j.existing import MARK, OwnDatabase, call

pytestmark = pytest.mark.neo4j
SLOW = """\
name: count_all
description: Counts too much.
example: {arguments: {label: Film}, rows: [{n: 1}]}
parameters:
  label: {type: string, role: label, description: A label.}
cypher: |
  UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y MATCH (n:{{ label | label }})
  WITH x, y WHERE x + y < 0 RETURN x AS n
no_match: nothing.
"""


@pytest.mark.extended
async def test_a_node_with_many_neighbors_is_answered_by_a_page(own: OwnDatabase) -> None:
    await own.unique("st_hub", "StHub", "name")
    await own.write(f"CREATE (:{MARK}:StHub {{name: 'hub'}})")
    await own.write(f"MATCH (h:StHub) UNWIND range(1, 100000) AS n CREATE (:{MARK}:StLeaf {{n: n}})-[:ST_AT]->(h)")
    store = await own.open()
    hub = {"label": "StHub", "property_name": "key", "property_value": "hub"}
    first = await call(store, "get_all_nearest_neighbors", **hub)
    second = await call(store, "get_all_nearest_neighbors", page=2, **hub)
    rows, total = await store.first("MATCH (:StHub)--(n) RETURN properties(n) AS p", {}, rows=50, seconds=60)
    assert (len(rows), total) == (50, None), "the other neighbors are not fetched"
    assert first.rows == second.rows == 100_000
    assert "of 100000 in all" in decode_notes(first.content)[0]
    assert next_pages(first.content)[0] == 2
    rows = [*decode_rows(first.content), *decode_rows(second.content)]
    assert len({row["neighbor_properties"]["n"] for row in rows}) == len(rows) == 100
    beyond = await call(store, "get_all_nearest_neighbors", page=40, **hub)
    assert len(decode_rows(beyond.content)) == 50, "pages go on after what is fetched at once"


async def test_slow_call_becomes_tool_text(own: OwnDatabase, tmp_path: Path) -> None:
    await own.write(f"UNWIND range(1, 10) AS n CREATE (:{MARK}:StSlow)")
    store = await own.open()
    (tmp_path / "count_all.yaml").write_text(SLOW)
    agent = foreign_agent(AgentConfig(call_seconds=0.5))
    toolbox = GraphToolbox(store, await store.schema(), [load_tool(tmp_path / "count_all.yaml")], agent)
    result = await call(store, "count_all", toolbox=toolbox, label="StSlow")
    assert (result.error, result.seconds < 5) == ("timeout", True)
    assert "given up after 0.5 seconds" in result.content


async def test_a_schema_of_many_labels_is_cut_to_its_names(own: OwnDatabase) -> None:
    names = [f"StKind{n:03}" for n in range(120)]
    await own.write(
        " ".join(
            f"CREATE (:{MARK}:{name} {{p{n}: {n}}})-[:ST_R{n % 40}]->(:{name}:{MARK})" for n, name in enumerate(names)
        )
    )
    store = await own.open()
    agent = foreign_agent(AgentConfig(schema_tokens=500))
    text = schema_text(await store.schema(agent.schema_samples), agent)
    assert count_tokens(text) <= 500
    assert "StKind007" in text
    assert "p7" not in text
    closer = await call(store, "get_schema", agent, entity_name="StKind007", entity_type="node")
    assert "p7: integer, for example 7" in closer.content
    assert "(:StKind007)-[:ST_R7]->(:StKind007)" in closer.content
    result = await call(store, "get_node_by_property", agent, label="StKind007", property_name="p7", property_value=7)
    assert result.rows == 1


async def test_the_limit_of_a_query_is_that_of_the_experiment(own: OwnDatabase, neo4j_server: Variables) -> None:
    await own.write(f"CREATE (:{MARK}:StSlow)")
    source = GraphSource(neo4j=neo4j_server.neo4j_database or "neo4j")
    async with open_source(source, neo4j_server, timeout_seconds=0.5) as opened:
        with pytest.raises(QueryLimitError):
            await opened.store.run("UNWIND range(1, 1000000000000) AS n WITH n WHERE n < 0 RETURN n")

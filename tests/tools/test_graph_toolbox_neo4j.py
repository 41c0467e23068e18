"""The same call has the same result, character for character, on the embedded engine and on Neo4j."""

import json
import uuid
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from neo4j import AsyncGraphDatabase
from neo4j.warnings import Neo4jWarning

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import ToolCall
from graphwalk.seeds import stdlib_random
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.neo4j.loaded import Neo4jDatabase
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import GRAPH_SWITCHES, SWITCHES, load_tools
from graphwalk.variables import Variables
from tests.tools.conftest import ODD_GRAPH

pytestmark = pytest.mark.neo4j

GRAPHS = {"odd": ODD_GRAPH, "paper": generate_graph(GraphSpec(preset="paper-100", missing_rate=0.2), 3)}
AGENTS = [
    (AgentConfig(), 1),
    (AgentConfig(direction=False, encoding="compact"), 7),
    (AgentConfig(relationship_properties=False, encoding="compact", result_tokens=100), 8),
]
"""Switches, and the share of the calls that is tried with them: the server plans every query anew."""
ODD_VALUES = ["3", "1.5", 2, 12, True, "zz", "\0", "\ud800", 2**70, 1e300, "x' OR 1=1", "x" * 10**6]


@pytest.fixture
async def neo4j(
    neo4j_server: Variables, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> AsyncIterator[Neo4jDatabase]:
    """A database whose driver turns the server's warnings into Python's."""
    driver = AsyncGraphDatabase.driver
    levels = {"notifications_min_severity": "INFORMATION", "warn_notification_severity": "INFORMATION"}
    monkeypatch.setattr(AsyncGraphDatabase, "driver", lambda uri, **options: driver(uri, **(options | levels)))
    database = await Neo4jDatabase.open(neo4j_server, run_id=f"test-{uuid.uuid4().hex}")
    # On a new server the names are not known before a first load.
    await (await database.load(ODD_GRAPH)).drop()
    recwarn.clear()
    yield database
    await database.close()


@pytest.mark.extended
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
async def test_same_results(neo4j: Neo4jDatabase, recwarn: pytest.WarningsRecorder, graph: PropertyGraph) -> None:
    stores = [await EmbeddedDatabase().load(graph), await neo4j.load(graph)]
    recwarn.clear()  # the label of the graph is not known before it is loaded
    schema, on_neo4j = [await store.schema() for store in stores]
    assert schema == on_neo4j
    calls = [ToolCall("1", name, json.dumps(arguments)) for name, arguments in _calls(graph, schema)]
    for agent, step in AGENTS:
        toolboxes = [GraphToolbox(store, schema, agent=agent) for store in stores]
        for call in calls[::step]:
            one, other = [await toolbox.call(call) for toolbox in toolboxes]
            assert (one.content, one.error, one.rows) == (other.content, other.error, other.rows)
    await stores[1].drop()
    notices = [one.message.notification for one in recwarn if isinstance(one.message, Neo4jWarning)]
    assert [notice for notice in notices if notice.raw_classification != "SCHEMA"] == []


def _calls(graph: PropertyGraph, schema: Schema) -> Iterator[tuple[str, dict[str, Any]]]:
    """Some nodes by key, every property with a value that it has, and with unusual values."""
    nodes, neighbors, values, _ = GRAPH_TOOLS
    rng = stdlib_random(5, "calls")
    for node in islice(graph.nodes(), 20):
        yield neighbors, {"label": node.label, "property_name": "key", "property_value": node.key}
    for type_ in schema.nodes:
        for property_ in type_.properties:
            about = {"entity_name": type_.label, "property_name": property_.name, "entity_type": "node"}
            yield values, about
            known = [n.properties[property_.name] for n in graph.nodes() if property_.name in n.properties]
            for tool, value in (nodes, known[0] if known else 0), (neighbors, rng.choice(ODD_VALUES)):
                yield tool, {"label": type_.label, "property_name": property_.name, "property_value": value}
    for relationship in schema.relationships:
        for property_ in relationship.properties:
            about = {"entity_name": relationship.type, "property_name": property_.name}
            yield values, {**about, "entity_type": "Relationship"}
    for value in ODD_VALUES:
        label = schema.nodes[0].label
        yield neighbors, {"label": label, "property_name": "key", "property_value": value}


async def test_the_path_of_the_documentation(neo4j: Neo4jDatabase) -> None:
    path = {"from_label": "Blick", "from_key": "12", "to_label": "Zorep", "to_key": "z2"}
    call = ToolCall("1", "get_shortest_path", json.dumps(path))
    stores = [await EmbeddedDatabase().load(ODD_GRAPH), await neo4j.load(ODD_GRAPH)]
    tools = load_tools([str(Path(__file__).parents[2] / "examples" / "tools" / "get_shortest_path.yaml")])
    one, other = [await GraphToolbox(store, await store.schema(), tools).call(call) for store in stores]
    assert (one.rows, one.content) == (1, other.content)
    await stores[1].drop()


async def test_look_ups_by_key_use_the_index(neo4j: Neo4jDatabase) -> None:
    store = await neo4j.load(ODD_GRAPH)
    switches = dict.fromkeys((*SWITCHES, *GRAPH_SWITCHES), True)
    identifiers = {"label": "Zorep", "property_name": "key", "relationship_type": None, **switches}
    for tool in load_tools(GRAPH_TOOLS[:2]):
        cypher = store.render(tool.cypher or "", identifiers)
        driver = neo4j._connection._driver
        _, summary, _ = await driver.execute_query(f"EXPLAIN {cypher}", {"property_value": "z1", "direction": None})
        plan = json.dumps(summary.plan, default=str)
        assert "IndexSeek" in plan
        assert "NodeByLabelScan" not in plan
        assert "AllNodesScan" not in plan
    await store.drop()

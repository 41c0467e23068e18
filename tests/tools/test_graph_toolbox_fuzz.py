"""Random arguments: no call raises or returns other rows."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.config.agent import AgentConfig
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS, GraphToolbox
from graphwalk.types.chat import ToolCall
from graphwalk.types.encodings import decode_rows
from graphwalk.types.episode import ToolResult
from tests.tools.conftest import ODD_GRAPH

ERRORS = {"unknown_tool", "bad_json", "bad_arguments", "unknown_name"}
KNOWN = ["Zorep", "Blick", "Odd `Label`", "DRAP", "FLIN", "hue", "mass", "key", "cost", "node", "Relationship", "z1"]
HOSTILE = [
    "x` DETACH DELETE n //",
    "Zorep`) DETACH DELETE n WITH 1 AS x MATCH (m",
    "Zorep`:`Blick",
    "' OR 1=1 //",
    "$property_value",
    "{{ 7 * 7 }}",
    "{% for x in range(10**9) %}{% endfor %}",
    "\\u0060 DELETE n",
    "`",
    "``",
    "\\",
    "\0",
    "\u202e\ud800",
    "CALL dbms.shutdown()",
    "1; DROP DATABASE neo4j",
]
TEXTS = st.sampled_from(KNOWN) | st.sampled_from(HOSTILE) | st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
FIELDS = ["label", "property_name", "property_value", "entity_name", "entity_type", "thought", "page"]
ARGUMENTS = st.dictionaries(st.sampled_from(FIELDS), TEXTS | JSON) | st.dictionaries(TEXTS, JSON, max_size=4)
RAW = st.text() | ARGUMENTS.map(json.dumps) | JSON.map(json.dumps)


class Player:
    """Two toolboxes over the odd graph, and one event loop for all examples."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self.store = runner.run(EmbeddedDatabase().load(ODD_GRAPH))
        schema = runner.run(self.store.schema())
        agents = AgentConfig(), AgentConfig(result_tokens=50, encoding="compact", direction=False)
        self._toolboxes = [GraphToolbox(self.store, schema, agent=agent) for agent in agents]

    def call(self, name: str, text: str) -> list[ToolResult]:
        call = ToolCall("1", name, text)
        return [self._runner.run(toolbox.call(call)) for toolbox in self._toolboxes]


@pytest.fixture(scope="module")
def player() -> Iterator[Player]:
    with asyncio.Runner() as runner:
        yield Player(runner)


@given(name=st.sampled_from(GRAPH_TOOLS) | TEXTS, text=RAW)
def test_no_text_raises(player: Player, name: str, text: str) -> None:
    for result in player.call(name, text):
        assert result.error is None or result.error in ERRORS
        assert result.content


NODES = {node.key: node for node in ODD_GRAPH.nodes()}
VALUES = sorted({(name, value) for node in NODES.values() for name, value in node.properties.items()}, key=repr)


@given(
    label=st.sampled_from(["Zorep", "Blick", "Odd `Label`"]),
    pair=st.sampled_from(VALUES),
    other=st.sampled_from(HOSTILE) | st.integers(),
)
def test_lookup_returns_exactly_the_matching_nodes(
    player: Player, label: str, pair: tuple[str, object], other: object
) -> None:
    name = pair[0]
    for value in (pair[1], other):
        text = json.dumps({"label": label, "property_name": name, "property_value": value})
        result = player.call("get_node_by_property", text)[0]
        keys = {row["properties"]["key"] for row in decode_rows(result.content)} if result.rows else set()
        assert keys == {
            key for key, node in NODES.items() if label in node.labels and same(node.properties.get(name), value)
        }


def same(one: object, other: object) -> bool:
    """Compare as the tool does: 2 is 2.0, 3 is "3", and True is not 1."""
    numbers = {type(one), type(other)} <= {int, float}
    return one == other if numbers else one is not None and str(one) == str(other)

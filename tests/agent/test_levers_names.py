"""Names of the schema as enums: what they allow is what the tools take, and nothing else."""

from typing import Any

import jsonschema
import pytest

from graphwalk.agent.levers import NamesInTools
from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.schema import NodeType, PropertyType, Schema
from graphwalk.stores.base import GraphStore
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import load_tools

FOUND = ("get_node_by_property", {"label": "Zorep", "property_name": "hue", "property_value": "vark"})
CALLS: list[tuple[str, dict[str, Any], bool]] = [
    (*FOUND, True),
    (FOUND[0], {**FOUND[1], "label": "Blick"}, True),
    (FOUND[0], {**FOUND[1], "label": "DRAP"}, False),
    (FOUND[0], {**FOUND[1], "property_name": "hues"}, False),
    (
        "get_unique_property_values",
        {"property_name": "tag", "entity_name": "FLIN", "entity_type": "relationship"},
        True,
    ),
    ("get_schema", {"entity_name": "Zorep", "entity_type": "relationship"}, True),
    ("search_nodes", {"text": "a", "label": "Zoreps"}, False),
    ("get_all_nearest_neighbors", {**FOUND[1], "relationship_type": "DRAP"}, True),
    ("get_all_nearest_neighbors", {**FOUND[1], "relationship_type": "Blick"}, False),
]
"""Calls, and whether the enums allow them."""


def named(store: GraphStore, schema: Schema, **agent: Any) -> NamesInTools:
    config = AgentConfig(**agent)
    return NamesInTools(GraphToolbox(store, schema, load_tools(OWN_GRAPH_TOOLS), config), config)


@pytest.mark.parametrize(("tool", "arguments", "allowed"), CALLS)
async def test_calls_that_the_schemas_allow(
    store: GraphStore, schema: Schema, tool: str, arguments: dict[str, Any], allowed: bool
) -> None:
    toolbox = named(store, schema, names_in_tools=50)
    (spec,) = (spec for spec in toolbox.specs if spec.name == tool)
    assert jsonschema.Draft202012Validator(dict(spec.parameters)).is_valid(arguments) == allowed


@pytest.mark.parametrize(("most", "listed"), [(15, False), (16, True)])
def test_many_names_are_not_listed(store: GraphStore, schema: Schema, most: int, listed: bool) -> None:
    toolbox = named(store, schema, names_in_tools=most)
    assert any("enum" in spec.parameters["properties"].get("label", {}) for spec in toolbox.specs) == listed


def test_properties_of_a_sample_are_not_the_only_ones(store: GraphStore) -> None:
    schema = Schema((NodeType("Zorep", (PropertyType("hue"),), limited=True),), ())
    (spec,) = (spec for spec in named(store, schema, names_in_tools=50).specs if spec.name == FOUND[0])
    properties = spec.parameters["properties"]
    assert (properties["label"]["enum"], "enum" in properties["property_name"]) == (["Zorep"], False)

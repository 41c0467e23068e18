"""Names of the schema as enums: what they allow is what the tools take, and nothing else."""

from typing import Any

import jsonschema
import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.levers.names import NamesInTools
from graphwalk.stores.base import GraphStore
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import load_tools
from graphwalk.types.schema import NodeType, PropertyType, Schema
from tests.levers.played import call

FOUND = ("get_node_by_property", {"label": "Zorep", "property_name": "hue", "property_value": "vark"})
CALLS: list[tuple[str, dict[str, Any], str]] = [
    (*FOUND, "any"),
    (FOUND[0], {**FOUND[1], "label": "Blick"}, "pairs"),
    (FOUND[0], {**FOUND[1], "label": "DRAP"}, "none"),
    (FOUND[0], {**FOUND[1], "property_name": "hues"}, "none"),
    (
        "get_unique_property_values",
        {"property_name": "tag", "entity_name": "FLIN", "entity_type": "relationship"},
        "any",
    ),
    ("get_unique_property_values", {"property_name": "tag", "entity_name": "FLIN", "entity_type": "node"}, "pairs"),
    (
        "get_unique_property_values",
        {"property_name": "cost", "entity_name": "FLIN", "entity_type": "relationship"},
        "pairs",
    ),
    ("get_schema", {"entity_name": "Zorep", "entity_type": "relationship"}, "pairs"),
    ("search_nodes", {"text": "a", "label": "Zoreps"}, "none"),
    ("get_all_nearest_neighbors", {**FOUND[1], "relationship_type": "DRAP"}, "any"),
    ("get_all_nearest_neighbors", {**FOUND[1], "relationship_type": "Blick"}, "none"),
]
"""Calls, and whether any enums allow them, only flat ones do (`pairs` do not), or none."""


def named(store: GraphStore, schema: Schema, **agent: Any) -> NamesInTools:
    config = AgentConfig(**agent)
    return NamesInTools(GraphToolbox(store, schema, load_tools(OWN_GRAPH_TOOLS), config), config)


@pytest.mark.parametrize(("tool", "arguments", "allowed_by"), CALLS)
async def test_calls_that_the_schemas_allow(
    store: GraphStore, schema: Schema, tool: str, arguments: dict[str, Any], allowed_by: str
) -> None:
    for protocol in ("native", "json"):
        toolbox = named(store, schema, names_in_tools=50, tool_protocol=protocol)
        (spec,) = (spec for spec in toolbox.specs if spec.name == tool)
        allowed = jsonschema.Draft202012Validator(dict(spec.parameters)).is_valid(arguments)
        assert allowed == (allowed_by == "any" or (allowed_by == "pairs" and protocol == "native"))
        if allowed and protocol == "json":
            assert (await toolbox.call(call(tool, **arguments))).error is None


@pytest.mark.parametrize(("most", "listed"), [(15, False), (16, True)])
def test_many_names_are_not_listed(store: GraphStore, schema: Schema, most: int, listed: bool) -> None:
    toolbox = named(store, schema, names_in_tools=most)
    assert any("enum" in spec.parameters["properties"].get("label", {}) for spec in toolbox.specs) == listed


def test_properties_of_a_sample_are_not_the_only_ones(store: GraphStore) -> None:
    schema = Schema((NodeType("Zorep", (PropertyType("hue"),), limited=True),), ())
    (spec,) = (spec for spec in named(store, schema, names_in_tools=50).specs if spec.name == FOUND[0])
    properties = spec.parameters["properties"]
    assert (properties["label"]["enum"], "enum" in properties["property_name"]) == (["Zorep"], False)

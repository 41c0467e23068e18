"""Reference walks on rows in memory have the figures of walks on the texts of the tools."""

from typing import Any

import pytest

from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.models.scripted import Ask
from graphwalk.models.tokens import count_tokens
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.agents.expert_effort import ExpertReference
from graphwalk.suites.questions.agents.memory_tools import MemoryTools, fits_memory_tools
from graphwalk.suites.questions.agents.walker import neighborhood, nodes, unique_values
from graphwalk.suites.questions.tasks.graph_index import GraphIndex
from graphwalk.suites.questions.tasks.make_tasks import make_tasks
from graphwalk.suites.reference import calls_of
from graphwalk.tools.encodings import decode_rows
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.temporals import read_temporal

ODD = {"self_loops": True, "parallel_relationships": True, "missing_rate": 0.3}


@pytest.mark.parametrize(("preset", "spec"), [("paper-100", {}), ("paper-150", ODD)], ids=["plain", "odd"])
async def test_figures_and_rows_are_those_of_the_texts(preset: str, spec: dict[str, Any]) -> None:
    graph = generate_graph(GraphSpec(preset=preset, **spec), 1)
    store = await EmbeddedDatabase().load(graph)
    schema = await store.schema()
    toolbox, memory = GraphToolbox(store, schema), MemoryTools(GraphIndex(graph))
    for task in await make_tasks(graph, store, seed=1):
        by_text = await ExpertReference(schema, toolbox)(task)
        assert await ExpertReference(schema, toolbox, memory)(task) == by_text, task.template
    answered = 0
    for ask in calls_on(graph):
        (result,) = [await toolbox.call(call) for call in calls_of([ask])]
        if (computed := memory.result(ask.tool, dict(ask.arguments))) is not None:
            answered += 1
            assert computed.rows == decode_rows(result.content), ask
            assert computed.tokens == count_tokens(result.content)[0], ask
    assert answered > 100


def calls_on(graph: PropertyGraph) -> list[Ask]:
    """Return the calls for every value, and for every third key."""
    values = {(node.label, *value): None for node in graph.nodes() for value in node.properties.items()}
    keys = [(node.label, "key", node.key) for node in graph.nodes()][::3]
    calls = [tool(*centre) for centre in [*values, *keys] for tool in (neighborhood, nodes)]
    calls += [unique_values(name, table.label) for table in graph.node_tables for name in ("key", *table.columns)]
    for table in graph.relationship_tables:
        calls += [unique_values(name, table.type, "relationship") for name in table.columns]
    return calls


def test_ambiguous_values_unknown_arguments_and_other_tools_are_left_to_the_toolbox() -> None:
    index = GraphIndex(generate_graph(GraphSpec(preset="paper-100"), 0))
    memory, node = MemoryTools(index), next(iter(index.nodes.values()))
    look_up = {"label": node.label, "property_name": "key", "property_value": node.key}
    assert memory.result("get_node_by_property", look_up) is not None
    for other in ("2001-04-25", "nothing has this", True, 7):
        assert memory.result("get_node_by_property", {**look_up, "property_value": other}) is None
    assert memory.result("get_node_by_property", {**look_up, "limit": 2}) is None
    assert memory.result("think", {"thought": "well"}) is None


@pytest.mark.parametrize(
    ("labels", "properties"),
    [(("A", "B"), {}), (("A",), {"p": read_temporal("2001-04-25")}), (("A",), {"p": (1, 2)}), (("A",), {"p": 1.0})],
)
def test_a_graph_with_several_labels_or_forms_of_a_value_does_not_fit(labels: Any, properties: Any) -> None:
    graph_nodes = [Node("a1", labels, properties), Node("b1", ("A",), {"p": 1})]
    assert not fits_memory_tools(PropertyGraph.from_rows(graph_nodes, [Relationship("R", "a1", "b1", {})]))


def test_a_generated_graph_fits() -> None:
    assert fits_memory_tools(generate_graph(GraphSpec(), 0))

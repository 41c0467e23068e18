"""Par worked out on rows in memory: the same figures as with the texts of the tools, on whatever graph."""

from typing import Any

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.encodings import decode_rows
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.models.scripted import Ask
from graphwalk.models.tokens import count_tokens
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.generate import make_tasks
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.prompts import tools_prompt
from graphwalk.suites.questions.reference import ExpertReference, MemoryTools, can_be_walked_in_memory
from graphwalk.suites.questions.scripted import expert
from graphwalk.suites.reference import calls_of, drive
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.temporals import read_temporal

ODD = {"self_loops": True, "parallel_relationships": True, "missing_rate": 0.3}


@pytest.mark.parametrize(("preset", "spec"), [("paper-100", {}), ("paper-150", ODD)], ids=["plain", "odd"])
async def test_the_figures_are_those_of_the_texts(preset: str, spec: dict[str, Any]) -> None:
    graph = generate_graph(GraphSpec(preset=preset, **spec), 1)
    store = await EmbeddedDatabase().load(graph)
    schema = await store.schema()
    toolbox, index = GraphToolbox(store, schema), GraphIndex(graph)
    walked = ExpertReference(schema, toolbox, MemoryTools.of(index))
    for task in await make_tasks(graph, store, seed=1, index=index):
        prompt = tools_prompt(task.question, schema, AgentConfig())
        by_text = await drive(expert(task.template, task.parameters, schema), toolbox, prompt)
        assert await walked(task) == by_text, task.template


@pytest.mark.parametrize("spec", [{}, ODD], ids=["plain", "odd"])
async def test_every_call_shows_the_same_rows_in_the_same_order(spec: dict[str, Any]) -> None:
    graph = generate_graph(GraphSpec(preset="paper-100", **spec), 3)
    store = await EmbeddedDatabase().load(graph)
    schema = await store.schema()
    toolbox, memory = GraphToolbox(store, schema), MemoryTools.of(GraphIndex(graph))
    known = 0
    for ask in every_ask(graph):  # every value once, and every third key
        (result,) = [await toolbox.call(call) for call in calls_of([ask])]
        if (shown := memory.answer(ask.tool, dict(ask.arguments))) is not None:
            known += 1
            assert shown.rows == decode_rows(result.content), ask
            assert shown.tokens == count_tokens(result.content)[0], ask
    assert known > 100


def every_ask(graph: PropertyGraph) -> list[Ask]:
    asks = []
    values = {(node.label, *value): None for node in graph.nodes() for value in node.properties.items()}
    keys = [(node.label, "key", node.key) for node in graph.nodes()][::3]
    for label, name, value in [*values, *keys]:
        look_up = {"label": label, "property_name": name, "property_value": value}
        asks += [Ask("get_all_nearest_neighbors", look_up), Ask("get_node_by_property", look_up)]
    for table in graph.node_tables:
        for name in ("key", *table.columns):
            asks.append(values_of(name, table.label, "node"))
    for table in graph.relationship_tables:
        asks += [values_of(name, table.type, "relationship") for name in table.columns]
    return asks


def values_of(name: str, owner: str, kind: str) -> Ask:
    named = {"property_name": name, "entity_name": owner, "entity_type": kind}
    return Ask("get_unique_property_values", named)


def test_what_may_mean_two_things_is_left_to_the_toolbox() -> None:
    index = GraphIndex(generate_graph(GraphSpec(preset="paper-100"), 0))
    memory, node = MemoryTools.of(index), next(iter(index.nodes.values()))
    look_up = {"label": node.label, "property_name": "key", "property_value": node.key}
    assert memory.answer("get_node_by_property", look_up) is not None
    for other in ("2001-04-25", "nothing has this", True, 7):
        assert memory.answer("get_node_by_property", {**look_up, "property_value": other}) is None
    assert memory.answer("get_node_by_property", {**look_up, "limit": 2}) is None
    assert memory.answer("think", {"thought": "well"}) is None


@pytest.mark.parametrize(
    ("labels", "properties"),
    [(("A", "B"), {}), (("A",), {"p": read_temporal("2001-04-25")}), (("A",), {"p": (1, 2)})],
)
def test_graphs_whose_results_take_more_care_are_not_walked_in_memory(labels: Any, properties: Any) -> None:
    other = Node("b1", ("A",), {})
    graph = PropertyGraph.from_rows([Node("a1", labels, properties), other], [Relationship("R", "a1", "b1", {})])
    assert not can_be_walked_in_memory(graph)
    assert can_be_walked_in_memory(generate_graph(GraphSpec(), 0))


def test_numbers_that_only_look_different_are_left_to_the_toolbox() -> None:
    graph = PropertyGraph.from_rows([Node("a1", ("A",), {"p": 1}), Node("b1", ("A",), {"p": 1.0})], [])
    assert not can_be_walked_in_memory(graph)

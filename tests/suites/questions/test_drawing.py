"""Parameters are drawn so that a question is worth asking, and graphs that cannot host one are told so."""

from collections.abc import Sequence

import pytest
from inline_snapshot import snapshot

from graphwalk.errors import ConfigError
from graphwalk.graphs.random.generate import generate_graph
from graphwalk.graphs.random.spec import GraphSpec
from graphwalk.seeds import stdlib_random
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.drawing import draw_parameters
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.oracle.scratch import Scratch
from graphwalk.suites.questions.parameter_space import ParameterSpace
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Row, Value

INDEX = GraphIndex(generate_graph(GraphSpec(preset="paper-200"), 5))


async def scratch_for(index: GraphIndex) -> Scratch:
    return Scratch(index.graph, await EmbeddedDatabase().load(index.graph))


async def drawn(index: GraphIndex, name: str, number: int = 0, max_hops: int = 3) -> dict[str, Value]:
    random, space = stdlib_random(0, "test", name, number), ParameterSpace(index, max_hops)
    return await draw_parameters(shipped_kinds()[name], index, space, random, await scratch_for(index))


async def several(name: str) -> Sequence[tuple[dict[str, Value], list[dict[str, Value]]]]:
    found = [await drawn(INDEX, name, number) for number in range(20)]
    return [(parameters, evaluate(name, INDEX, parameters)) for parameters in found]


def evaluate(name: str, index: GraphIndex, parameters: dict[str, Value]) -> list[Row]:
    python = shipped_kinds()[name].python
    assert python is not None
    return python.right_rows(index, parameters)


@pytest.mark.parametrize("name", shipped_kinds())
async def test_every_question_has_an_answer_that_can_be_written_down(name: str) -> None:
    for _, rows in await several(name):
        assert 1 <= len(rows) <= shipped_kinds()[name].template.preferred_rows
        assert rows[0].get("count", 1) != 0


async def test_no_answer_is_simply_all_nodes() -> None:
    for parameters, rows in await several("node_count"):
        assert rows[0]["count"] != len(INDEX.keys_of(str(parameters["source_label"])))
    for name in ("compositional_intersection", "negation_with_connection", "negation_on_rel_property"):
        for parameters, rows in await several(name):
            assert len(rows) < len(INDEX.keys_of(str(parameters["source_label"])))


async def test_what_is_excluded_matters() -> None:
    for parameters, rows in await several("negation_with_connection"):
        without = evaluate("negation_with_connection", INDEX, parameters | {"excluded_label": "Nothing"})
        assert len(rows) < len(without)
    for parameters, rows in await several("negation_on_rel_property"):
        without = evaluate("negation_on_rel_property", INDEX, parameters | {"excluded_value": "nothing"})
        assert len(rows) < len(without)


async def test_both_labels_of_an_intersection_matter() -> None:
    for parameters, rows in await several("compositional_intersection"):
        assert parameters["first_label"] != parameters["second_label"]
        for name in ("first_label", "second_label"):
            one = parameters | {"first_label": parameters[name], "second_label": parameters[name]}
            assert len(rows) < len(evaluate("compositional_intersection", INDEX, one))


async def test_the_most_connected_node_is_one_where_the_graph_allows() -> None:
    assert all(len(rows) == 1 for _, rows in await several("node_with_most_relationships"))


async def test_a_tie_is_asked_about_where_there_is_nothing_else() -> None:
    nodes = [Node(key, "A", {}) for key in "abc"]
    ends = ["ab", "ac", "ba", "bc", "ca"]
    graph = PropertyGraph.from_rows(nodes, [Relationship("R", source, target, {}) for source, target in ends])
    index = GraphIndex(graph)
    assert len(evaluate("node_with_most_relationships", index, await drawn(index, "node_with_most_relationships"))) == 2


async def test_hops_stay_within_the_limit() -> None:
    for name in ("variable_hop_path", "path_from_specific_node", "remote_node_property"):
        assert {(await drawn(INDEX, name, number))["max_hops"] for number in range(20)} == {2, 3}
        assert {(await drawn(INDEX, name, number, max_hops=2))["max_hops"] for number in range(5)} == {2}


async def test_a_graph_that_cannot_host_a_question_is_told_why() -> None:
    nodes = [Node(key, "A", {}) for key in "abc"]
    graph = PropertyGraph.from_rows(nodes, [Relationship("R", "a", "b", {})])
    messages = {}
    for name in shipped_kinds():
        try:
            await drawn(GraphIndex(graph), name)
        except ConfigError as error:
            graph_part, _, messages[name] = str(error).partition(f" cannot host the question {name}: ")
            assert graph_part == f"the graph {graph.digest[:12]} (3 nodes, 1 relationships)"
    assert messages == snapshot(
        {
            "node_by_property": "it takes a label and properties",
            "node_with_most_relationships": "of 1 choices tried, 0 have no answer and 1 a trivial one",
            "relationship_by_property": "it takes a relationship type and properties",
            "path_finding": "of 1 choices tried, 1 have no answer and 0 a trivial one",
            "remote_node_property": "it takes a label and properties",
            "variable_hop_path": "of 2 choices tried, 2 have no answer and 0 a trivial one",
            "compositional_intersection": "it takes two labels",
            "negation_on_rel_property": "it takes a label and a relationship type and properties",
            "negation_with_connection": "it takes two labels",
        }
    )


async def test_a_question_is_not_asked_more_often_than_the_graph_allows() -> None:
    taken = [(type_,) for type_ in INDEX.relationships_of]
    kind, random = shipped_kinds()["relationship_count"], stdlib_random(0, "test")
    with pytest.raises(ConfigError, match="relationship_count 5 times: there are no other parameters for it"):
        await draw_parameters(kind, INDEX, ParameterSpace(INDEX, 3), random, await scratch_for(INDEX), taken)

"""The conditions of a question are data in its YAML, and hold on graphs of every shape."""

from typing import Any

import pytest

from graphwalk.seeds import stdlib_random
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import Question, shipped_kinds
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.oracles import Scratch
from graphwalk.suites.questions.parameters import ParameterSpace, has_answer, is_worth_asking, known_rows
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Row, Value
from tests.suites.questions.odd_graphs import odd_graph

LEFT_OUT = {
    "negation_with_connection": {"excluded_label": "Nothing"},
    "negation_on_rel_property": {"excluded_value": "nothing at all"},
}
"""Parameters under which one condition no longer excludes anything."""


async def asked(graph: PropertyGraph, name: str, parameters: dict[str, Value]) -> tuple[list[Row], bool]:
    """The right rows, and whether they are worth asking for."""
    index = GraphIndex(graph)
    scratch = Scratch(graph, await EmbeddedDatabase().load(graph))
    question = Question(shipped_kinds()[name], index, parameters)
    rows = await known_rows(question, scratch)
    return rows, has_answer(question, rows) and await is_worth_asking(question, rows, scratch)


@pytest.mark.parametrize(
    ("name", "words", "worth"),
    [
        # a1, a2 and a3 are A; b is B. a1→b, a2→b (p=1), a1→a2 (p=2), a3→a3
        ("node_count", "A B", True),
        ("node_count", "B A", False),
        ("relationship_count", "R", True),
        ("node_with_most_relationships", "A R", True),
        ("node_with_most_relationships", "A S", False),
        ("node_by_property", "A q x", True),
        ("node_by_property", "B q x", False),
        ("relationship_by_property", "R p 1", True),
        ("relationship_by_property", "S p 5", False),
        ("compositional_intersection", "A A B", True),
        ("negation_with_connection", "A B A", True),
        ("negation_with_connection", "B A B", False),
        ("path_finding", "A A B", True),
        ("path_from_specific_node", "A a1 A 2", True),
        ("path_from_specific_node", "A a1 B 2", False),
    ],
)
async def test_an_answer_that_is_simply_everything_is_not_asked_for(name: str, words: str, worth: bool) -> None:
    nodes = [
        Node("a1", ("A",), {"q": "x"}),
        Node("a2", ("A",), {"q": "y"}),
        Node("a3", ("A",), {}),
        Node("b", ("B",), {"q": "x"}),
    ]
    relationships = [
        Relationship("R", "a1", "b", {"p": 1}),
        Relationship("R", "a2", "b", {"p": 1}),
        Relationship("R", "a1", "a2", {"p": 2}),
        Relationship("S", "a3", "a3", {"p": 5}),
        Relationship("S", "a3", "a3", {"p": 5}),
    ]
    graph = PropertyGraph.from_rows(nodes, relationships)
    values: list[Any] = [int(word) if word.isdecimal() else word for word in words.split()]
    parameters = dict(zip(shipped_kinds()[name].template.parameters, values, strict=True))
    assert (await asked(graph, name, parameters))[1] is worth


@pytest.mark.parametrize("name", LEFT_OUT)
async def test_an_exclusion_is_asked_about_exactly_where_it_changes_the_answer(name: str) -> None:
    kind, worth = shipped_kinds()[name], 0
    for number in range(800):
        random = stdlib_random(0, "worth asking", number)
        graph = odd_graph(random)
        space = ParameterSpace(GraphIndex(graph), 3)
        if not (size := space.size(kind.template)):
            continue
        parameters = space.at(kind.template, random.randrange(size))
        rows, is_worth = await asked(graph, name, parameters)
        wider, _ = await asked(graph, name, {**parameters, **LEFT_OUT[name]})
        assert is_worth == (0 < len(rows) < len(wider)), parameters
        worth += is_worth
    assert worth > 3


async def test_a_remote_value_must_be_known_and_not_just_any() -> None:
    """1 and 1.0 are one value, 1 and true are two."""
    values: list[Any] = [1, 1.0, True, None]
    nodes = [Node("s", ("S",), {}), Node("m", ("M",), {})]
    nodes += [Node(f"t{n}", ("T",), {} if value is None else {"p": value}) for n, value in enumerate(values)]
    remote = {"source_label": "S", "key": "s", "target_label": "T", "property": "p", "max_hops": 2}

    async def worth(*targets: int) -> bool:
        arrows = [Relationship("R", "s", "m", {}), *(Relationship("R", "m", f"t{n}", {}) for n in targets)]
        return (await asked(PropertyGraph.from_rows(nodes, arrows), "remote_node_property", remote))[1]

    assert await worth(0)
    assert await worth(0, 1)
    assert not await worth(0, 2)
    assert not await worth(0, 3)

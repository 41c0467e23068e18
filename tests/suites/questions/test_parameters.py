"""Parameters are drawn so that a question is worth asking, and graphs that cannot host one are an error."""

from collections import Counter
from typing import Any

import pytest
from scipy.stats import chisquare

from graphwalk.errors import ConfigError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.values import Row, Value
from graphwalk.seeds import stdlib_random
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.make_tasks import make_tasks
from graphwalk.suites.questions.parameters import (
    ParameterSearch,
    ParameterSpace,
    correct_rows,
    has_answer,
    is_worth_asking,
)
from graphwalk.suites.questions.question import Question


async def test_all_parameters_worth_asking_about_are_equally_likely() -> None:
    """Counted over 2,000 draws by chi-square, against a list of all that was made without drawing."""
    graph = generate_graph(GraphSpec(nodes=40, labels=3, relationship_types=2, properties=2, values=3), 2)
    name = "path_from_specific_node"
    index, kind = GraphIndex(graph), shipped_kinds()[name]
    space, store = ParameterSpace(index), await EmbeddedDatabase().load(graph)
    choices = [space.at(kind, number) for number in range(space.size(kind))]
    likely = []
    for parameters in choices:
        question = Question(kind, index, parameters)
        rows = await correct_rows(question, store)
        if rows and await is_worth_asking(question, rows, store):
            likely.append(tuple(parameters.values()))
    random, search = stdlib_random(0, "uniform", name), ParameterSearch(index, store)
    found = Counter([tuple((await search.draw(kind, random))[0].parameters.values()) for _ in range(2_000)])
    assert 1 < len(likely) < len(choices)
    assert set(found) == set(likely)
    assert chisquare([found[parameters] for parameters in likely]).pvalue > 0.001


async def test_answers_have_at_most_the_rows_that_are_asked_for() -> None:
    graph = generate_graph(GraphSpec(preset="paper-200"), 5)
    config = QuestionsConfig(questions=("variable_hop_path",), per_question=2, most_rows=40)
    tasks = await make_tasks(graph, await EmbeddedDatabase().load(graph), config, seed=1)
    assert [task.target_size <= 40 for task in tasks.asked] == [True, True]


async def test_a_graph_that_cannot_host_a_question_is_told_why() -> None:
    nodes = [Node(key, ("A",), {}) for key in "abc"]
    graph = PropertyGraph.from_rows(nodes, [Relationship("R", "a", "b", {})])
    search = ParameterSearch(GraphIndex(graph), await EmbeddedDatabase().load(graph))
    with pytest.raises(ConfigError) as caught:
        await search.draw(shipped_kinds()["variable_hop_path"], stdlib_random(0, "test"))
    assert caught.value.message == "none of 2 parameter sets has an answer that is not trivial"


async def asked(graph: PropertyGraph, name: str, parameters: dict[str, Value]) -> tuple[list[Row], bool]:
    """The right rows, and whether they are worth asking for."""
    index = GraphIndex(graph)
    store = await EmbeddedDatabase().load(graph)
    question = Question(shipped_kinds()[name], index, parameters)
    rows = await correct_rows(question, store)
    return rows, has_answer(question, rows) and await is_worth_asking(question, rows, store)


@pytest.mark.parametrize(
    ("name", "words", "worth"),
    [
        # a1, a2 and a3 are A; b is B. a1→b, a2→b (p=1), a1→a2 (p=2), a3→a3
        ("node_count", "A B", True),
        ("node_count", "B A", False),
        ("node_with_most_relationships", "A S", False),
        ("node_by_property", "B q x", False),
        ("relationship_by_property", "S p 5", False),
        ("negation_with_connection", "A B A", True),
        ("negation_with_connection", "B A B", False),
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
    parameters = dict(zip(shipped_kinds()[name].parameters, values, strict=True))
    assert (await asked(graph, name, parameters))[1] is worth

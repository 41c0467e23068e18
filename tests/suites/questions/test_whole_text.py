"""Tokens of a whole graph are those of the text that is not made."""

import pytest

from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.text import graph_text
from graphwalk.models.tokens import count_tokens
from graphwalk.suites.questions.config import GeneratedGraph, QuestionsConfig
from graphwalk.suites.questions.prompts import whole_text_tokens
from graphwalk.suites.questions.suite import QuestionsSuite


@pytest.mark.parametrize(
    "spec",
    [
        GraphSpec(nodes=300, labels=5, mean_degree=3, missing_rate=0.4),
        GraphSpec(preset="paper-100"),
        GraphSpec(nodes=2, labels=1, relationship_types=1, density=0.001),
    ],
)
def test_the_sum_is_that_of_the_text(spec: GraphSpec) -> None:
    graph = generate_graph(spec, 7)
    assert abs(whole_text_tokens(graph) - count_tokens(graph_text(graph, "json"))[0]) <= 1


def test_it_is_counted_only_where_it_is_asked_for() -> None:
    spec = GeneratedGraph(preset="paper-100")
    (plain,) = QuestionsSuite().graphs(QuestionsConfig(graphs=(spec,)), 7)
    (counted,) = QuestionsSuite().graphs(QuestionsConfig(graphs=(spec,), text_tokens=True), 7)
    assert counted.graph is not None
    assert counted.facts == {**plain.facts, "text_tokens": whole_text_tokens(counted.graph)}

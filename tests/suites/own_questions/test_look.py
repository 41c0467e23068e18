"""The script that looks words up, on any graph; its answer names it as a script."""

import pytest

import graphwalk
from graphwalk.types.graph import Node, PropertyGraph, Relationship

FILMS = "tests/data/films.json"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who directed Red Dust?", "Bo Lund [p2] DIRECTED Red Dust [f2]"),
        ("who was born in skagen", "Ida Holm [p1] BORN_IN Skagen [c1]"),
        ("What about f3?", "Ida Holm [p1] DIRECTED"),
        ("Who directed red dest?", "Bo Lund [p2] DIRECTED Red Dust [f2]"),
        ("Where was Ida Holm born?", "- Ida Holm [p1] BORN_IN Skagen [c1]"),
        ("?", "No property value occurs in the question."),
        ("Is there a Casablanca?", "No property value occurs in the question."),
    ],
)
def test_words_of_the_question_are_looked_up(question: str, said: str) -> None:
    answer = graphwalk.ask(question, FILMS, model="scripted/look").answer
    assert answer is not None
    assert answer.startswith("I am a script, not a language model")
    assert said in answer


@pytest.mark.parametrize("name", ["Thing Number 299", "Thing Numbxer 299", "thing number 299"])
def test_a_name_is_found_among_many_in_few_calls(name: str) -> None:
    nodes = [Node(f"n{i}", ("Thing",), {"name": f"Thing Number {i:03}"}) for i in range(300)]
    graph = PropertyGraph.from_rows(nodes, [Relationship("NEXT", "n298", "n299", {})])
    answer = graphwalk.ask(f"What is next to {name}?", graph, model="scripted/look")
    assert "Thing Number 298 [n298] NEXT Thing Number 299 [n299]" in (answer.answer or "")
    assert {step.call for step in answer.steps} == {"search_nodes", "get_node_by_property", "get_all_nearest_neighbors"}


def test_exhausted_call_limit_is_in_the_answer() -> None:
    answer = graphwalk.ask("Red Dust?", FILMS, model="scripted/look", turn_limit=1)
    assert "The call limit was reached" in (answer.answer or "")
    assert answer.exit_status == "turn_limit"

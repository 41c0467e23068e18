"""The script that looks words up, on any graph; its answer names it as a script."""

import pytest

import graphwalk

FILMS = "tests/data/films.json"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("who was born in skagen", "Ida Holm [p1] BORN_IN Skagen [c1]"),
        ("Who directed red dest?", "Bo Lund [p2] DIRECTED Red Dust [f2]"),
        ("Where was Ida Holm born?", "- Ida Holm [p1] BORN_IN Skagen [c1]"),
        ("?", "No property value occurs in the question."),
    ],
)
def test_words_of_the_question_are_looked_up(question: str, said: str) -> None:
    answer = graphwalk.ask(question, FILMS, model="scripted/look").answer
    assert answer is not None
    assert answer.startswith("I am a script, not a language model")
    assert said in answer


def test_exhausted_call_limit_is_in_the_answer() -> None:
    answer = graphwalk.ask("Red Dust?", FILMS, model="scripted/look", turn_limit=1)
    assert "The call limit was reached" in (answer.answer or "")
    assert answer.exit_status == "turn_limit"

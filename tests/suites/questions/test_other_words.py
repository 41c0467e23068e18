"""Every question that ships can be asked in other words, and means the same."""

import re

import pytest

from graphwalk.jinja import check_text
from graphwalk.resources import data_path
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.other_words import wordings
from graphwalk.suites.questions.wording import WORDING_FILTERS, render_wording


@pytest.mark.parametrize("name", shipped_kinds())
def test_other_words_name_all_that_the_question_is_about(name: str) -> None:
    held = wordings()[name]
    assert len(held["training"]) >= 2
    assert held["held_out"]
    parameters = shipped_kinds()[name].template.parameters
    for text in (*held["training"], *held["held_out"]):
        check_text(text, parameters, WORDING_FILTERS)
        assert parameters.keys() <= {word for word in parameters if word in text}, text


def test_no_wording_is_trained_on_and_held_out() -> None:
    for held in wordings().values():
        assert not set(held["training"]) & set(held["held_out"])


@pytest.mark.parametrize("name", shipped_kinds())
def test_labels_have_the_right_article(name: str) -> None:
    template = shipped_kinds()[name].template
    texts = [template.wording, *wordings()[name]["training"], *wordings()[name]["held_out"]]
    values = {p: 2 if held.role == "hops" else "Opufaso" for p, held in template.parameters.items()}
    for text in texts:
        asked = render_wording(text, {**values, "answer_properties": ["hue"]})
        assert not re.search(r"\ba Opufaso", asked), asked


@pytest.mark.parametrize("file", ["wordings.yaml", "thoughts/questions.yaml", "prompts/tool_messages.yaml"])
def test_no_bare_article_is_before_a_name(file: str) -> None:
    text = (data_path("templates") / file).read_text(encoding="utf-8")
    assert not re.search(r"\b[Aa]n? \{\{", text)

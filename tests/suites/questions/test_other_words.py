"""Every question that ships has a second wording with the same meaning."""

import re
from itertools import chain

import pytest

from graphwalk.resources import data_path
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.template import render_wording


@pytest.mark.parametrize("name", shipped_kinds())
def test_other_words_name_all_that_the_question_is_about(name: str) -> None:
    held = shipped_kinds()[name].template.other_wordings
    assert len(held["training"]) >= 2
    assert held["held_out"]
    parameters = shipped_kinds()[name].template.parameters
    for text in (*held["training"], *held["held_out"]):
        assert parameters.keys() <= {word for word in parameters if word in text}, text


def test_no_wording_is_trained_on_and_held_out() -> None:
    for kind in shipped_kinds().values():
        held = kind.template.other_wordings
        assert not set(held["training"]) & set(held["held_out"])


@pytest.mark.parametrize("name", shipped_kinds())
def test_labels_have_the_right_article(name: str) -> None:
    template = shipped_kinds()[name].template
    texts = [template.wording, *chain.from_iterable(template.other_wordings.values())]
    values = {p: 2 if held.role == "hops" else "Opufaso" for p, held in template.parameters.items()}
    for text in texts:
        asked = render_wording(text, {**values, "answer_properties": ["hue"]})
        assert not re.search(r"\ba Opufaso", asked), asked


@pytest.mark.parametrize("files", ["questions/*.yaml", "thoughts/questions.yaml", "prompts/tool_messages.yaml"])
def test_no_bare_article_is_before_a_name(files: str) -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in data_path("templates").glob(files))
    assert text
    assert not re.search(r"\b[Aa]n? \{\{", text)

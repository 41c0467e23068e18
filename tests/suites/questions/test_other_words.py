"""Every question that ships can be asked in other words, and means the same."""

import pytest

from graphwalk.jinja import check_text
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.other_words import wordings
from graphwalk.suites.questions.wording import WORDING_FILTERS


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

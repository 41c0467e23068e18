"""The question templates: what a model reads, and what a template may not contain."""

from pathlib import Path

import pytest

from graphwalk.config.resources import data_path
from graphwalk.errors import ConfigError
from graphwalk.graphs.values import Value
from graphwalk.suites.questions.catalogue import load_kind, shipped_kinds
from graphwalk.suites.questions.template import render_wording

TEMPLATES = {name: kind.template for name, kind in shipped_kinds().items()}


@pytest.mark.parametrize(
    ("value", "text"), [("12", '"12"'), (12, "12"), (1.5, "1.5"), (True, "true"), ('a "ü" <b>', '"a \\"ü\\" <b>"')]
)
def test_values_are_written_so_that_text_and_numbers_differ(value: Value, text: str) -> None:
    wording = TEMPLATES["node_by_property"].wording
    assert f"have the value {text} in" in render_wording(wording, {"label": "A", "property": "p", "value": value})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class: retrieval", "class: trivia", ":2: class: must be"),
        ("{role: property, of: label}", "{role: property}", ":6: parameters: property: `of` must name an earlier"),
        ("nodes have the value {{ value", "nodes have the value {{ vale", ":9: wording: there is no vale; known:"),
        ("{{ label | label }}", "{{ label | label }", "cypher: line 1 of the text"),
        (
            "answer_fields: [node_key]",
            "answer_fields: [k]\nscored_fields: [q]",
            "scored_fields: there is no q; known: k",
        ),
        ("name: node_by_property", "name: other", "name: 'other' differs from the file name"),
    ],
)
def test_mistakes_in_a_template_name_file_line_and_field(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (data_path("templates") / "questions/node_by_property.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "node_by_property.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_kind(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)

"""YAML and Python of a question are joined by name, and what is missing is named."""

from pathlib import Path
from typing import Any

import pytest

from graphwalk.config.resources import data_path
from graphwalk.config.templates import render_text
from graphwalk.errors import ConfigError
from graphwalk.graphs.values import Value
from graphwalk.suites.questions import kinds
from graphwalk.suites.questions.catalogue import choose_kinds, load_kind, python_parts, shipped_files, shipped_kinds


def test_every_question_that_ships_is_whole() -> None:
    assert set(python_parts().built_in) == set(shipped_kinds())
    for kind in shipped_kinds().values():
        python: Any = kind.python
        assert python.__module__ == f"{kinds.__name__}.{kind.name}"


@pytest.mark.parametrize("name", shipped_files())
def test_the_file_of_a_question_that_ships_has_no_mistake(name: str) -> None:
    """A run reads it without this check."""
    assert load_kind(shipped_files()[name]).model_dump() == shipped_kinds()[name].model_dump()


def test_a_python_part_has_the_fields_of_its_yaml_file(tmp_path: Path) -> None:
    path = tmp_path / "relationship_count.yaml"
    text = (data_path("templates") / "questions" / path.name).read_text(encoding="utf-8")
    path.write_text(
        text.replace("  relationship_type:", "  a_type:").replace("{{ relationship_type", "{{ a_type"), encoding="utf-8"
    )
    with pytest.raises(ConfigError, match="Part has other fields"):
        _ = load_kind(path).python


def test_a_question_named_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="repeated question node_count"):
        choose_kinds(["node_count", "path_finding", "node_count"])


@pytest.mark.parametrize(
    ("value", "text"), [("12", '"12"'), (12, "12"), (1.5, "1.5"), (True, "true"), ('a "ü" <b>', '"a \\"ü\\" <b>"')]
)
def test_values_are_written_so_that_text_and_numbers_differ(value: Value, text: str) -> None:
    wording = shipped_kinds()["node_by_property"].wording
    assert f"have the value {text} in" in render_text(wording, label="A", property="p", value=value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class: retrieval", "class: trivia", ":2: class: must be"),
        ("{role: property, of: label}", "{role: property}", ":7: parameters.property: `of` must name an earlier"),
        ("nodes have the value {{ value", "nodes have the value {{ vale", ":9: wording: there is no vale; known:"),
        ("{{ label | label }}", "{{ label }}", ": cypher: the Cypher template writes 'Name' without a filter"),
        ("{{ label | label }}", "{{ label | label }", "cypher: the Cypher template cannot be rendered"),
        (
            "answer_fields: [node_key]",
            "answer_fields: [k]\nscored_fields: [q]",
            "scored_fields: there is no q; known: k",
        ),
        ("name: node_by_property", "name: other", "name: 'other' differs from the file name"),
    ],
)
def test_mistakes_in_a_kind_name_file_line_and_field(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (data_path("templates") / "questions/node_by_property.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "node_by_property.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_kind(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)

"""YAML and Python of a question are joined by name, and what is missing is named."""

from typing import Any

import pytest

from graphwalk.errors import ConfigError
from graphwalk.suites.questions import kinds
from graphwalk.suites.questions.catalogue import checked_part, choose_kinds, python_parts, shipped_kinds
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.kinds.relationship_count import Part


class NoRows(PythonPart):
    relationship_type: str
    plan = Part.plan


class NoPlan(PythonPart):
    relationship_type: str
    rows = Part.rows


class OtherField(Part):
    type: str


def test_every_question_that_ships_is_whole() -> None:
    assert set(python_parts().built_in) == set(shipped_kinds())
    for kind in shipped_kinds().values():
        python: Any = kind.python
        assert python.__module__ == f"{kinds.__name__}.{kind.name}"


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (NoRows, "mine lacks the method `rows`"),
        (NoPlan, "mine lacks the method `plan`"),
        (OtherField, "mine has the fields relationship_type, type; the YAML file has relationship_type"),
        (object, "mine is not a class derived from graphwalk.suites.questions.kinds.PythonPart"),
    ],
)
def test_what_a_python_part_lacks_is_named(part: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        checked_part(part, "mine", ["relationship_type"])
    assert str(caught.value) == message


def test_a_question_named_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="repeated question node_count"):
        choose_kinds(["node_count", "path_finding", "node_count"])

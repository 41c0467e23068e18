"""YAML and Python of a question are joined by name, and what is missing is named."""

from typing import Any

import pytest

from graphwalk.errors import ConfigError
from graphwalk.suites.questions import kinds
from graphwalk.suites.questions.catalogue import choose_kinds, python_part, python_parts, shipped_kinds


def test_every_question_that_ships_is_whole() -> None:
    assert set(python_parts().built_in) == set(shipped_kinds())
    for kind in shipped_kinds().values():
        python: Any = kind.python
        assert python.__module__ == f"{kinds.__name__}.{kind.name}"


def test_a_python_part_has_the_fields_of_its_yaml_file() -> None:
    with pytest.raises(ConfigError, match="the method rows and the fields label"):
        python_part("relationship_count", ("label",))


def test_a_question_named_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="repeated question node_count"):
        choose_kinds(["node_count", "path_finding", "node_count"])

"""The name of a node."""

from typing import Any

import pytest

from graphwalk.graphs.graph import Node
from graphwalk.graphs.names import name_of


@pytest.mark.parametrize(
    ("properties", "name"),
    [
        ({"age": "71"}, "u1122"),
        ({"age": 71, "name": 71}, "u1122"),
        ({"city": "Oslo", "full name": "Pia Vik"}, "Pia Vik"),
        ({"city": "Oslo", "display_name": "Pia"}, "Pia"),
        ({"fullName": "Pia Vik", "title": "Dr."}, "Dr."),
        ({"city": "Oslo"}, "u1122"),
    ],
)
def test_a_node_is_called_by_a_property_that_holds_names_else_by_its_key(properties: dict[str, Any], name: str) -> None:
    assert name_of(Node("u1122", ("User",), properties)) == name

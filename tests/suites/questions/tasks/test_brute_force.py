"""The brute-force check compares values as logs contain them, and finds what the evaluator finds."""

import pytest

from graphwalk.evaluation.rows import same_rows
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.kinds.node_by_property import Part as NodeByProperty
from graphwalk.suites.questions.kinds.relationship_by_property import Part as RelationshipByProperty
from graphwalk.suites.questions.tasks.graph_index import GraphIndex
from graphwalk.suites.questions.tasks.parameters import ParameterSpace
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Temporal, Value, shown
from tests.database.rich_graph import IN_FILES

GRAPH = PropertyGraph.from_rows(
    [Node(f"v{number}", ("Mixed",), {"value": value}) for number, value in enumerate(IN_FILES)],
    [Relationship("MIXED", "v0", "v1", {"value": value}) for value in IN_FILES],
)
INDEX = GraphIndex(GRAPH)


def values_asked_about(name: str, *chosen: str) -> list[Value]:
    template = shipped_kinds()[name].template
    parameters = dict(zip(template.parameters, chosen, strict=False))
    return list(ParameterSpace(INDEX, 3).options(template, "value", parameters))


@pytest.mark.parametrize(
    ("part", "name", "owner"),
    [(NodeByProperty, "node_by_property", "Mixed"), (RelationshipByProperty, "relationship_by_property", "MIXED")],
)
def test_every_value_is_found_by_its_logged_form(
    part: type[NodeByProperty] | type[RelationshipByProperty], name: str, owner: str
) -> None:
    values = values_asked_about(name, owner, "value")
    assert {type(value) for value in values} == {str, int, float, bool, Temporal}
    for value in values:
        target = part(owner, "value", value).right_rows(INDEX)
        rows = part(owner, "value", shown(value)).rows_by_brute_force(GRAPH)
        assert rows
        assert same_rows(rows, target), value

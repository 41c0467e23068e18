"""Which parameters make a question worth asking: it has an answer, and the answer is not simply everything.

One rule per question, of the same name; a question without one only needs an answer. Where a question excludes
something, the exclusion must change the answer.
"""

from collections.abc import Callable, Mapping
from typing import Any

from graphwalk.suites.questions.oracle.evaluators import equal
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.types.values import Row, Value

Rule = Callable[..., bool]


def has_answer(rows: list[Row]) -> bool:
    """There is a row, and a count is at least 1."""
    return bool(rows) and all(row.get("count") != 0 for row in rows)


def is_worth_asking(question: str, index: GraphIndex, rows: list[Row], parameters: Mapping[str, Value]) -> bool:
    """True where the right answer `rows` is not trivial."""
    rule = RULES.get(question)
    return rule is None or rule(index, rows, **parameters)


def node_count(index: GraphIndex, rows: list[Row], source_label: str, **_: Any) -> bool:
    return bool(rows[0]["count"] < len(index.nodes_of[source_label]))


def node_with_most_relationships(index: GraphIndex, rows: list[Row], source_label: str, relationship_type: str) -> bool:
    """Some other node has such relationships too, but fewer."""
    sources = {r.source for r in index.relationships_of[relationship_type] if index.label(r.source) == source_label}
    return len(sources) > len(rows)


def node_by_property(index: GraphIndex, rows: list[Row], label: str, **_: Any) -> bool:
    return len(rows) < len(index.nodes_of[label])


def relationship_by_property(
    index: GraphIndex, rows: list[Row], relationship_type: str, property: str, value: Value
) -> bool:
    return not all(equal(r.properties.get(property), value) for r in index.relationships_of[relationship_type])


def path_finding(index: GraphIndex, rows: list[Row], source_label: str, target_label: str, **_: Any) -> bool:
    return len(rows) < len(index.nodes_of[source_label]) * len(index.nodes_of[target_label])


def path_from_specific_node(index: GraphIndex, rows: list[Row], target_label: str, **_: Any) -> bool:
    return len(rows) < len(index.nodes_of[target_label])


def remote_node_property(index: GraphIndex, rows: list[Row], target_label: str, property: str, **_: Any) -> bool:
    """Every remote node has the property, and not just any value would do."""
    values = {index.property(key, property) for key in index.keys_of(target_label)} - {None}
    return all(row["value"] is not None for row in rows) and len(rows) < len(values)


def compositional_intersection(
    index: GraphIndex, rows: list[Row], source_label: str, first_label: str, second_label: str
) -> bool:
    """Either condition alone would give more nodes."""
    joined = [index.successor_labels[key] for key in index.keys_of(source_label)]
    return all(len(rows) < sum(label in labels for labels in joined) for label in (first_label, second_label))


def negation_with_connection(
    index: GraphIndex, rows: list[Row], source_label: str, required_label: str, excluded_label: str
) -> bool:
    """The exclusion leaves out some node."""
    keys = index.keys_of(source_label)
    return any({required_label, excluded_label} <= index.successor_labels[key] for key in keys)


def negation_on_rel_property(
    index: GraphIndex,
    rows: list[Row],
    source_label: str,
    node_property: str,
    node_value: Value,
    relationship_type: str,
    target_label: str,
    relationship_property: str,
    excluded_value: Value,
) -> bool:
    """Some node is left out because all that it has are relationships with the excluded value."""
    given = {row["node_key"] for row in rows}
    return any(
        equal(r.properties.get(relationship_property), excluded_value)
        for key in index.keys_of(source_label)
        if key not in given and equal(index.property(key, node_property), node_value)
        for r in index.outgoing[key]
        if r.type == relationship_type and index.label(r.target) == target_label
    )


RULES: Mapping[str, Rule] = {
    "node_count": node_count,
    "node_with_most_relationships": node_with_most_relationships,
    "node_by_property": node_by_property,
    "relationship_by_property": relationship_by_property,
    "path_finding": path_finding,
    "variable_hop_path": path_finding,
    "path_from_specific_node": path_from_specific_node,
    "remote_node_property": remote_node_property,
    "compositional_intersection": compositional_intersection,
    "negation_with_connection": negation_with_connection,
    "negation_on_rel_property": negation_on_rel_property,
}

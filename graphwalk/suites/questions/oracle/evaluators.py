"""The second oracle: the twelve questions answered from the graph in memory, without Cypher (spec section 5).

One function per question, of the same name, taking the question's parameters. Cypher's rules hold: relationships are
unique within one match, nodes may repeat, and a missing property is null, which satisfies neither `=` nor `<>`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from graphwalk.errors import ConfigError
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.oracle.rows import distinct
from graphwalk.types.values import Row, Value

Evaluator = Callable[..., Iterator[Row]]


def evaluate(question: str, index: GraphIndex, parameters: Mapping[str, Value]) -> list[Row]:
    """All right rows, each once, in ascending order; for node_with_most_relationships every tied node.

    ConfigError where no evaluator has that name.
    """
    if question not in EVALUATORS:
        raise ConfigError(
            f"the question {question!r} has no reference evaluator", hint="add one to graphwalk/oracle/evaluators.py"
        )
    return distinct(EVALUATORS[question](index, **parameters))


def equal(left: Value | None, right: Value | None) -> bool:
    """Cypher's `=`: numbers by value, booleans only with booleans, null with nothing."""
    return left is not None and left == right and isinstance(left, bool) == isinstance(right, bool)


def differs(left: Value | None, right: Value | None) -> bool:
    """Cypher's `<>`."""
    return left is not None and right is not None and not equal(left, right)


def node_count(index: GraphIndex, source_label: str, target_label: str) -> Iterator[Row]:
    yield {"count": sum(target_label in index.successor_labels[key] for key in index.keys_of(source_label))}


def relationship_count(index: GraphIndex, relationship_type: str) -> Iterator[Row]:
    yield {"count": len(index.relationships_of.get(relationship_type, ()))}


def node_with_most_relationships(index: GraphIndex, source_label: str, relationship_type: str) -> Iterator[Row]:
    sources = (r.source for r in index.relationships_of.get(relationship_type, ()))
    counts = Counter(key for key in sources if index.label(key) == source_label)
    most = max(counts.values(), default=0)
    return ({"node_key": key, "rel_count": count} for key, count in counts.items() if count == most)


def node_by_property(index: GraphIndex, label: str, property: str, value: Value) -> Iterator[Row]:
    return ({"node_key": key} for key in index.keys_of(label) if equal(index.property(key, property), value))


def relationship_by_property(index: GraphIndex, relationship_type: str, property: str, value: Value) -> Iterator[Row]:
    names = index.relationship_properties(relationship_type)
    for r in index.relationships_of.get(relationship_type, ()):
        if equal(r.properties.get(property), value):
            yield {name: r.properties.get(name) for name in names} | {"source_key": r.source, "target_key": r.target}


def path_finding(index: GraphIndex, source_label: str, middle_label: str, target_label: str) -> Iterator[Row]:
    for a in index.keys_of(source_label):
        for first in index.outgoing[a]:
            if index.label(first.target) != middle_label:
                continue
            for second in index.outgoing[first.target]:
                if second is not first and index.label(second.target) == target_label:
                    yield {"source_node_key": a, "target_node_key": second.target}


def variable_hop_path(index: GraphIndex, source_label: str, target_label: str, max_hops: int) -> Iterator[Row]:
    for a in index.keys_of(source_label):
        for b in index.distances(a, max_hops):
            # A shortest path leaves its end only where it is a cycle: then one relationship of b is used up.
            used = 1 if b == a else 0
            if index.label(b) == target_label and len(index.outgoing[b]) > used:
                yield {"source_node_key": a, "target_node_key": b}


def path_from_specific_node(
    index: GraphIndex, source_label: str, key: str, target_label: str, max_hops: int
) -> Iterator[Row]:
    for a in _node(index, source_label, key):
        for b in index.distances(a, max_hops):
            if index.label(b) == target_label:
                yield {"target_node_key": b}


def remote_node_property(
    index: GraphIndex, source_label: str, key: str, target_label: str, property: str, max_hops: int
) -> Iterator[Row]:
    for a in _node(index, source_label, key):
        # Distance 1 is a direct neighbour, which the question leaves out however else it can be reached.
        for b, distance in index.distances(a, max_hops).items():
            if distance >= 2 and index.label(b) == target_label:
                yield {"value": index.property(b, property)}


def compositional_intersection(
    index: GraphIndex, source_label: str, first_label: str, second_label: str
) -> Iterator[Row]:
    for key in index.keys_of(source_label):
        if {first_label, second_label} <= index.successor_labels[key]:
            yield {"node_key": key}


def negation_with_connection(
    index: GraphIndex, source_label: str, required_label: str, excluded_label: str
) -> Iterator[Row]:
    for key in index.keys_of(source_label):
        labels = index.successor_labels[key]
        if required_label in labels and excluded_label not in labels:
            yield {"node_key": key}


def negation_on_rel_property(
    index: GraphIndex,
    source_label: str,
    node_property: str,
    node_value: Value,
    relationship_type: str,
    target_label: str,
    relationship_property: str,
    excluded_value: Value,
) -> Iterator[Row]:
    for key in index.keys_of(source_label):
        if equal(index.property(key, node_property), node_value) and any(
            r.type == relationship_type
            and index.label(r.target) == target_label
            and differs(r.properties.get(relationship_property), excluded_value)
            for r in index.outgoing[key]
        ):
            yield {"node_key": key}


def _node(index: GraphIndex, label: str, key: str) -> list[str]:
    """The node with this label and key: one or none."""
    return [key] if key in index.nodes and index.label(key) == label else []


EVALUATORS: Mapping[str, Evaluator] = {
    evaluator.__name__: evaluator
    for evaluator in (
        node_count,
        relationship_count,
        node_with_most_relationships,
        node_by_property,
        relationship_by_property,
        path_finding,
        variable_hop_path,
        path_from_specific_node,
        remote_node_property,
        compositional_intersection,
        negation_with_connection,
        negation_on_rel_property,
    )
}

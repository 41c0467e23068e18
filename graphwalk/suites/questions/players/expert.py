"""The expert: one plan per question, which finds the exact answer with the tools alone.

That the plans are right is the proof that four tools without any intelligence suffice (spec section 9); the turns and
calls they need are the par of a question. With directions or relationship properties switched off, the questions that
need them cannot be answered from what the tools show; the plans then answer from what is left.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from graphwalk.models.players.policy import Policy
from graphwalk.suites.questions.players.expert_traversal import (
    path_finding,
    path_from_specific_node,
    remote_node_property,
    variable_hop_path,
)
from graphwalk.suites.questions.players.reading import Steps, nodes, read
from graphwalk.suites.questions.players.walker import Centre, Link, Walker
from graphwalk.types.graph import value_order
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value

Parameters = Mapping[str, Any]
Plan = Callable[[Walker, Schema, Parameters], Steps[list[Row]]]


def expert(template: str, parameters: Mapping[str, Value], schema: Schema) -> Policy:
    """The plan for a question, by the name of its template; knows what a language model would know, and no more.

    Answers with the JSON list of rows that the question asks for. KeyError where there is no such template.
    """
    rows = yield from PLANS[template](Walker(schema), schema, parameters)
    return json.dumps(rows, ensure_ascii=False)


def node_count(walker: Walker, schema: Schema, p: Parameters) -> Steps[list[Row]]:
    targets = yield from _target_labels(walker, p["source_label"])
    return [{"count": sum(p["target_label"] in labels for labels in targets.values())}]


def relationship_count(walker: Walker, schema: Schema, p: Parameters) -> Steps[list[Row]]:
    links = yield from _of_type(walker, schema, p["relationship_type"])
    return [{"count": len(links)}]


def node_with_most_relationships(walker: Walker, schema: Schema, p: Parameters) -> Steps[list[Row]]:
    links = yield from walker.relationships({p["source_label"]})
    counts = Counter(link.source for link in _from(links, p["source_label"]) if link.type == p["relationship_type"])
    return [{"node_key": key, "rel_count": count} for key, count in counts.most_common(1)]


def node_by_property(walker: Walker, schema: Schema, p: Parameters) -> Steps[list[Row]]:
    (rows,) = yield from read([nodes(p["label"], p["property"], p["value"])])
    # The tool tries a number given as text as a number where nothing else matches.
    return _node_keys(r["properties"]["key"] for r in rows if _equal(r["properties"].get(p["property"]), p["value"]))


def relationship_by_property(walker: Walker, schema: Schema, p: Parameters) -> Steps[list[Row]]:
    links = yield from _of_type(walker, schema, p["relationship_type"])
    type_ = schema.relationship(p["relationship_type"])
    names = [property_.name for property_ in type_.properties] if type_ else []
    return [
        {**{name: link.properties.get(name) for name in names}, "source_key": link.source, "target_key": link.target}
        for link in links
        if _equal(link.properties.get(p["property"]), p["value"])
    ]


def compositional_intersection(walker: Walker, schema: Schema, p: Parameters) -> Steps[list[Row]]:
    targets = yield from _target_labels(walker, p["source_label"])
    return _node_keys(key for key, labels in targets.items() if {p["first_label"], p["second_label"]} <= labels)


def negation_with_connection(walker: Walker, schema: Schema, p: Parameters) -> Steps[list[Row]]:
    targets = yield from _target_labels(walker, p["source_label"])
    return _node_keys(
        key for key, labels in targets.items() if p["required_label"] in labels and p["excluded_label"] not in labels
    )


def negation_on_rel_property(walker: Walker, schema: Schema, p: Parameters) -> Steps[list[Row]]:
    links = yield from walker.outgoing([Centre(p["source_label"], p["node_property"], p["node_value"])])
    return _node_keys(
        link.source
        for link in links
        if (link.type, link.target_label) == (p["relationship_type"], p["target_label"])
        and _differs(link.properties.get(p["relationship_property"]), p["excluded_value"])
    )


PLANS: Mapping[str, Plan] = {
    plan.__name__: plan
    for plan in (
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


def _target_labels(walker: Walker, label: str) -> Steps[dict[str, set[str]]]:
    """Key of every node of the label that relationships begin at → labels that they lead to."""
    links = yield from walker.relationships({label})
    found: defaultdict[str, set[str]] = defaultdict(set)
    for link in _from(links, label):
        found[link.source].add(link.target_label)
    return found


def _of_type(walker: Walker, schema: Schema, name: str) -> Steps[list[Link]]:
    """All relationships of a type, seen from its sources or from its targets, whichever have fewer labels."""
    type_ = schema.relationship(name)
    pairs = type_.pairs if type_ else ()
    links = yield from walker.relationships(min(_labels(pairs, 0), _labels(pairs, 1), key=len))
    return [link for link in links if link.type == name]


def _labels(pairs: Collection[tuple[str, str]], end: int) -> set[str]:
    return {pair[end] for pair in pairs}


def _from(links: Iterable[Link], label: str) -> list[Link]:
    return [link for link in links if link.source_label == label]


def _node_keys(keys: Iterable[str]) -> list[Row]:
    return [{"node_key": key} for key in sorted(set(keys))]


def _equal(found: Value | None, value: Value) -> bool:
    """Cypher's `=`: 1 and 1.0 are equal, 1 and true are not, and a missing property is equal to nothing."""
    return found is not None and value_order(found) == value_order(value)


def _differs(found: Value | None, value: Value) -> bool:
    """Cypher's `<>`: a missing property does not differ from anything either."""
    return found is not None and not _equal(found, value)

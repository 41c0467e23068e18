"""Variants of a question with one condition ignored or changed (docs/method.md, Failure analysis).

They are evaluated on the graph in memory, within the limits of effort for your own graphs.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from graphwalk.evaluation.rows import row_set
from graphwalk.evaluation.values import normalise
from graphwalk.stores.schema_queries import schema_of
from graphwalk.suites.questions.catalogue import python_part, shipped_kinds
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.parameters import OWN
from graphwalk.suites.questions.rows import as_shown
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.template import Role
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value, shown

_MOST_ENTITIES = 100_000
"""Nodes and relationships of a graph for which changed copies are made; each takes memory like the graph itself."""
_MOST_WAYS = 1_000_000
"""Walks of all variants of a question, about a second; those of one variant are limited as for your own graphs."""
_MOST_OTHERS = 100
"""Other labels, types, properties, values or keys that are tried in place of one."""
_ANY = "\0any"
"""A label of all nodes, or the type of all relationships, in a changed copy."""
_FURTHER_HOPS = (-1, 1, 2, 3)
_ROLES: Sequence[Role] = ("label", "relationship_type", "key", "property", "value", "hops")


class Variant(NamedTuple):
    """A changed question and its rows.

    `condition`: the ignored or changed condition; `change`: a phrase about it; `parameter`: the changed one, if any.
    """

    condition: str
    change: str
    rows: Iterable[Row]
    parameter: str = ""


class GraphViews:
    """A graph with its index and changed copies of it, each made on first use."""

    def __init__(self, graph: PropertyGraph) -> None:
        self.graph = graph
        self.small = graph.node_count + graph.relationship_count <= _MOST_ENTITIES

    @cached_property
    def index(self) -> GraphIndex:
        return GraphIndex(self.graph)

    @cached_property
    def schema(self) -> Schema:
        return schema_of(self.graph)

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(self.graph.keys)

    @cached_property
    def values(self) -> frozenset[Hashable]:
        """Return all property values, in their normal form."""
        columns = (column for columns in self.graph.all_columns() for column in columns.values())
        return frozenset(normalise(shown(value)) for column in columns for value in column.values())

    def keys_with_value(self, value: Hashable) -> list[str]:
        """Return the keys of the nodes with this value in any property."""
        if value not in self.values:
            return []
        return [n.key for n in self.graph.nodes() if value in [normalise(shown(own)) for own in n.properties.values()]]

    @cached_property
    def backwards(self) -> GraphIndex:
        return _Changed(self.graph, self.graph.nodes(), map(_turned, self.graph.relationships()))

    @cached_property
    def both_ways(self) -> GraphIndex:
        relationships = list(self.graph.relationships())
        return _Changed(self.graph, self.graph.nodes(), chain(relationships, map(_turned, relationships)))

    @cached_property
    def any_label(self) -> GraphIndex:
        nodes = (replace(node, labels=(*node.labels, _ANY)) for node in self.graph.nodes())
        return _Changed(self.graph, nodes, self.graph.relationships())

    @cached_property
    def any_type(self) -> GraphIndex:
        relationships = (replace(relationship, type=_ANY) for relationship in self.graph.relationships())
        return _Changed(self.graph, self.graph.nodes(), relationships)


class _Changed(GraphIndex):
    """The index of other nodes and relationships than those of `graph`, which still names the properties."""

    def __init__(self, graph: PropertyGraph, nodes: Iterable[Node], relationships: Iterable[Relationship]) -> None:
        self.graph = graph
        self._arrange(nodes, relationships)


def _turned(relationship: Relationship) -> Relationship:
    return replace(relationship, source=relationship.target, target=relationship.source)


def role_of(task: QuestionTask, name: str) -> Role | None:
    """Return the role of a parameter from the template of a built-in question, else from its name."""
    kind = shipped_kinds().get(task.template)
    if kind is not None:
        return kind.template.parameters[name].role
    last = name.rpartition("_")[2]
    return "relationship_type" if last == "type" else next((role for role in _ROLES if role == last), None)


def variants(task: QuestionTask, views: GraphViews) -> Iterator[Variant]:
    """Yield the variants of a question, those with the fewest alternatives first.

    There are none without an evaluator, on large graphs, or if the evaluator does not find the target from the logged
    parameters, for example because they contain a date.
    """
    if task.oracles != 2 or not views.small or python_part(task.template) is None:
        return
    tried = _Evaluations(task)
    index = views.index
    if row_set(tried.rows(index), task.scored_fields) != row_set(task.gold, task.scored_fields):
        return
    yield from tried.relaxed(index)
    if len(task.scored_fields) == 2:
        turned = [dict(zip(task.scored_fields, reversed(list(row)), strict=True)) for row in _scored(task)]
        yield Variant("direction", "with both ends exchanged", turned)
    yield Variant("direction", "with relationships followed from target to source", tried.rows(views.backwards))
    yield Variant("direction", "with relationships followed in both directions", tried.rows(views.both_ways))
    roles = {name: role for name in task.parameters if (role := role_of(task, name)) is not None}
    for name, role in roles.items():
        given: Any = task.parameters[name]
        if role == "hops":
            for hops in (given + more for more in _FURTHER_HOPS if given + more > 0):
                change = f"with {hops} in place of {given} as {name}"
                yield Variant("hops", change, tried.rows(index, **{name: hops}), name)
        elif role == "label":
            yield Variant("label", f"with any label as {name}", tried.rows(views.any_label, **{name: _ANY}), name)
        elif role == "relationship_type":
            yield Variant("type", f"with any type as {name}", tried.rows(views.any_type, **{name: _ANY}), name)
    for name, role in roles.items():
        if role != "hops":
            yield from _others(task, index, tried, name, role)


def _others(task: QuestionTask, index: GraphIndex, tried: "_Evaluations", name: str, role: Role) -> Iterator[Variant]:
    """Yield a variant for each other value of a parameter; for keys, properties and values also all of them."""
    given, condition = task.parameters[name], role.removeprefix("relationship_")
    others = [other for other in _options(task, index, name, role) if other != given][:_MOST_OTHERS]
    everything: list[Row] = []
    for other in others:
        rows = list(tried.rows(index, **{name: other}))
        everything += rows
        yield Variant(condition, f"with {other!r} in place of {given!r} as {name}", rows, name)
    if role == "value":
        yield Variant(condition, f"with any value as {name}", [*tried.rows(index), *everything], name)


def is_output(task: QuestionTask, variant: Variant) -> bool:
    """Return True if a variant answers another property than the question asks for, with the same conditions."""
    kind = shipped_kinds().get(task.template)
    if kind is None or variant.condition != "property":
        return False
    return all(parameter.of != variant.parameter for parameter in kind.template.parameters.values())


def _scored(task: QuestionTask) -> Iterator[tuple[Value | None, ...]]:
    yield from (tuple(row[field] for field in task.scored_fields) for row in task.gold)


def _options(task: QuestionTask, index: GraphIndex, name: str, role: Role) -> Sequence[Value]:
    """Return the values that a parameter may have on this graph; none if its owner is unknown."""
    if role == "label":
        return sorted(index.nodes_of)
    if role == "relationship_type":
        return sorted(index.relationships_of)
    kind = shipped_kinds().get(task.template)
    if kind is None:
        return ()
    parameters, given = kind.template.parameters, task.parameters
    owner = str(parameters[name].of)
    if role == "key":
        return index.keys_of(str(given[owner]))
    if role == "value":
        property_, owner = str(given[owner]), str(parameters[owner].of)
        of = "node" if parameters[owner].role == "label" else "relationship"
        return sorted(index.values(of, str(given[owner]), property_), key=str)
    if parameters[owner].role == "label":
        return ["key", *index.node_properties(str(given[owner]))]
    return index.relationship_properties(str(given[owner]))


@dataclass
class _Evaluations:
    """Evaluations of one question, which stop without rows when their effort is spent."""

    task: QuestionTask
    left: int = _MOST_WAYS

    def rows(self, index: GraphIndex, **changed: Value) -> Iterator[Row]:
        """Yield the rows for changed parameters, or none if that takes too long."""
        part = python_part(self.task.template)
        assert part is not None
        parameters: dict[str, Any] = {**self.task.parameters, **changed}
        hops = [int(parameters[name]) for name in parameters if role_of(self.task, name) == "hops"]
        if self._affordable(index, max([part.steps, *hops])):
            yield from map(as_shown, part.rows(index, **parameters))

    def relaxed(self, index: GraphIndex) -> Iterator[Variant]:
        """Yield the variants that the question itself defines."""
        part = python_part(self.task.template)
        longest = max([int(v) for n, v in self.task.parameters.items() if role_of(self.task, n) == "hops"] or [1])
        if part is not None and part.relaxed is not None and self._affordable(index, longest):
            for condition, rows in part.relaxed(index, **self.task.parameters).items():
                yield Variant(condition, f"without the condition {condition!r}", map(as_shown, rows))

    def _affordable(self, index: GraphIndex, longest: int) -> bool:
        """Take the walks of one evaluation from the budget, unless they are too many."""
        keys = [str(v) for n, v in self.task.parameters.items() if role_of(self.task, n) == "key"]
        walks: Mapping[str, int] = index.walks(longest)
        ways = sum(walks.get(key, 0) for key in keys) if keys else len(walks) + sum(walks.values())
        if ways > min(OWN.ways or 0, self.left):
            return False
        self.left -= ways
        return True

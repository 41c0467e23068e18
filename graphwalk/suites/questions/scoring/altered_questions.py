"""Variants of a question with one condition ignored or changed, and their rows (docs/method.md, Failure analysis)."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from graphwalk.evaluation.rows import as_shown, row_set
from graphwalk.evaluation.values import normalise
from graphwalk.stores.graph_schema import schema_of
from graphwalk.stores.transfer import stored_graph
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.questions.catalogue import python_part, shipped_kinds
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.tasks.graph_index import GraphIndex, PartialIndex
from graphwalk.suites.questions.tasks.parameters import OWN_GRAPH_EFFORT, ParameterSpace
from graphwalk.suites.questions.template import Role
from graphwalk.types.graph import PropertyGraph, Relationship
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value, shown

if TYPE_CHECKING:
    from graphwalk.suites.questions.task import QuestionTask

ANSWER, START = "answer", "start"
"""Conditions of variants that ask for another property, and that start at another node."""
_MOST_ENTITIES = 50_000
"""Nodes and relationships of a graph that has variants; each changed copy takes memory like the graph itself."""
_MOST_WAYS = 1_000_000
"""Walks of all variants of one question, about a second; those of one variant are limited as for your own graphs."""
_MOST_OTHERS = 100
"""Other labels, types, properties, values or keys that are tried in place of one."""
_FURTHER_HOPS = (1, 2, 3, -1)
_ANY = "\0any"
"""A label of all nodes, or the type of all relationships, in a changed copy."""
_WORDS: dict[str, Role] = {role.rpartition("_")[2]: role for role in get_args(Role)}
"""Last word of a parameter's name → its role, for questions that are not built in."""


class Variant(NamedTuple):
    """A changed question and its rows. `condition`: what is ignored or changed; `change`: a phrase about it."""

    condition: str
    change: str
    rows: Iterable[Row]


@lru_cache(maxsize=3)  # changed copies take memory
def views_of(about: LoadedGraph) -> "GraphViews":
    """Return the views of a graph; those of the latest graphs are kept."""
    return GraphViews(about.graph)


class GraphViews:
    """A graph with its values as in logged questions and answers, and changed copies of it, each made on first use."""

    def __init__(self, graph: PropertyGraph) -> None:
        self.graph = stored_graph(graph, _logged)
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
        """Return all property values in their normal form."""
        columns = (column for columns in self.graph.all_columns() for column in columns.values())
        return frozenset(normalise(shown(value)) for column in columns for value in column.values())

    @cached_property
    def keys_by_value(self) -> Mapping[Hashable, dict[str, None]]:
        """Return the normal form of a value → keys of the nodes that have it in any property."""
        nodes = defaultdict[Hashable, dict[str, None]](dict)
        for node in self.graph.nodes():
            for value in node.properties.values():
                nodes[normalise(shown(value))][node.key] = None
        return nodes

    @cached_property
    def backwards(self) -> GraphIndex:
        return PartialIndex(
            self.index.nodes.values(), (replace(r, source=r.target, target=r.source) for r in self._relationships)
        )

    @cached_property
    def any_label(self) -> GraphIndex:
        nodes = (replace(node, labels=(*node.labels, _ANY)) for node in self.index.nodes.values())
        return PartialIndex(nodes, self._relationships)

    @cached_property
    def any_type(self) -> GraphIndex:
        return PartialIndex(self.index.nodes.values(), (replace(r, type=_ANY) for r in self._relationships))

    @property
    def _relationships(self) -> list[Relationship]:
        return [relationship for outgoing in self.index.outgoing.values() for relationship in outgoing]


def _logged(value: Value) -> Value:
    """Return a value as in a log: text for what JSON lacks; with a tuple for a list."""
    return tuple(map(_logged, value)) if isinstance(value, tuple) else shown(value)


def roles_of(task: "QuestionTask") -> dict[str, Role | None]:
    """Return the roles of the parameters: of a built-in question from its template, else from their names."""
    kind = shipped_kinds().get(task.template)
    if kind is not None:
        return {name: kind.template.parameters[name].role for name in task.parameters}
    return {name: _WORDS.get(name.rpartition("_")[2]) for name in task.parameters}


def parameters_with(task: "QuestionTask", *roles: Role) -> list[Any]:
    """Return the values of the parameters with one of these roles."""
    return [task.parameters[name] for name, role in roles_of(task).items() if role in roles]


def variants(task: "QuestionTask", views: GraphViews) -> Iterator[Variant]:
    """Yield the variants of a question, those with the fewest alternatives first.

    There are none without an evaluator, on large graphs, or if the evaluator does not find the target from the logged
    parameters and values.
    """
    part = python_part(task.template) if task.oracles == 2 and views.small else None
    if part is None:
        return
    tried, index, target = _Evaluations(task, part), views.index, row_set(task.target, task.scored_fields)
    if row_set(tried.rows(index), task.scored_fields) != target:
        return
    yield from tried.relaxed(index)
    if len(task.scored_fields) == 2:
        first, second = task.scored_fields
        turned = [{**row, first: row[second], second: row[first]} for row in task.target]
        yield Variant("direction", "with both ends exchanged", turned)
    yield Variant("direction", "with relationships followed from target to source", tried.rows(views.backwards))
    yield Variant("direction", "with relationships followed in both directions", tried.rows(index.both_ways))
    roles = roles_of(task)
    for name, role in roles.items():
        value: Any = task.parameters[name]
        if role == "hops":
            for hops in (value + more for more in _FURTHER_HOPS if value + more > 0):
                yield Variant("hops", f"with {hops} in place of {value} as {name}", tried.rows(index, **{name: hops}))
        elif role == "label":
            yield Variant("label", f"with any label as {name}", tried.rows(views.any_label, **{name: _ANY}))
        elif role == "relationship_type":
            yield Variant("type", f"with any type as {name}", tried.rows(views.any_type, **{name: _ANY}))
    for name, role in roles.items():
        condition, options = _others(task, index, name, role)
        everything = list(tried.rows(index)) if role == "value" else []
        for other in [option for option in options if option != task.parameters[name]][:_MOST_OTHERS]:
            rows = list(tried.rows(index, **{name: other}))
            everything += rows
            yield Variant(condition, f"with {other!r} in place of {task.parameters[name]!r} as {name}", rows)
        if role == "value":
            yield Variant(condition, f"with any value as {name}", everything)


def _others(task: "QuestionTask", index: GraphIndex, name: str, role: Role | None) -> tuple[str, Sequence[Value]]:
    """Return the condition that a parameter is, and its possible values on this graph; none if its owner is unknown."""
    if role == "label":
        return "label", sorted(index.keys_by_label)
    if role == "relationship_type":
        return "type", sorted(index.relationships_of)
    kind = shipped_kinds().get(task.template)
    if kind is None or role not in ("key", "value", "property"):
        return "", ()
    template = kind.template
    options = ParameterSpace(index, max_hops=0).options(template, name, task.parameters)
    if role == "property":
        of_nodes = template.parameters[str(template.parameters[name].of)].role == "label"
        # A property without a value in the question is the one that is asked for.
        return "property" if name in template.owners else ANSWER, [*(["key"] if of_nodes else []), *options]
    return START if role == "key" else "value", options


@dataclass
class _Evaluations:
    """Evaluations of one question. Those that exceed the effort have no rows."""

    task: "QuestionTask"
    part: Callable[..., PythonPart]
    ways: int = 0

    def rows(self, index: GraphIndex, **changed: Value) -> Iterator[Row]:
        part = self.part(**{**self.task.parameters, **changed})
        if self._affordable(index, part):
            yield from map(as_shown, part.rows(index))

    def relaxed(self, index: GraphIndex) -> Iterator[Variant]:
        part = self.part(**self.task.parameters)
        for condition, rows in part.relaxed(index).items() if self._affordable(index, part) else ():
            yield Variant(condition, f"without the condition {condition!r}", map(as_shown, rows))

    def _affordable(self, index: GraphIndex, part: PythonPart) -> bool:
        """Count the walks of an evaluation, unless they are too many."""
        hops = [getattr(part, name) for name, role in roles_of(self.task).items() if role == "hops"]
        followed = index.both_ways if part.both_ways else index
        walks, keys = followed.walks(max([part.steps, *hops])), parameters_with(self.task, "key")
        ways = sum(walks.get(key, 0) for key in keys) if keys else len(walks) + sum(walks.values())
        if ways > OWN_GRAPH_EFFORT.ways or self.ways + ways > _MOST_WAYS:
            return False
        self.ways += ways
        return True

"""Groundedness: rows that the tool results of an episode prove (docs/method.md, Scores).

A row is supported if the reference evaluator finds it in the observed part of the graph, and no unobserved relationship
could change that. It must therefore also be found in the largest graph that is consistent with the observations.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from graphwalk.evaluation.rows import row_set
from graphwalk.evaluation.values import normalise
from graphwalk.suites.questions.catalogue import python_part, shipped_kinds
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.questions.tasks.graph_index import GraphIndex, PartialIndex
from graphwalk.tools.observed import ObservedGraph, ObservedRelationship, Pair, observed_graph
from graphwalk.types.episode import Trajectory
from graphwalk.types.graph import Node, Relationship
from graphwalk.types.values import Row, Value

if TYPE_CHECKING:
    from graphwalk.suites.questions.task import QuestionTask

RowTuple = tuple[Hashable, ...]
"""The scored fields of a row, as `graphwalk.evaluation.rows.row_set` has them."""

_MOST_ROWS = 1_000_000
"""Maximum rows of an evaluator that are checked."""
_MOST_OPEN = 2_000
"""Maximum incompletely observed nodes; beyond it the largest possible graph is not built."""
_MOST_JOINED = 20_000
"""Maximum possible relationships per pair of labels; beyond it one per source."""
_UNSEEN = "\0"
"""First character of the key of a hypothetical node."""
_NAMES = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"")
_NOT_ONLY_GROWING = re.compile(
    r"\b(not|optional|with|order|limit|skip|call|is|count|collect|min|max|sum|avg|size|all|none|single|reduce)\b", re.I
)
"""Keywords of queries that may lose rows when a graph grows. A superfluous word only costs time."""

_LACKS_DATA = (AttributeError, LookupError, TypeError, ValueError)
"""Errors of evaluators of other packages, written for whole graphs, where a node or property was not observed."""
_NOT_COMPARED = {list, dict, type(None)}

V = TypeVar("V")


def supported_rows(task: "QuestionTask", trajectory: Trajectory, rows: Sequence[Row]) -> frozenset[RowTuple] | None:
    """Return those of `rows` that the tool results prove, or None if that is unknown.

    It is unknown if the question has no evaluator, a result of an unknown form may prove what others do not, the tools
    hide directions or properties that the question needs, an evaluator of another package needs data that was not
    observed, too much was not observed, or the prompt has no schema that bounds it.
    """
    wanted = frozenset(row for row in row_set(rows, task.scored_fields) if None not in row)
    python = python_part(task.template) if task.oracles == 2 else None
    if python is None:
        return None
    prompt = "\n".join(message.content or "" for message in trajectory.prompt)
    observed = observed_graph(trajectory.results, prompt)
    expected = (HiddenError,) if task.template in shipped_kinds() else (HiddenError, *_LACKS_DATA)
    try:
        proven = _proven(task, python(**task.parameters), observed, wanted)
    except expected:
        return None
    return proven if observed.understood or proven == wanted else None


def _proven(
    task: "QuestionTask", part: PythonPart, observed: ObservedGraph, wanted: frozenset[RowTuple]
) -> frozenset[RowTuple] | None:
    index = ObservedIndex(observed)
    rows = _rows_found(task, part, index, wanted)
    if not rows or only_grows(task.cypher):
        return rows
    complete = observed.complete_nodes()
    if not observed.pairs or len(index.nodes.keys() - complete) > _MOST_OPEN:
        return None
    return _rows_found(task, part, PossibleIndex(index, complete, observed.complete_labels, observed.pairs), rows)


def only_grows(cypher: str) -> bool:
    """Return True for a query that keeps every row when nodes and relationships are added."""
    return not _NOT_ONLY_GROWING.search(_NAMES.sub("", cypher))


def _rows_found(
    task: "QuestionTask", part: PythonPart, index: GraphIndex, wanted: frozenset[RowTuple]
) -> frozenset[RowTuple]:
    """Return the wanted rows that the evaluator finds; stop when all are found."""
    missing = set(wanted)
    for row in islice(part.rows(index), _MOST_ROWS):
        if not missing:
            break
        missing.discard(tuple(normalise(row.get(field)) for field in task.scored_fields))
    return wanted - missing


class HiddenError(Exception):
    """Error of an evaluator that needs data hidden by the tools."""


class ObservedIndex(PartialIndex):
    """The observed part of a graph. Reading a hidden direction or property raises HiddenError."""

    def __init__(self, observed: ObservedGraph) -> None:
        nodes = [Node(n.key, n.labels, _plain(n.properties)) for n in observed.nodes.values()]
        relationships = list(observed.relationships.values())
        # A relationship may be shown with and without its properties by different tools.
        whole = {(r.type, r.source, r.target) for r in relationships if r.properties_shown}
        shown = (r for r in relationships if r.properties_shown or (r.type, r.source, r.target) not in whole)
        super().__init__(nodes, [_relationship(r) for r in shown for _ in range(r.count)])
        if observed.hidden_direction:
            self.outgoing = self.relationships_of = _Hidden()


class PossibleIndex(PartialIndex):
    """The observed part plus every possible unobserved relationship, built lazily.

    An unobserved relationship fits the schema and joins two incompletely observed nodes. A node may have any number of
    them; more than any observed node has are built. They have no properties.
    """

    def __init__(
        self, observed: ObservedIndex, complete: set[str], complete_labels: set[str], pairs: frozenset[Pair]
    ) -> None:
        labels = {label for source, _, target in pairs for label in (source, target)} - complete_labels
        unseen = [Node(_UNSEEN + label, (label,), {}) for label in sorted(labels)]
        relationships = [r for many in observed.relationships_of.values() for r in many]
        super().__init__([*observed.nodes.values(), *unseen], relationships)
        self._pairs = sorted(pairs)
        self._open: dict[str, list[str]] = defaultdict(list)
        for node in (*observed.nodes.values(), *unseen):
            for label in node.labels if node.key not in complete else ():
                self._open[label].append(node.key)
        self._open_keys = {key for keys in self._open.values() for key in keys}
        self._observed_of, self._observed_outgoing = self.relationships_of, self.outgoing
        types = dict.fromkeys([*self._observed_of, *(type_ for _, type_, _ in self._pairs)])
        self.relationships_of = _LazyMapping(types, self._all_of)
        self.outgoing = _LazyMapping(self.nodes, self._all_from)

    @cached_property
    def successors(self) -> Mapping[str, frozenset[str]]:
        return _LazyMapping(self.nodes, lambda key: frozenset(r.target for r in self.outgoing[key]))

    @cached_property
    def successor_labels(self) -> Mapping[str, frozenset[str]]:
        return _LazyMapping(self.nodes, lambda key: frozenset(self._labels_after(key)))

    def _labels_after(self, key: str) -> Iterator[str]:
        yield from (label for r in self._observed_outgoing[key] for label in self.nodes[r.target].labels)
        yield from (target for _, _, target in self._open_pairs(key) if self._open[target])

    def _open_pairs(self, key: str) -> list[Pair]:
        """Return the schema pairs of unobserved relationships that may begin at a node."""
        return [pair for pair in self._pairs if self.has_label(key, pair[0])] if key in self._open_keys else []

    def _all_of(self, type_: str) -> list[Relationship]:
        possible = [
            r for pair in self._pairs if pair[1] == type_ for key in self._open[pair[0]] for r in self._new(key, pair)
        ]
        return [*self._observed_of.get(type_, ()), *possible]

    def _all_from(self, key: str) -> list[Relationship]:
        return [*self._observed_outgoing[key], *(r for pair in self._open_pairs(key) for r in self._new(key, pair))]

    def _new(self, key: str, pair: Pair) -> Iterator[Relationship]:
        source, type_, target = pair
        targets = self._open[target]
        if len(targets) * len(self._open[source]) > _MOST_JOINED:
            targets = targets[:1]
        yield from (Relationship(type_, key, other, {}) for other in targets)
        yield from (
            Relationship(type_, key, other, {}) for other in targets[:1] for _ in range(self._most.get(type_, 0))
        )

    @cached_property
    def _most(self) -> dict[str, int]:
        """Return type → maximum observed number of its relationships per node."""
        per_node = {type_: Counter(r.source for r in many) for type_, many in self._observed_of.items()}
        return {type_: max(counts.values(), default=0) for type_, counts in per_node.items()}


class _LazyMapping(Mapping[str, V], Generic[V]):
    """A mapping whose values are computed on first access."""

    def __init__(self, keys: Mapping[str, object], make: Callable[[str], V]) -> None:
        self._keys, self._make = keys, cache(make)

    def __getitem__(self, key: str) -> V:
        if key not in self._keys:
            raise KeyError(key)
        return self._make(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


class _Hidden(Mapping[str, V], Generic[V]):
    """A mapping of hidden data; access raises HiddenError."""

    def _refuse(self, *arguments: object) -> NoReturn:
        raise HiddenError

    __getitem__ = __iter__ = __len__ = _refuse


def _relationship(observed: ObservedRelationship) -> Relationship:
    properties: Mapping[str, Value] = _plain(observed.properties) if observed.properties_shown else _Hidden()
    return Relationship(observed.type, observed.source, observed.target, properties)


def _plain(properties: Mapping[str, Any]) -> dict[str, Value]:
    """Return the properties without lists, maps and null, which evaluators do not compare."""
    if _NOT_COMPARED.isdisjoint(map(type, properties.values())):
        return dict(properties)
    return {name: value for name, value in properties.items() if type(value) not in _NOT_COMPARED}

"""The anonymised twin of a graph: the same structure, and not one of its words."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from graphwalk import seeds
from graphwalk.graphs.random.names import WordMaker, node_keys
from graphwalk.graphs.twin.moments import Moves
from graphwalk.graphs.twin.numbers import number_map, of_kind
from graphwalk.types.graph import Column, NodeTable, PropertyGraph, RelationshipTable
from graphwalk.types.values import Point, Temporal, Value

Names = Mapping[str, str]


@dataclass(frozen=True)
class Twin:
    """A graph, its twin, and what stands for what: names and keys of the original → those of the twin.

    Nodes keep their numbers. `texts` are all texts that are values; one that is a node's key becomes that node's key.
    """

    original: PropertyGraph
    graph: PropertyGraph
    labels: Names
    relationship_types: Names
    properties: Names
    keys: Names
    values: "ValueMap"


class ValueMap:
    """What stands for the values of a graph."""

    def __init__(self, graph: PropertyGraph, texts: Names, rng: np.random.Generator) -> None:
        found = values_of(graph)
        self.texts = texts
        self._numbers = {name: number_map(_leaves(values), rng) for name, values in found.items()}
        self._flipped = {name: bool(rng.integers(0, 2)) for name in found}
        self._masks = {name: rng.bytes(64) for name in found}
        every = [value for values in found.values() for value in _leaves(values)]
        self._moves = Moves(rng).dates_fit([v for v in every if isinstance(v, Temporal) and "date" in v.kind])

    def of(self, name: str, value: Value) -> Value:
        """The value that stands for one of the property `name`."""
        if isinstance(value, tuple):
            return tuple(self.of(name, item) for item in value)
        if isinstance(value, str):
            return self.texts[value]
        if isinstance(value, bool):
            return value != self._flipped[name]
        if isinstance(value, int | float):
            return of_kind(value, made) if (made := self._numbers[name].get(value)) is not None else value
        if isinstance(value, Temporal):
            return self._moves.temporal(value)
        if isinstance(value, Point):
            return self._moves.point(value)
        mask = self._masks[name] * (len(value) // 64 + 1)
        return bytes(byte ^ other for byte, other in zip(value, mask, strict=False))


def make_twin(graph: PropertyGraph, seed: int) -> Twin:
    """The twin of a graph: it depends on the graph and the seed alone.

    Who is joined to whom, which labels and properties every entity has, and which entities share a value are the same,
    and so is the order of the numbers of a property and of all dates. Empty texts, times of day and durations are kept.
    """
    rng = seeds.generator(seed, "twin", graph.digest)
    words = _Words(rng, graph)
    labels = words.named({label for t in graph.node_tables for label in t.labels}, str.capitalize)
    types = words.named({table.type for table in graph.relationship_tables}, str.upper)
    properties = words.named({name for table in _tables(graph) for name in table.columns}, str.lower)
    keys = dict(zip(graph.keys, words.keys(len(graph.keys)), strict=True))
    plain = {text for values in values_of(graph).values() for text in _leaves(values) if isinstance(text, str)}
    texts = {**words.named(plain - keys.keys() - {""}, str.lower), **keys, "": ""}
    values = ValueMap(graph, texts, rng)

    def columns(old: Mapping[str, Column]) -> dict[str, Column]:
        used = {name: column.canonical() for name, column in old.items()}
        return {
            properties[name]: replace(column, pool=tuple(values.of(name, value) for value in column.pool))
            for name, column in used.items()
        }

    twin = PropertyGraph(
        [keys[key] for key in graph.keys],
        tuple(
            replace(table, labels=tuple(sorted(map(labels.__getitem__, table.labels))), columns=columns(table.columns))
            for table in graph.node_tables
        ),
        tuple(
            replace(table, type=types[table.type], columns=columns(table.columns))
            for table in graph.relationship_tables
        ),
    )
    return Twin(graph, twin, labels, types, properties, keys, values)


def values_of(graph: PropertyGraph) -> dict[str, list[Value]]:
    """The different values of each property, over all nodes and relationships."""
    found: defaultdict[str, list[Value]] = defaultdict(list)
    for table in _tables(graph):
        for name, column in sorted(table.columns.items()):
            found[name] += column.canonical().pool
    return found


def _tables(graph: PropertyGraph) -> Iterator[NodeTable | RelationshipTable]:
    yield from graph.node_tables
    yield from graph.relationship_tables


def _leaves(values: Iterable[Value]) -> Iterator[Value]:
    """The values, and in place of lists what is in them."""
    for value in values:
        if isinstance(value, tuple):
            yield from _leaves(value)
        else:
            yield value


class _Words:
    """Meaningless names, none of which the original uses for anything."""

    def __init__(self, rng: np.random.Generator, graph: PropertyGraph) -> None:
        self._rng = rng
        self._maker = WordMaker(rng)
        names = {name for table in _tables(graph) for name in table.columns}
        names |= {label for table in graph.node_tables for label in table.labels}
        names |= {table.type for table in graph.relationship_tables}
        texts = {text for values in values_of(graph).values() for text in _leaves(values) if isinstance(text, str)}
        self._known = {text.lower() for text in (*names, *texts, *graph.keys)}

    def named(self, names: Iterable[str], form: Callable[[str], str]) -> dict[str, str]:
        """A new name for each, in a random order: alphabetical ones would tell of the old."""
        old = sorted(names)
        return {name: form(word) for name, word in zip(old, self._new(len(old)), strict=True)}

    def keys(self, count: int) -> list[str]:
        """Different keys of one length; some more are drawn, since the original may know some of them."""
        more = 0
        while True:
            drawn = [key for key in node_keys(self._rng, count + more) if key not in self._known]
            if len(drawn) >= count:
                return drawn[:count]
            more = 2 * (count + more - len(drawn))

    def _new(self, count: int) -> list[str]:
        words: list[str] = []
        while len(words) < count:
            words += [word for word in self._maker.words(count - len(words)) if word not in self._known]
        return words

"""Make an anonymised copy of a graph: the same structure under names and values that mean nothing."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import cycle
from pathlib import Path

import numpy as np

import graphwalk.seeds as seeds
from graphwalk.files.writing import write_whole
from graphwalk.graphs.generate import WordMaker, node_keys
from graphwalk.graphs.graph import PropertyColumn, PropertyGraph
from graphwalk.graphs.values import Point, Temporal, Value, flat, shown

_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(.*)", re.DOTALL)
_GEOGRAPHIC = (4326, 4979)
"""Coordinate systems whose first two coordinates are longitude and latitude in degrees."""

Names = Mapping[str, str]


@dataclass(frozen=True)
class AnonymisedCopy:
    """A graph, its anonymised copy, and the map of names and keys from the original to the copy.

    Nodes keep their numbers. A text that is the key of a node becomes that node's new key.
    """

    original: PropertyGraph
    graph: PropertyGraph
    labels: Names
    relationship_types: Names
    properties: Names
    keys: Names
    values: "ValueMap"


class ValueMap:
    """A map from the values of a graph to those of its copy.

    All dates are moved back by one number of days and all points by one move, so that differences and distances stay.
    """

    def __init__(self, graph: PropertyGraph, texts: Names, rng: np.random.Generator) -> None:
        values_by_name = values_of(graph)
        self._texts = texts
        self._sizes = {name: _size_map(flat(values), rng) for name, values in values_by_name.items()}
        self._flipped = {name: bool(rng.integers(0, 2)) for name in values_by_name}
        self._mask = rng.bytes(64)
        self._days = timedelta(days=int(rng.integers(2_000, 20_000)))
        self._degrees = float(rng.integers(20, 340))
        self._offsets = rng.uniform(-100, 100, 3).round(1).tolist()

    def of(self, name: str, value: Value) -> Value:
        """Return the new value of a value of the property `name`."""
        if isinstance(value, tuple):
            return tuple(self.of(name, item) for item in value)
        if isinstance(value, str):
            return self._texts[value]
        if isinstance(value, bool):
            return value != self._flipped[name]
        if isinstance(value, int | float):
            return self._resized(name, value)
        if isinstance(value, Temporal):
            return self._moved_date(value)
        if isinstance(value, Point):
            return self._moved_point(value)
        return bytes(byte ^ other for byte, other in zip(value, cycle(self._mask), strict=False))

    def _resized(self, name: str, value: int | float) -> int | float:
        """Return a number with its sign and its type; NaN and the infinities are kept."""
        size = self._sizes[name].get(abs(value))
        if size is None:
            return value
        if value < 0:
            size = -size
        return type(value)(size)

    def _moved_date(self, value: Temporal) -> Temporal:
        """Return a date moved; times of day, durations and dates before the year 1 are kept."""
        if "date" not in value.kind:
            return value
        # 2001-04-25T12:30:00Z: the day, and the rest of a datetime
        match = _DAY.fullmatch(value.text)
        if match is None:
            return value
        day = date.fromisoformat(match[1])
        if day - date.min < self._days:
            return value
        return Temporal(value.kind, (day - self._days).isoformat() + match[2])

    def _moved_point(self, value: Point) -> Point:
        """Return a point turned around the axis of the earth and mirrored at the equator, or moved."""
        if value.srid in _GEOGRAPHIC:
            longitude, latitude, *height = value.coordinates
            turned = round((longitude + self._degrees + 180.0) % 360.0 - 180.0, 9)
            return Point(value.srid, (turned, -latitude, *height))
        moved = [axis + offset for axis, offset in zip(value.coordinates, self._offsets, strict=False)]
        return Point(value.srid, tuple(moved))


def _size_map(values: Iterable[Value], rng: np.random.Generator) -> dict[int | float, int | float]:
    """Return a strictly increasing map of the absolute values of all finite numbers.

    Whole numbers stay whole, others get two decimals. Gaps shrink, each by another share, so that 64 bits are enough,
    and sums and differences mean nothing.
    """
    sizes: set[int | float] = set()
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if math.isfinite(value):
            sizes.add(abs(value))

    # 3, 10.5 and 11 may become 4, 9.37 and 12.
    new_sizes: dict[int | float, int | float] = {}
    size_before: int | float = 0
    whole = 0
    for size in sorted(sizes):
        shrunk_gap = round((size - size_before) * rng.uniform(0.25, 0.75))
        whole += shrunk_gap + int(rng.integers(1, 4))
        new_sizes[size] = whole
        if not float(size).is_integer():
            new_sizes[size] = whole + int(rng.integers(1, 100)) / 100
        size_before = size
    return new_sizes


def _random_names(names: Iterable[str], words: WordMaker, form: Callable[[str], str]) -> dict[str, str]:
    """Return a new name for each, in random order: an alphabetical one would reveal the old names."""
    old = sorted(names)
    new = [form(word) for word in words.words(len(old))]
    return dict(zip(old, new, strict=True))


def make_anonymised_copy(graph: PropertyGraph, seed: int) -> AnonymisedCopy:
    """Return the anonymised copy of a graph, which depends on the graph and the seed alone.

    Kept are the relationships, which entities have a label, a property or a value in common, and the order of numbers
    and dates; empty texts, times of day and durations as they are.
    """
    rng = seeds.generator(seed, "twin", graph.digest)
    old_labels: set[str] = set()
    for node_table in graph.node_tables:
        old_labels.update(node_table.labels)
    old_types = {table.type for table in graph.relationship_tables}
    old_properties: set[str] = set()
    for columns in graph.all_columns():
        old_properties.update(columns)
    old_texts: set[str] = set()
    for property_values in values_of(graph).values():
        old_texts.update(text for text in flat(property_values) if isinstance(text, str))
    old_words = {text.lower() for text in old_labels | old_types | old_properties | old_texts | set(graph.keys)}

    words = WordMaker(rng, taken=old_words)
    labels = _random_names(old_labels, words, str.capitalize)
    types = _random_names(old_types, words, str.upper)
    properties = _random_names(old_properties, words, str.lower)
    # So many are drawn that enough are left without those that the graph has already.
    drawn_keys = node_keys(rng, len(graph.keys) + len(old_words))
    new_keys = [key for key in drawn_keys if key not in old_words]
    keys = dict(zip(graph.keys, new_keys, strict=False))
    texts = _random_names(old_texts - keys.keys() - {""}, words, str.lower)
    texts.update(keys)
    texts[""] = ""
    values = ValueMap(graph, texts, rng)

    node_tables = []
    for node_table in graph.node_tables:
        new_labels = sorted(labels[label] for label in node_table.labels)
        columns = _renamed_columns(node_table.columns, properties, values)
        node_tables.append(replace(node_table, labels=tuple(new_labels), columns=columns))
    relationship_tables = []
    for table in graph.relationship_tables:
        columns = _renamed_columns(table.columns, properties, values)
        relationship_tables.append(replace(table, type=types[table.type], columns=columns))
    copy = PropertyGraph([keys[key] for key in graph.keys], tuple(node_tables), tuple(relationship_tables))
    return AnonymisedCopy(graph, copy, labels, types, properties, keys, values)


def _renamed_columns(
    columns: Mapping[str, PropertyColumn], properties: Names, values: ValueMap
) -> dict[str, PropertyColumn]:
    """Return the columns of a table with the properties and the values of the copy."""
    renamed = {}
    for name, column in columns.items():
        canonical = column.canonical()
        new_pool = [values.of(name, value) for value in canonical.pool]
        renamed[properties[name]] = replace(canonical, pool=tuple(new_pool))
    return renamed


def values_of(graph: PropertyGraph) -> dict[str, list[Value]]:
    """Return the distinct values of each property, over all nodes and relationships."""
    values: defaultdict[str, list[Value]] = defaultdict(list)
    for columns in graph.all_columns():
        for name, column in sorted(columns.items()):
            values[name] += column.canonical().pool
    return values


def save_mapping(copy: AnonymisedCopy, path: Path) -> None:
    """Write the names, keys and values by property of both graphs as JSON, readable by the owner only.

    Raise ConfigError if it cannot be written.
    """
    values_by_name = {}
    for name, values in sorted(values_of(copy.original).items()):
        values_by_name[name] = [[shown(value), shown(copy.values.of(name, value))] for value in values]
    mapping = {
        "original": copy.original.digest,
        "twin": copy.graph.digest,
        "labels": dict(copy.labels),
        "relationship_types": dict(copy.relationship_types),
        "properties": dict(copy.properties),
        "keys": dict(copy.keys),
        "values": values_by_name,
    }
    write_whole(path, [json.dumps(mapping, ensure_ascii=False, indent=1), "\n"], private=True)

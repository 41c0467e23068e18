"""Make an anonymised copy of a graph: the same structure under names and values that mean nothing."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

import graphwalk.seeds as seeds
from graphwalk.files.writing import write_whole
from graphwalk.graphs.generate import WordMaker, node_keys
from graphwalk.graphs.graph import PropertyColumn, PropertyGraph
from graphwalk.graphs.values import Point, Temporal, Value, flat, shown

_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(.*)", re.DOTALL)
_SHIFTS = (2_000, 20_000)
"""Days by which all dates of a graph are moved, forward or back."""
_GEOGRAPHIC = (4326, 4979)
"""Coordinate systems whose first two coordinates are longitude and latitude in degrees."""
_FARTHEST = 100.0
"""Units by which other points are moved."""


class Moves:
    """One shift for all dates and one for all points of a graph, so that differences stay."""

    def __init__(self, rng: np.random.Generator, dates: Iterable[Temporal]) -> None:
        self._days = int(rng.integers(*_SHIFTS)) * int(rng.choice([-1, 1]))
        self._degrees = float(rng.integers(20, 340))
        self._offsets = [round(float(offset), 1) for offset in rng.uniform(-_FARTHEST, _FARTHEST, 3)]
        if not all(self._moved_day(value.text) for value in dates):
            self._days = -self._days  # a date would leave the years of four digits

    def temporal(self, value: Temporal) -> Temporal:
        """Return a date moved; times of day and durations are kept."""
        moved = self._moved_day(value.text) if "date" in value.kind else None
        return Temporal(value.kind, moved) if moved else value

    def point(self, value: Point) -> Point:
        """Return a point turned around the axis of the earth and mirrored at the equator, or moved: distances stay."""
        if value.srid in _GEOGRAPHIC:
            longitude, latitude, *height = value.coordinates
            turned = round((longitude + self._degrees + 180.0) % 360.0 - 180.0, 9)
            return Point(value.srid, (turned, -latitude, *height))
        moved = (c + offset for c, offset in zip(value.coordinates, self._offsets, strict=False))
        return Point(value.srid, tuple(moved))

    def _moved_day(self, text: str) -> str | None:
        match = _DAY.fullmatch(text)
        if match is None:
            return None
        try:
            return (date.fromisoformat(match[1]) + timedelta(days=self._days)).isoformat() + match[2]
        except (ValueError, OverflowError):
            return None


_MOST = 2**53
"""Whole numbers up to here are the same in every program. Larger ones are drawn closer together."""
_MOST_DIGITS = 6
_SMALL_GAP = 4


def number_map(values: Iterable[Value], rng: np.random.Generator) -> dict[int | float, int | float]:
    """Return a strictly increasing map of all finite numbers: integers stay integers, others keep their decimals.

    1 and 1.0 are one number. Gaps between neighbours grow or shrink at random by up to half, small ones by some units,
    so that the shape of the distribution stays and sums and differences mean nothing.
    """
    numbers = sorted({v for v in values if isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v)})
    if not numbers:
        return {}
    digits = max(map(_decimals, numbers))
    shrink = min(1.0, _MOST / max(1.0, 4.0 * max(abs(numbers[0]), abs(numbers[-1]))))
    span = float(numbers[-1] - numbers[0]) or max(1.0, abs(numbers[0]))
    new_numbers: dict[int | float, int | float] = {}
    last: int | float = math.floor(shrink * (numbers[0] + rng.uniform(-0.5, 0.5) * span))
    before = numbers[0]
    for number in numbers:
        gap = number - before
        gap = gap + float(rng.integers(0, 3)) if gap < _SMALL_GAP else gap * rng.uniform(0.5, 1.5)
        last = _above(last, gap * shrink, number, digits)
        new_numbers[number], before = last, number
    return new_numbers


def _above(last: int | float, gap: float, number: int | float, digits: int) -> int | float:
    """Return a number above `last`; an integer exactly if `number` is one."""
    if float(number).is_integer():
        return math.floor(last) + max(1, round(gap))
    value = round(float(last + gap), digits)
    while value <= last or value.is_integer():
        value = (
            round(value + 10.0**-digits, digits) if value + 10.0**-digits > value else math.nextafter(value, math.inf)
        )
    return value


def _decimals(number: int | float) -> int:
    """Return the number of decimals, at least 1."""
    _, _, decimals = repr(number).partition(".")
    return min(_MOST_DIGITS, max(1, len(decimals))) if decimals.isdecimal() else _MOST_DIGITS


Names = Mapping[str, str]


@dataclass(frozen=True)
class AnonymisedCopy:
    """A graph, its anonymised copy, and the map of names and keys from the original to the copy.

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
    """A map from the values of a graph to those of its copy."""

    def __init__(self, graph: PropertyGraph, texts: Names, rng: np.random.Generator) -> None:
        values_by_name = values_of(graph)
        self.texts = texts
        self._numbers = {name: number_map(flat(values), rng) for name, values in values_by_name.items()}
        self._flipped = {name: bool(rng.integers(0, 2)) for name in values_by_name}
        self._masks = {name: rng.bytes(64) for name in values_by_name}
        every = (value for values in values_by_name.values() for value in flat(values))
        self._moves = Moves(rng, [v for v in every if isinstance(v, Temporal) and "date" in v.kind])

    def of(self, name: str, value: Value) -> Value:
        """Return the new value of a value of the property `name`."""
        if isinstance(value, tuple):
            return tuple(self.of(name, item) for item in value)
        if isinstance(value, str):
            return self.texts[value]
        if isinstance(value, bool):
            return value != self._flipped[name]
        if isinstance(value, int | float):
            return type(value)(self._numbers[name].get(value, value))
        if isinstance(value, Temporal):
            return self._moves.temporal(value)
        if isinstance(value, Point):
            return self._moves.point(value)
        mask = self._masks[name] * (len(value) // 64 + 1)
        return bytes(byte ^ other for byte, other in zip(value, mask, strict=False))


def make_anonymised_copy(graph: PropertyGraph, seed: int) -> AnonymisedCopy:
    """Return the anonymised copy of a graph, which depends on the graph and the seed alone.

    Kept are the relationships, which entities have a label, a property or a value in common, and the order of numbers
    and dates; empty texts, times of day and durations as they are.
    """
    rng = seeds.generator(seed, "twin", graph.digest)
    old_labels = {label for table in graph.node_tables for label in table.labels}
    old_types = {table.type for table in graph.relationship_tables}
    old_properties = {name for columns in graph.all_columns() for name in columns}
    old_texts = {text for values in values_of(graph).values() for text in flat(values) if isinstance(text, str)}
    old_words = {text.lower() for text in (*old_labels, *old_types, *old_properties, *old_texts, *graph.keys)}
    words = WordMaker(rng, taken=old_words)

    def named(names: Iterable[str], form: Callable[[str], str]) -> dict[str, str]:
        """Return a new name for each, in random order: an alphabetical one would reveal the old names."""
        old = sorted(names)
        return {name: form(word) for name, word in zip(old, words.words(len(old)), strict=True)}

    labels, types = named(old_labels, str.capitalize), named(old_types, str.upper)
    properties = named(old_properties, str.lower)
    keys = dict(zip(graph.keys, _new_keys(rng, len(graph.keys), old_words), strict=True))
    texts = {**named(old_texts - keys.keys() - {""}, str.lower), **keys, "": ""}
    values = ValueMap(graph, texts, rng)

    def columns(old: Mapping[str, PropertyColumn]) -> dict[str, PropertyColumn]:
        return {
            properties[name]: replace(column, pool=tuple(values.of(name, value) for value in column.pool))
            for name, column in ((name, column.canonical()) for name, column in old.items())
        }

    copy = PropertyGraph(
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
    return AnonymisedCopy(graph, copy, labels, types, properties, keys, values)


def values_of(graph: PropertyGraph) -> dict[str, list[Value]]:
    """Return the distinct values of each property, over all nodes and relationships."""
    values: defaultdict[str, list[Value]] = defaultdict(list)
    for columns in graph.all_columns():
        for name, column in sorted(columns.items()):
            values[name] += column.canonical().pool
    return values


def _new_keys(rng: np.random.Generator, count: int, taken: Set[str]) -> list[str]:
    """Return `count` distinct keys of one length, none of them in `taken`."""
    more = 0
    while True:
        drawn = [key for key in node_keys(rng, count + more) if key not in taken]
        if len(drawn) >= count:
            return drawn[:count]
        more = 2 * (count + more - len(drawn))


def mapping_of(copy: AnonymisedCopy) -> dict[str, Any]:
    """Return the map of names and keys, and pairs of values by property, as JSON."""
    return {
        "original": copy.original.digest,
        "twin": copy.graph.digest,
        "labels": dict(copy.labels),
        "relationship_types": dict(copy.relationship_types),
        "properties": dict(copy.properties),
        "keys": dict(copy.keys),
        "values": {
            name: [[shown(value), shown(copy.values.of(name, value))] for value in values]
            for name, values in sorted(values_of(copy.original).items())
        },
    }


def save_mapping(copy: AnonymisedCopy, path: Path) -> None:
    """Write the mapping, readable by its owner only. Raise ConfigError if it cannot be written."""
    write_whole(path, [json.dumps(mapping_of(copy), ensure_ascii=False, indent=1), "\n"], private=True)

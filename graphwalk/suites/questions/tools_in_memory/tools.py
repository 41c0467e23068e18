"""The tools as a program may have them: rows of the graph in memory, and the tokens that a model would read.

They show what `GraphToolbox` shows on any store, for calls that need none of its care: names that exist, values that
mean one thing, and something found. Of all others nothing is known here.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphwalk.models.policy import Ask
from graphwalk.models.tokens import tokens_of
from graphwalk.suites.questions.oracle.graph_index import GraphIndex, Kind
from graphwalk.suites.questions.players.link import Link
from graphwalk.suites.questions.tools_in_memory import weights
from graphwalk.suites.questions.tools_in_memory.surroundings import Numbers, Surroundings
from graphwalk.toolbox.readings import as_parameter, shown_alike
from graphwalk.toolbox.rows import canonical_rows
from graphwalk.types.graph import MISSING, Column, NodeTable, PropertyGraph, value_order
from graphwalk.types.values import SCALARS, Row, Value, shown

KEY = "key"
_EXACT = 2**53
"""Larger whole numbers are equal to others in some engines."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a call shows: its rows, or links in their place, and the tokens of their text."""

    rows: list[Row] | list[Link]
    tokens: int


def can_be_walked_in_memory(graph: PropertyGraph) -> bool:
    """True for graphs as they are generated: one label each, plain values, keys that sort as their maps do."""
    types = [table.type for table in graph.relationship_tables]
    return (
        all(len(table.labels) == 1 for table in graph.node_tables if len(table.numbers))
        and len({table.labels for table in graph.node_tables}) == len(graph.node_tables)
        and len(set(types)) == len(types)
        and all(KEY not in columns for columns in graph.all_columns())
        and all(_is_plain(column) for columns in graph.all_columns() for column in columns.values())
        and len({len(key) for key in graph.keys}) == 1
        and all(key.isascii() and key.isalnum() for key in graph.keys)
    )


def _is_plain(column: Column) -> bool:
    """One look for one value: no dates, no lists, no 1 beside 1.0."""
    plain = all(isinstance(value, SCALARS) and shown(value) == value for value in column.pool)
    return plain and len(set(map(value_order, column.pool))) == len(set(column.pool)) == len(column.pool)


class ToolsInMemory:
    """The three tools that read a graph; see `can_be_walked_in_memory`."""

    def __init__(self, index: GraphIndex) -> None:
        self._index = index
        self._matching: dict[tuple[str, str], Mapping[Any, Numbers]] = {}

    @cached_property
    def _around(self) -> Surroundings:
        return Surroundings(self._index)

    def answer(self, ask: Ask) -> Shown | None:
        """What a call shows; None where only the toolbox knows."""
        given = ask.arguments
        if isinstance(given, str):
            return None
        match ask.tool:
            case "get_all_nearest_neighbors":
                return self._counted(*self._neighbors(**given)) if given.keys() == _LOOK_UP else None
            case "get_node_by_property":
                return self._counted(*self._nodes(**given)) if given.keys() == _LOOK_UP else None
            case "get_unique_property_values":
                return self._counted(*self._values(**given)) if given.keys() == _VALUES else None
        return None

    def weight_of(self, rows: Sequence[Row]) -> int:
        """The weight of an answer, whose fields are mostly keys."""
        return weights.of_rows(rows, self._weight_of_key)

    @cached_property
    def _weight_of_key(self) -> Mapping[Value, int]:
        return dict(zip(self._around.keys, self._around.key_weights.tolist(), strict=True))

    def _counted(self, rows: list[Row] | list[Link], weight: int) -> Shown | None:
        return Shown(rows, tokens_of(weight)) if rows else None

    def _neighbors(self, label: str, property_name: str, property_value: Value) -> tuple[list[Link], int]:
        ranks = self._ranks(label, property_name, property_value)
        return ([], 0) if ranks is None else self._around.links_around(ranks)

    def _nodes(self, label: str, property_name: str, property_value: Value) -> tuple[list[Row], int]:
        ranks = self._ranks(label, property_name, property_value)
        if ranks is None:
            return [], 0
        frame = weights.of({"label": label, "properties": {}}) - weights.BRACES
        weight = int(self._around.map_weights[ranks].sum()) + frame * len(ranks)
        rows = [{"label": label, "properties": self._around.properties[rank]} for rank in ranks.tolist()]
        return rows, weights.of_list(weight, len(rows))

    def _values(self, property_name: str, entity_name: str, entity_type: Kind) -> tuple[list[Row], int]:
        if entity_type == "node" and property_name == KEY:
            ranks = self._ranks_of(entity_name)
            weight = int(self._around.key_weights[ranks].sum()) + _KEY_ROW * len(ranks)
            return [{"values": self._around.keys[rank]} for rank in ranks.tolist()], weights.of_list(weight, len(ranks))
        if entity_type not in ("node", "relationship"):
            return [], 0
        found = self._index.values(entity_type, entity_name, property_name)
        rows = canonical_rows([{"values": value} for value in found])
        return rows, weights.of_rows(rows)

    def _ranks(self, label: str, name: str, value: Value) -> Numbers | None:
        """The nodes that have the value, in order of their keys; None where it may mean something else too."""
        if not isinstance(value, SCALARS) or as_parameter(value) is not value or any(True for _ in shown_alike(value)):
            return None
        if isinstance(value, int) and abs(value) > _EXACT:
            return None
        if name == KEY:
            return self._with_key(label, value)
        if (label, name) not in self._matching:
            self._matching[label, name] = self._grouped(label, name)
        return self._matching[label, name].get(value_order(value))

    def _with_key(self, label: str, key: Value) -> Numbers | None:
        rank = bisect_left(self._around.keys, key) if isinstance(key, str) else 0
        found = isinstance(key, str) and self._around.keys[rank : rank + 1] == [key]
        return np.array([rank]) if found and self._index.has_label(str(key), label) else None

    def _ranks_of(self, label: str) -> Numbers:
        table = self._table(label)
        return np.sort(self._around.rank_of[[] if table is None else table.numbers])

    def _grouped(self, label: str, name: str) -> Mapping[Any, Numbers]:
        table = self._table(label)
        column = table.columns.get(name) if table else None
        if table is None or column is None:
            return {}
        ranks = self._around.rank_of[table.numbers]
        order = np.lexsort((ranks, column.codes))
        codes, starts = np.unique(column.codes[order], return_index=True)
        groups = zip(codes.tolist(), np.split(ranks[order], starts[1:]), strict=True)
        return {value_order(column.pool[code]): found for code, found in groups if code != MISSING}

    def _table(self, label: str) -> NodeTable | None:
        return next((table for table in self._index.graph.node_tables if table.label == label), None)


_KEY_ROW = weights.of({"values": ""})
_LOOK_UP = {"label": 0, "property_name": 0, "property_value": 0}.keys()
_VALUES = {"property_name": 0, "entity_name": 0, "entity_type": 0}.keys()

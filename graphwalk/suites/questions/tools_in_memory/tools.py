"""The tools as a program may have them: rows of the graph in memory, and the tokens that a model would read.

They show what `GraphToolbox` shows on any store, for calls that need none of its care: names that exist, values that
mean one thing, and something found. Of all others nothing is known here.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphwalk.models.players.policy import Ask
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.tools_in_memory import weights
from graphwalk.suites.questions.tools_in_memory.surroundings import Numbers, Surroundings
from graphwalk.toolbox.readings import as_parameter, shown_alike
from graphwalk.toolbox.rows import canonical_rows
from graphwalk.types.graph import Column, Node, PropertyGraph, Relationship, value_order
from graphwalk.types.values import SCALARS, Row, Value, shown

KEY = "key"
_EXACT = 2**53
"""Larger whole numbers are equal to others in some engines."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a call shows: its rows, and the tokens of their text."""

    rows: list[Row]
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

    def _counted(self, rows: list[Row], weight: int) -> Shown | None:
        tokens = weights.tokens(weight) if rows else None
        return None if tokens is None else Shown(rows, tokens)

    def _neighbors(self, label: str, property_name: str, property_value: Value) -> tuple[list[Row], int]:
        ranks = self._ranks(label, property_name, property_value)
        return ([], 0) if ranks is None else self._around.rows_around(ranks)

    def _nodes(self, label: str, property_name: str, property_value: Value) -> tuple[list[Row], int]:
        ranks = self._ranks(label, property_name, property_value)
        if ranks is None:
            return [], 0
        frame = weights.of({"label": label, "properties": {}}) - weights.BRACES
        weight = int(self._around.map_weights[ranks].sum()) + frame * len(ranks)
        rows = [{"label": label, "properties": self._around.properties[rank]} for rank in ranks.tolist()]
        return rows, weights.of_list(weight, len(rows))

    def _values(self, property_name: str, entity_name: str, entity_type: str) -> tuple[list[Row], int]:
        owners: Iterable[Node | Relationship]
        if entity_type == "node" and property_name == KEY:
            rows = [{"values": key} for key in sorted(self._index.keys_of(entity_name))]
        elif entity_type in ("node", "relationship"):
            of = self._index.nodes_of if entity_type == "node" else self._index.relationships_of
            owners = of.get(entity_name, ())
            found = dict.fromkeys(owner.properties.get(property_name) for owner in owners)
            rows = canonical_rows([{"values": value} for value in found if value is not None])
        else:
            rows = []
        return rows, weights.of_rows(rows) if rows else 0

    def _ranks(self, label: str, name: str, value: Value) -> Numbers | None:
        """The nodes that have the value, in order of their keys; None where it may mean something else too."""
        if not isinstance(value, SCALARS) or as_parameter(value) is not value or any(True for _ in shown_alike(value)):
            return None
        if isinstance(value, int) and abs(value) > _EXACT:
            return None
        if (label, name) not in self._matching:
            self._matching[label, name] = self._grouped(label, name)
        return self._matching[label, name].get(value_order(value))

    def _grouped(self, label: str, name: str) -> Mapping[Any, Numbers]:
        around = self._around
        table = next((table for table in self._index.graph.node_tables if table.label == label), None)
        if table is None:
            return {}
        ranks = np.sort(around.rank_of[table.numbers])
        if name == KEY:
            return {
                value_order(around.keys[rank]): ranks[place : place + 1] for place, rank in enumerate(ranks.tolist())
            }
        groups: defaultdict[Any, list[int]] = defaultdict(list)
        for rank in ranks.tolist():
            value = around.properties[rank].get(name)
            if value is not None:
                groups[value_order(value)].append(rank)
        return {value: np.array(found, dtype=np.int64) for value, found in groups.items()}


_LOOK_UP = {"label": 0, "property_name": 0, "property_value": 0}.keys()
_VALUES = {"property_name": 0, "entity_name": 0, "entity_type": 0}.keys()

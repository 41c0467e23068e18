"""The reading tools computed in memory: the rows of `GraphToolbox` without queries, for reference walks."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from graphwalk.models.tokens import rule_hundredths, tokens_of
from graphwalk.suites.questions.agents.walker import Page
from graphwalk.suites.questions.tasks.graph_index import EntityType, GraphIndex
from graphwalk.suites.reference import Answer
from graphwalk.tools.arguments import as_parameter, shown_alike
from graphwalk.tools.observed import KEY, NEIGHBORS, VALUES
from graphwalk.tools.results import canonical_rows
from graphwalk.types.chat import ToolCall
from graphwalk.types.graph import PropertyGraph, Relationship, value_order
from graphwalk.types.values import SCALARS, Row, Value, shown

_EXACT = 2**53
"""Some engines compare larger integers as floats."""
_LOOK_UP = {"label", "property_name", "property_value"}
_VALUES = {"property_name", "entity_name", "entity_type"}


class SizedRows(NamedTuple):
    """Rows of a call, and the tokens of their text."""

    rows: list[Row]
    tokens: int


def fits_memory_tools(graph: PropertyGraph) -> bool:
    """Return True for graphs like the generated ones: one label per node, and values with one text form.

    Dates and lists have several, and so has a property that is 1 in one place and 1.0 in another.
    """
    columns = [(name, column) for table in graph.all_columns() for name, column in table.items()]
    return all(len(table.labels) == 1 for table in graph.node_tables) and all(
        name != KEY
        and all(isinstance(value, SCALARS) and shown(value) == value for value in column.pool)
        and len(set(map(value_order, column.pool))) == len(set(column.pool)) == len(column.pool)
        for name, column in columns
    )


class MemoryTools:
    """The three tools that read a graph for which `fits_memory_tools`, in pages of at most `budget` rows.

    Rows and their order are those of `GraphToolbox`. Unknown names, ambiguous values and empty results are left to it.
    """

    def __init__(self, index: GraphIndex, budget: int | None = None) -> None:
        self._index, self._budget = index, budget
        self._nodes: dict[str, tuple[Row, int]] = {}
        self._around: dict[str, tuple[list[Row], int]] = {}
        self._paged: dict[str, SizedRows] = {}
        """Results with several pages, by the call for the first page."""
        self._incoming: defaultdict[str, list[Relationship]] = defaultdict(list)
        for relationship in chain.from_iterable(index.outgoing.values()):
            self._incoming[relationship.target].append(relationship)

    def answer(self, call: ToolCall) -> Answer | None:
        """Return the page that a call requests, or None if the toolbox must answer it."""
        arguments = json.loads(call.arguments)
        number = arguments.pop("page", 1)
        key = f"{call.name} {arguments}"
        result = self._paged.get(key) or self.result(call.name, arguments)
        if result is None:
            return None
        rows, most = result.rows, self._budget or len(result.rows)
        if len(rows) > most:
            self._paged[key] = result
        page = rows[(number - 1) * most : number * most]
        following = number + 1 if number * most < len(rows) else None
        return Answer(Page(page, following), result.tokens * len(page) // len(rows))

    def result(self, tool: str, arguments: Mapping[str, Any]) -> SizedRows | None:
        """Return all rows of a call, or None if the toolbox must answer it."""
        if tool == VALUES and arguments.keys() == _VALUES:
            rows = canonical_rows([{"values": value} for value in self._values(**arguments)])
            size = sum(map(_hundredths, rows))
        elif tool == "get_node_by_property" and arguments.keys() == _LOOK_UP:
            keys = self._matching(**arguments)
            rows = [{"label": arguments["label"], "properties": self._node(key)[0]} for key in keys]
            size = sum(map(_hundredths, rows))
        elif tool == NEIGHBORS and arguments.keys() == _LOOK_UP:
            around = [self._neighborhood(key) for key in self._matching(**arguments)]
            rows = [row for rows_of_node, _ in around for row in rows_of_node]
            size = sum(size for _, size in around)
        else:
            return None
        return SizedRows(rows, tokens_of(_BRACKETS + size + _COMMA * (len(rows) - 1))) if rows else None

    def _values(self, property_name: str, entity_name: str, entity_type: EntityType) -> Sequence[Value]:
        if entity_type == "node" and property_name == KEY:
            return self._index.keys_of(entity_name)
        return self._index.values(entity_type, entity_name, property_name)

    def _matching(self, label: str, property_name: str, property_value: Value) -> list[str]:
        """Return the sorted keys of the nodes with the value; empty if the value is ambiguous."""
        value = property_value
        if not isinstance(value, SCALARS) or as_parameter(value) is not value or any(True for _ in shown_alike(value)):
            return []
        if isinstance(value, int) and abs(value) > _EXACT:
            return []
        return sorted(self._index.keys_with(label, property_name, value))

    def _node(self, key: str) -> tuple[Row, int]:
        """Return the properties of a node with its key, and their size in hundredths of a token."""
        if key not in self._nodes:
            properties = {KEY: key, **self._index.nodes[key].properties}
            self._nodes[key] = properties, _hundredths(properties)
        return self._nodes[key]

    def _neighborhood(self, key: str) -> tuple[list[Row], int]:
        """Return the rows of all relationships of a node, and their size in hundredths of a token."""
        if key not in self._around:
            nodes, outgoing = self._index.nodes, self._index.outgoing
            ends = [("incoming", r.type, nodes[r.source].label, r.source, r.properties) for r in self._incoming[key]]
            ends += [("outgoing", r.type, nodes[r.target].label, r.target, r.properties) for r in outgoing[key]]
            if len({end[:4] for end in ends}) < len(ends):  # parallel relationships
                ends.sort(key=lambda end: str(sorted(end[4].items())))
            ends.sort(key=itemgetter(0, 1, 2, 3))
            rows, size = [], 0
            for direction, type_, label, other, properties in ends:
                node, node_size = self._node(other)
                row: Row = {"center_key": key, "direction": direction, "type": type_, "neighbor_label": label}
                row |= {"neighbor_properties": {}, "relationship_properties": properties}
                size += _hundredths(row) - _BRACES + node_size
                row["neighbor_properties"] = node
                rows.append(row)
            self._around[key] = rows, size
        return self._around[key]


def _hundredths(row: Row) -> int:
    """Return the size of a row as JSON in hundredths of a token: the sum of its parts, most of which are repeated."""
    size = _BRACES + _COMMA * max(len(row) - 1, 0)
    for name, value in row.items():
        size += _scalar(name) + _COLON + (_hundredths(value) if isinstance(value, dict) else _scalar(value))
    return size


@lru_cache(maxsize=1 << 16, typed=True)
def _scalar(value: Value) -> int:
    """Return the size of a value with the space before it, which counts before a number."""
    return rule_hundredths(f" {json.dumps(value, ensure_ascii=False)}")


_BRACES, _BRACKETS, _COMMA, _COLON = map(rule_hundredths, ("{}", "[]", ", ", ":"))

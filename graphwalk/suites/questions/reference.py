"""Reference figures of a question: turns, tool calls and tokens of the scripted expert."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.evaluation.rows import compare_rows
from graphwalk.models.scripted import Ask
from graphwalk.models.tokens import rule_hundredths, tokens_of
from graphwalk.suites.questions.graph_index import GraphIndex, Kind
from graphwalk.suites.questions.prompts import tools_system
from graphwalk.suites.questions.scripted import plan_of
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.walker import Page, Result
from graphwalk.suites.reference import ReferenceWalk, WalkCounter, calls_of, count, prompt_tokens
from graphwalk.tools.arguments import as_parameter, shown_alike
from graphwalk.tools.observed import KEY, RelationshipRow
from graphwalk.tools.results import canonical_rows
from graphwalk.tools.toolbox import Toolbox
from graphwalk.types.chat import ToolCall
from graphwalk.types.graph import MISSING, Column, PropertyGraph, Relationship, value_order
from graphwalk.types.schema import Schema
from graphwalk.types.values import SCALARS, Row, Value, shown

_EXACT = 2**53
"""Some engines compare larger integers as floats."""


class ExpertReference:
    """Reference walks on one graph (docs/method.md, Questions), with the default prompt and tools.

    With `memory` the expert gets rows in place of text, at most `budget` per call. The figures do not change.
    """

    def __init__(
        self, schema: Schema, toolbox: Toolbox, memory: "MemoryTools | None" = None, budget: int | None = None
    ) -> None:
        self._schema, self._toolbox, self._memory, self._budget = schema, toolbox, memory, budget
        self._paged: dict[str, Found] = {}
        """Results with several pages, by the call for the first page."""
        self._prompt_tokens = prompt_tokens(toolbox, [tools_system(schema, AgentConfig())])

    async def __call__(self, task: QuestionTask) -> ReferenceWalk:
        """Return the reference walk. Raise OracleError if the expert's answer differs from the target."""
        counter = WalkCounter(self._prompt_tokens + count(task.question))
        self._paged.clear()
        plan = plan_of(task.template, task.parameters, self._schema)
        results: list[Result] | None = None
        while True:
            counter.turn()
            try:
                asks = next(plan) if results is None else plan.send(results)
            except StopIteration as end:
                return self._closed(counter, task, end.value)
            calls = calls_of(asks)
            counter.call(calls)
            results = [await self._result(*one, counter) for one in zip(asks, calls, strict=True)]

    async def _result(self, ask: Ask, call: ToolCall, counter: WalkCounter) -> Result:
        given = {} if isinstance(ask.arguments, str) else dict(ask.arguments)
        number = given.pop("page", 1)
        first = f"{ask.tool} {given}"
        found = self._paged.get(first) or (self._memory and self._memory.answer(ask.tool, given))
        if not found:
            result = await self._toolbox.call(call)
            counter.result(count(result.content), note=result.is_note)
            return result.content
        rows, most = found.rows, self._budget or len(found.rows)
        if len(rows) > most:
            self._paged[first] = found
        page = rows[(number - 1) * most : number * most]
        counter.result(found.tokens * len(page) // len(rows))
        return Page(page, number + 1 if number * most < len(rows) else None)

    def _closed(self, counter: WalkCounter, task: QuestionTask, rows: Sequence[Row]) -> ReferenceWalk:
        walk = counter.close(json.dumps(rows, ensure_ascii=False))
        any_one = task.mode != "set"
        if rows != task.gold and not compare_rows(rows, task.gold, task.answer_fields, any_one=any_one).correct:
            raise OracleError(
                f"the expert's answer to {task.task_id} differs from the target ({task.question.strip()})\n"
                f"  expert: {walk.answer}\n  target: {json.dumps(task.gold, ensure_ascii=False)}",
                hint=f"graphwalk questions {task.template}",
            )
        return walk


@dataclass(frozen=True, slots=True)
class Found:
    """Rows or relationships of a call, and the tokens of their text."""

    rows: list[Row] | list[RelationshipRow]
    tokens: int


def can_be_walked_in_memory(graph: PropertyGraph) -> bool:
    """Return True for graphs like the generated ones: one label per node, plain values, keys of one length."""
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
    """Return True if each value has one text form: no dates, no lists, not both 1 and 1.0."""
    plain = all(isinstance(value, SCALARS) and shown(value) == value for value in column.pool)
    return plain and len(set(map(value_order, column.pool))) == len(set(column.pool)) == len(column.pool)


class MemoryTools:
    """The three tools that read a graph, computed in memory; see `can_be_walked_in_memory`.

    Rows and their order are those of `GraphToolbox`. Unknown names, ambiguous values and empty results are left to
    the toolbox. The tokens of a text are the sum of its parts, which are weighed for all nodes at once.
    """

    def __init__(self, index: GraphIndex) -> None:
        self._index = index
        self._around: dict[str, list[RelationshipRow]] = {}
        self._nodes: dict[str, Row] = {}
        self._node_weights, self._around_weights = _weights(index.graph)
        self._number_of = {key: number for number, key in enumerate(index.graph.keys)}

    @cached_property
    def _incoming(self) -> Mapping[str, list[Relationship]]:
        incoming: defaultdict[str, list[Relationship]] = defaultdict(list)
        for relationships in self._index.outgoing.values():
            for relationship in relationships:
                incoming[relationship.target].append(relationship)
        return incoming

    def answer(self, tool: str, given: Mapping[str, Any]) -> Found | None:
        """Return the result of a call, or None if the toolbox must answer it."""
        rows: list[Row] | list[RelationshipRow]
        if tool == "get_unique_property_values" and given.keys() == _VALUES:
            rows = canonical_rows([{"values": value} for value in self._values(**given)])
            return Found(rows, count(json.dumps(rows, ensure_ascii=False))) if rows else None
        if tool not in ("get_all_nearest_neighbors", "get_node_by_property") or given.keys() != _LOOK_UP:
            return None
        keys = self._matching(**given)
        numbers = [self._number_of[key] for key in keys]
        if tool == "get_node_by_property":
            rows = [{"label": given["label"], "properties": self._node(key)} for key in keys]
            weight = int(self._node_weights[numbers].sum()) + len(rows) * _frame(
                {"label": given["label"], "properties": {}}
            )
        else:
            rows = [row for key in keys for row in self._neighborhood(key)]
            weight = int(self._around_weights[numbers].sum())
        return Found(rows, tokens_of(_weight([]) + weight + _COMMA * (len(rows) - 1))) if rows else None

    def _values(self, property_name: str, entity_name: str, entity_type: Kind) -> Sequence[Value]:
        if entity_type not in ("node", "relationship"):
            return ()
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

    def _node(self, key: str) -> Row:
        """Return the properties of a node including its key."""
        if key not in self._nodes:
            self._nodes[key] = {KEY: key, **self._index.nodes[key].properties}
        return self._nodes[key]

    def _neighborhood(self, key: str) -> list[RelationshipRow]:
        """Return all relationships of a node in the order of the tool's rows."""
        if key not in self._around:
            nodes = self._index.nodes
            ends = [("incoming", r.type, nodes[r.source].label, r.source, r) for r in self._incoming.get(key, ())]
            ends += [("outgoing", r.type, nodes[r.target].label, r.target, r) for r in self._index.outgoing[key]]
            ends.sort(key=_place)
            if len(set(map(_place, ends))) < len(ends):  # parallel relationships
                ends.sort(key=lambda end: (*_place(end), str(sorted(end[4].properties.items()))))
            own, rows = _alone(nodes[key].label), []
            for direction, type_, label, other, r in ends:
                outgoing, labels, node = direction == "outgoing", _alone(label), self._node(other)
                sides = (own, labels) if outgoing else (labels, own)
                rows.append(
                    RelationshipRow(r.source, sides[0], type_, r.target, sides[1], r.properties, node, outgoing)
                )
            self._around[key] = rows
        return self._around[key]


_place = itemgetter(0, 1, 2, 3)


def _weights(graph: PropertyGraph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for every node number the weight of its properties, and of the rows of all its relationships."""
    size = graph.node_count
    keys = np.array([rule_hundredths(key) for key in graph.keys], dtype=np.int64)
    nodes, table_of, around = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    for number, table in enumerate(graph.node_tables):
        own = _map_weights(table.columns, len(table.numbers), _frame({KEY: ""}))
        nodes[table.numbers] = own + keys[table.numbers]
        table_of[table.numbers] = number
    for relationships in graph.relationship_tables:
        own = _map_weights(relationships.columns, len(relationships.sources))
        sources, targets = relationships.sources, relationships.targets
        for direction, centres, others in (("outgoing", sources, targets), ("incoming", targets, sources)):
            row: Row = {"center_key": "", "direction": direction, "type": relationships.type, "neighbor_properties": {}}
            row["relationship_properties"] = {}
            frames = [_frame({**row, "neighbor_label": table.label}, maps=2) for table in graph.node_tables]
            weights = np.array(frames, np.int64)[table_of[others]] + nodes[others] + own + keys[centres]
            np.add.at(around, centres, weights)
    return nodes, around


def _map_weights(columns: Mapping[str, Column], number: int, key: int | None = None) -> NDArray[np.int64]:
    """Return the weight of each of a number of maps: the sum of its fields, and of a `key` field if given."""
    total = np.full(number, _BRACES + (key or 0), np.int64)
    fields = np.full(number, 0 if key is None else 1, np.int64)
    for name, column in columns.items():
        # The last weight is that of MISSING, -1.
        weights = np.array([*(_frame({name: value}, maps=1) for value in column.pool), 0], np.int64)
        total += weights[column.codes]
        fields += column.codes != MISSING
    total += _COMMA * np.maximum(fields - 1, 0)
    return total


def _weight(value: Any) -> int:
    """Return the size of a value as JSON in hundredths of a token."""
    return rule_hundredths(json.dumps(value, ensure_ascii=False))


def _frame(row: Mapping[str, Any], maps: int = 1) -> int:
    """Return the weight of a row without the braces of a number of maps in it, or its own."""
    return _weight(row) - maps * _BRACES


@cache
def _alone(label: str) -> frozenset[str]:
    return frozenset([label])


_COMMA, _BRACES = rule_hundredths(", "), _weight({})
_LOOK_UP = {"label", "property_name", "property_value"}
_VALUES = {"property_name", "entity_name", "entity_type"}

"""The random walk: a few valid calls without a plan, then an answer of the right form, guessed from what was seen."""

import json
import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from graphwalk.models.policy import Ask, Policy
from graphwalk.models.scripted import AnswerNow
from graphwalk.suites.questions.players.reading import labels_in, neighborhood, nodes, unique_values
from graphwalk.suites.questions.players.walker import KEY, Centre
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.toolbox.encodings import read_rows
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value

MOST_TURNS = 6
MOST_CALLS = 3
"""Calls of one turn."""
MOST_ROWS = 4
HIGHEST_COUNT = 12


def random_walk(task: QuestionTask, schema: Schema, draw: random.Random) -> Policy:
    """Calls of random tools on what the question names and what came up so far; then rows of the right form.

    Right by luck now and then: with one count or one value to guess more often than with a set of nodes.
    """
    memory = _Memory(task.parameters)
    try:
        for _ in range(draw.randint(1, MOST_TURNS)):
            asks = [_any_call(draw, memory, schema) for _ in range(draw.randint(1, MOST_CALLS))]
            for ask, text in zip(asks, (yield asks), strict=True):
                memory.learn(ask, read_rows(text) or [])
    except AnswerNow:
        pass
    return json.dumps(memory.guess(draw, task), ensure_ascii=False)


class _Memory:
    """What a walk has seen: values by property name, and what could be looked up next. Lists keep the order seen."""

    def __init__(self, parameters: Mapping[str, Value]) -> None:
        self._asked_property = str(parameters.get("property", ""))
        self._values: defaultdict[str, list[Value]] = defaultdict(list)
        self.centres: list[Centre] = []
        if {"label", "value"} <= parameters.keys():
            self._meet(str(parameters["label"]), {self._asked_property: parameters["value"]})
        if {"source_label", "key"} <= parameters.keys():
            self._meet(str(parameters["source_label"]), {KEY: parameters["key"]})

    def learn(self, ask: Ask, rows: Sequence[Row]) -> None:
        arguments = ask.arguments if isinstance(ask.arguments, Mapping) else {}
        for row in rows:
            if "values" in row and arguments["entity_type"] == "node":
                self._meet(arguments["entity_name"], {arguments["property_name"]: row["values"]})
            elif "values" in row:
                self._values[arguments["property_name"]].append(row["values"])
            elif "neighbor_properties" in row:
                self._meet_node(row, "neighbor_label", row["neighbor_properties"])
            elif "properties" in row:
                self._meet_node(row, "label", row["properties"])

    def guess(self, draw: random.Random, task: QuestionTask) -> list[Row]:
        computed = task.computed_fields
        single = task.mode != "set" or computed.issuperset(task.answer_fields)
        number = 1 if single else draw.randint(1, MOST_ROWS)
        rows = [{name: self._value(draw, name, computed) for name in task.answer_fields} for _ in range(number)]
        return [row for row in rows if any(value is not None for value in row.values())]

    def _value(self, draw: random.Random, field: str, computed: Collection[str]) -> Value | None:
        if field in computed:
            return draw.randint(1, HIGHEST_COUNT)
        name = KEY if field.endswith("key") else self._asked_property if field == "value" else field
        return draw.choice(self._values[name]) if self._values[name] else None

    def _meet_node(self, row: Row, name: str, properties: Mapping[str, Value]) -> None:
        """A node, to be looked up by the first of its labels; one without labels cannot be."""
        for label in (labels_in(row, name) or [])[:1]:
            self._meet(label, properties)

    def _meet(self, label: str, properties: Mapping[str, Value]) -> None:
        for name, value in properties.items():
            self._values[name].append(value)
            self.centres.append(Centre(label, name, value))


def _any_call(draw: random.Random, memory: _Memory, schema: Schema) -> Ask:
    if memory.centres and draw.random() < 0.7:
        return draw.choice([nodes, neighborhood, neighborhood])(*draw.choice(memory.centres))
    owners = [(node.label, p.name) for node in schema.nodes for p in node.properties]
    types = [(type_.type, p.name) for type_ in schema.relationships for p in type_.properties]
    owner, name = draw.choice(owners + types)
    return unique_values(name, owner, "node" if (owner, name) in owners else "relationship")

"""Scripted agents for questions: expert, flawed expert and baselines."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from graphwalk.graphs.graph import KEY
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import TEMPORAL_FUNCTIONS, Row, Value
from graphwalk.models.scripted import AnswerNow, Ask, Policy
from graphwalk.suites.flawed import flawed, varied
from graphwalk.suites.questions.catalogue import has_plan, python_part
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.walker import Walker, neighborhood, nodes, read, unique_values
from graphwalk.suites.suite import ScriptedAgent
from graphwalk.tools.encodings import read_rows
from graphwalk.tools.relationship_rows import labels_in

MOST_TURNS = 6
MOST_CALLS = 3
"""Calls of one turn."""
MOST_ROWS = 4
HIGHEST_COUNT = 12
_TIME_PARAMETER = re.compile(rf"\b(?:{'|'.join(TEMPORAL_FUNCTIONS)})\((\$\w+)\)")
"""localdatetime($value)"""


def expert(question: str, parameters: Mapping[str, Value], schema: Schema) -> Policy:
    """Play the plan of a question, with what a language model knows, and answer with the JSON list of rows."""
    python: Any = python_part(question)
    rows = yield from python(**parameters).plan(Walker(schema))
    return json.dumps(rows, ensure_ascii=False)


def own_cypher(task: QuestionTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Run the task's Cypher and answer with its rows."""

    def literal(name: re.Match[str]) -> str:
        value = task.cypher_parameters[name[1]]
        if not isinstance(value, str):
            return json.dumps(value)
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    # The engine that runs the queries of models holds dates and times as texts.
    cypher = _TIME_PARAMETER.sub(r"\1", task.cypher)
    query = re.sub(r"\$(\w+)", literal, cypher)
    (rows,) = yield from read([Ask("run_cypher", {"query": query})])
    answer: list[Row] = [{field: row[field] for field in task.answer_fields} for row in rows]
    return json.dumps(answer, ensure_ascii=False)


def random_walk(task: QuestionTask, setting: str, schema: Schema | None, draw: Random) -> Policy:
    """Call random tools on values of the question and of earlier results, then answer with random rows."""
    assert schema is not None
    memory = _Memory(task.parameters)
    try:
        for _ in range(draw.randint(1, MOST_TURNS)):
            asks = [_any_call(draw, memory, schema) for _ in range(draw.randint(1, MOST_CALLS))]
            texts = yield asks
            for ask, text in zip(asks, texts, strict=True):
                memory.learn(ask, read_rows(text) or [])
    except AnswerNow:
        pass
    return json.dumps(memory.guess(draw, task), ensure_ascii=False)


class _Memory:
    """Observed values by property name, and possible look-ups, in the order of observation."""

    def __init__(self, parameters: Mapping[str, Value]) -> None:
        self._asked_property = str(parameters.get("property", ""))
        self._values: defaultdict[str, list[Value]] = defaultdict(list)
        self.centres: list[tuple[str, str, Value]] = []
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

    def guess(self, draw: Random, task: QuestionTask) -> list[Row]:
        computed = task.computed_fields
        has_one_row = task.mode != "set" or computed.issuperset(task.answer_fields)
        number = 1 if has_one_row else draw.randint(1, MOST_ROWS)
        rows = []
        for _ in range(number):
            row = {name: self._value(draw, name, computed) for name in task.answer_fields}
            if any(value is not None for value in row.values()):
                rows.append(row)
        return rows

    def _value(self, draw: Random, field: str, computed: Collection[str]) -> Value | None:
        if field in computed:
            return draw.randint(1, HIGHEST_COUNT)
        name = field
        # source_node_key
        if field.endswith("key"):
            name = KEY
        elif field == "value":
            name = self._asked_property
        if not self._values[name]:
            return None
        return draw.choice(self._values[name])

    def _meet_node(self, row: Row, name: str, properties: Mapping[str, Value]) -> None:
        """Record a node under its first label; a node without labels cannot be looked up."""
        for label in (labels_in(row, name) or [])[:1]:
            self._meet(label, properties)

    def _meet(self, label: str, properties: Mapping[str, Value]) -> None:
        for name, value in properties.items():
            self._values[name].append(value)
            self.centres.append((label, name, value))


def _any_call(draw: Random, memory: _Memory, schema: Schema) -> Ask:
    if memory.centres and draw.random() < 0.7:
        # Neighbourhoods are twice as likely as nodes.
        call = draw.choice([nodes, neighborhood, neighborhood])
        return call(*draw.choice(memory.centres))
    of_nodes: list[tuple[str, str]] = []
    for node in schema.nodes:
        of_nodes.extend((node.label, prop.name) for prop in node.properties)
    of_relationships: list[tuple[str, str]] = []
    for type_ in schema.relationships:
        of_relationships.extend((type_.type, prop.name) for prop in type_.properties)
    owner, name = draw.choice(of_nodes + of_relationships)
    return unique_values(name, owner, "node" if (owner, name) in of_nodes else "relationship")


def _walk(task: QuestionTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    assert schema is not None
    return expert(task.template, task.parameters, schema)


def _no_plan(task: QuestionTask) -> str:
    return "" if has_plan(task.template) else f"the question {task.template} has no plan for scripted agents"


EXPERT = ScriptedAgent(_walk, default=True, why_not=_no_plan)
SCRIPTED_AGENTS: Mapping[str, ScriptedAgent[QuestionTask]] = {
    "expert": EXPERT,
    "varied": replace(EXPERT, default=False).changed(varied),
    "cypher": ScriptedAgent(own_cypher, ("write_cypher",)),
    "flawed": EXPERT.changed(flawed),
    "random": ScriptedAgent(random_walk, default=True),
}

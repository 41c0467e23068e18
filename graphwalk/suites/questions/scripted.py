"""The scripted agents by name: an expert, one with the flaws of weak models, and baselines."""

import json
import random
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from graphwalk.encodings import read_rows
from graphwalk.errors import ConfigError
from graphwalk.models.policy import Ask, Policy
from graphwalk.models.scripted import NO_ANSWER, AnswerNow
from graphwalk.seeds import stdlib_random
from graphwalk.suites.questions.catalogue import python_part
from graphwalk.suites.questions.flawed import FLAWS, flawed, varied
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.thoughts import no_answer, walk_in_words
from graphwalk.suites.questions.walker import Centre, Steps, Walker, neighborhood, nodes, read, unique_values
from graphwalk.suites.suite import ScriptedAgents
from graphwalk.toolbox.observed import KEY, labels_in
from graphwalk.types.episode import Trajectory
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value

AGENTS = (
    "expert",
    "varied",
    "by_reference",
    "cypher",
    "flawed",
    "random",
    "empty",
    *(f"flawed:{flaw}" for flaw in FLAWS),
)
WRITE_QUERIES = ("cypher",)
"""Agents that play the setting write_cypher, and no other."""
FOLLOW_A_PLAN = ("expert", "varied", "by_reference", "flawed")
"""Agents that play only questions with a Python part."""
ANSWER = "answer"
PAGE = 1000
"""Rows that the tool shows unless the experiment says otherwise."""
MOST_TURNS = 6
MOST_CALLS = 3
"""Calls of one turn."""
MOST_ROWS = 4
HIGHEST_COUNT = 12


def agent_named(name: str, task: QuestionTask, schema: Schema, draw: random.Random) -> Policy:
    """Return the scripted agent of this name for one episode. ConfigError for an unknown name."""
    if name == "empty":
        return always_empty()
    if name == "cypher":
        return own_cypher(task)
    if name == "random":
        return random_walk(task, schema, draw)
    kind, _, flaw = name.partition(":")
    if kind not in FOLLOW_A_PLAN or (flaw and kind != "flawed"):
        raise ConfigError(f"there is no scripted agent {name!r}", hint=f"there are: {', '.join(AGENTS)}")
    walk = expert(task.template, task.parameters, schema)
    if kind == "flawed":
        return flawed(walk, draw, only=flaw or None)
    if kind == "by_reference":
        return by_reference(walk, task, schema)
    return varied(walk, draw) if kind == "varied" else walk


def expert(question: str, parameters: Mapping[str, Value], schema: Schema) -> Policy:
    """Plays the plan of a question, by its name; knows what a language model would know, and no more.

    Answers with the JSON list of rows that the question asks for. ConfigError where the question has no plan.
    """
    return _walk(plan_of(question, parameters, schema))


def plan_of(question: str, parameters: Mapping[str, Value], schema: Schema) -> Steps[list[Row]]:
    """The plan itself, which returns the rows. ConfigError as above."""
    python = python_part(question)
    if python is None:
        raise ConfigError(f"the expert has no plan for the question {question!r}", hint="docs/extending.md")
    return python.plan(Walker(schema), schema, **parameters)


def _walk(steps: Steps[list[Row]]) -> Policy:
    rows = yield from steps
    return json.dumps(rows, ensure_ascii=False)


def by_reference(walk: Policy, task: QuestionTask, schema: Schema) -> Policy:
    """Walks as the expert does. Where it is refused, or the answer has to be put together, it answers in text."""
    results: list[str] | None = None
    while True:
        try:
            asks = next(walk) if results is None else walk.send(results)
        except StopIteration as end:
            text: str = end.value
            break
        results = yield asks
    rows: list[Row] = json.loads(text)
    python = python_part(task.template)
    if rows and python is not None and python.by_reference is not None:
        yield [Ask(ANSWER, {"results": "all", **python.by_reference(schema, rows, **task.parameters)})]
    return text


def own_cypher(task: QuestionTask) -> Policy:
    """Asks for all rows; where they are too many for one result, in order and part by part."""
    query = _written(task)
    (rows,) = yield from read([_ask(query)])
    if len(rows) >= PAGE:
        ordered = f"{query} ORDER BY {', '.join(f'`{field}`' for field in task.answer_fields)}"
        rows = []
        while len(rows) % PAGE == 0:
            (found,) = yield from read([_ask(f"{ordered} SKIP {len(rows)} LIMIT {PAGE}")])
            if not found:
                break
            rows += found
    answer: list[Row] = [{field: row[field] for field in task.answer_fields} for row in rows]
    return json.dumps(answer, ensure_ascii=False)


def _ask(query: str) -> Ask:
    return Ask("run_cypher", {"query": query})


def _written(task: QuestionTask) -> str:
    """The query with its values in it."""
    return re.sub(r"\$(\w+)", lambda name: _literal(task.cypher_parameters[name[1]]), task.cypher)


def _literal(value: Value) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def always_empty() -> Policy:
    yield from ()
    return NO_ANSWER


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


class QuestionAgents(ScriptedAgents[QuestionTask]):
    names: ClassVar[tuple[str, ...]] = AGENTS
    default_names: ClassVar[tuple[str, ...]] = ("expert", "flawed", "random")

    def can_play(self, name: str, setting: str, task: QuestionTask | None = None) -> bool:
        """Return False without tools or queries, and for a question without the plan that an agent follows."""
        if setting == "write_cypher" or name in WRITE_QUERIES:
            return setting == "write_cypher" and name in WRITE_QUERIES
        return setting == "tools" and (task is None or task.oracles == 2 or name not in FOLLOW_A_PLAN)

    def policy(self, name: str, task: QuestionTask, setting: str, schema: Schema | None, seed: int) -> Policy:
        assert schema is not None
        return agent_named(name, task, schema, stdlib_random(seed, "policy", task.task_id))

    def thoughts(self, task: QuestionTask, setting: str, trajectory: Trajectory, seed: int) -> Sequence[str]:
        return walk_in_words(task, trajectory, stdlib_random(seed, "thoughts", task.task_id))

    def without_answer(self, task: QuestionTask, trajectory: Trajectory, seed: int) -> tuple[str, str] | None:
        return no_answer(task, trajectory, stdlib_random(seed, "without-answer", task.task_id))

"""Scripted agents for questions: expert, flawed expert and baselines, and their thoughts for training data."""

import json
import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import ClassVar, Literal

from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.evaluation.values import parse_object
from graphwalk.models.base import Model
from graphwalk.models.scripted import AnswerNow, Ask, Policy
from graphwalk.seeds import stdlib_random
from graphwalk.suites.questions.agents.flawed import flawed, varied
from graphwalk.suites.questions.agents.forgetful import CONTEXTS, ForgetfulModel
from graphwalk.suites.questions.agents.walker import Steps, Walker, neighborhood, nodes, read, unique_values
from graphwalk.suites.questions.catalogue import python_part, shipped_kinds
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.suite import ScriptedAgents
from graphwalk.suites.thoughts import Thoughts
from graphwalk.tools.encodings import read_rows
from graphwalk.tools.observed import KEY, labels_in
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import Trajectory, Turn
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value

_LOOK_UPS = {"get_node_by_property": "look_up", "get_all_nearest_neighbors": "neighbours"}
_VALUES = "get_unique_property_values"
AGENTS = (
    "expert",
    "varied",
    "by_reference",
    "cypher",
    "forgetful",
    *(f"forgetful:{context}" for context in CONTEXTS),
    "flawed",
    "random",
)
WRITE_QUERIES = ("cypher",)
"""Agents for the setting write_cypher only."""
FOLLOW_A_PLAN = ("expert", "varied", "by_reference", "forgetful", "flawed")
"""Agents that need a question's Python part."""
ANSWER = "answer"
PAGE = 1000
"""Default page size of the tool."""
MOST_TURNS = 6
MOST_CALLS = 3
"""Calls of one turn."""
MOST_ROWS = 4
HIGHEST_COUNT = 12


def agent_named(name: str, task: QuestionTask, schema: Schema, draw: random.Random) -> Policy:
    """Return the scripted agent of this name for one episode. Raise ConfigError for an unknown name."""
    if name == "cypher":
        return own_cypher(task)
    if name == "random":
        return random_walk(task, schema, draw)
    if name not in AGENTS:
        raise ConfigError(
            f"unknown scripted agent {name!r}{did_you_mean(name, AGENTS)}", hint=f"known agents: {', '.join(AGENTS)}"
        )
    walk = expert(task.template, task.parameters, schema)
    if name == "flawed":
        return flawed(walk, draw)
    if name == "by_reference":
        return by_reference(walk, task, schema)
    return varied(walk, draw) if name == "varied" else walk


def expert(question: str, parameters: Mapping[str, Value], schema: Schema) -> Policy:
    """Play the plan of a question and answer with the JSON list of rows. Raise ConfigError without a plan.

    The agent knows only what a language model knows.
    """
    plan = plan_of(question, parameters, schema)

    def play() -> Policy:
        rows = yield from plan
        return json.dumps(rows, ensure_ascii=False)

    return play()


def plan_of(question: str, parameters: Mapping[str, Value], schema: Schema) -> Steps[list[Row]]:
    """Return the plan of a question, which returns the rows. Raise ConfigError if it has none."""
    python = python_part(question)
    if python is None:
        raise ConfigError(f"the expert has no plan for the question {question!r}", hint="docs/extending.md")
    return python(**parameters).plan(Walker(schema))


def by_reference(walk: Policy, task: QuestionTask, schema: Schema) -> Policy:
    """Play like the expert, but answer with the tool `answer`; answer as text if that is refused or impossible."""
    text = yield from walk
    rows: list[Row] = json.loads(text)
    python = python_part(task.template)
    if rows and python is not None and (arguments := python(**task.parameters).by_reference(schema, rows)) is not None:
        yield [Ask(ANSWER, {"results": "all", **arguments})]
    return text


def own_cypher(task: QuestionTask) -> Policy:
    """Run the task's Cypher and answer with its rows, page by page if there are too many for one result."""

    def literal(name: re.Match[str]) -> str:
        value = task.cypher_parameters[name[1]]
        if not isinstance(value, str):
            return json.dumps(value)
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    query = re.sub(r"\$(\w+)", literal, task.cypher)
    (rows,) = yield from read([Ask("run_cypher", {"query": query})])
    if len(rows) >= PAGE:
        ordered = f"{query} ORDER BY {', '.join(f'`{field}`' for field in task.answer_fields)}"
        rows = []
        while len(rows) % PAGE == 0:
            (page,) = yield from read([Ask("run_cypher", {"query": f"{ordered} SKIP {len(rows)} LIMIT {PAGE}"})])
            if not page:
                break
            rows += page
    answer: list[Row] = [{field: row[field] for field in task.answer_fields} for row in rows]
    return json.dumps(answer, ensure_ascii=False)


def random_walk(task: QuestionTask, schema: Schema, draw: random.Random) -> Policy:
    """Call random tools on values of the question and of earlier results, then answer with random rows."""
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
        """Record a node under its first label; a node without labels cannot be looked up."""
        for label in (labels_in(row, name) or [])[:1]:
            self._meet(label, properties)

    def _meet(self, label: str, properties: Mapping[str, Value]) -> None:
        for name, value in properties.items():
            self._values[name].append(value)
            self.centres.append((label, name, value))


def _any_call(draw: random.Random, memory: _Memory, schema: Schema) -> Ask:
    if memory.centres and draw.random() < 0.7:
        return draw.choice([nodes, neighborhood, neighborhood])(*draw.choice(memory.centres))
    owners = [(node.label, p.name) for node in schema.nodes for p in node.properties]
    types = [(type_.type, p.name) for type_ in schema.relationships for p in type_.properties]
    owner, name = draw.choice(owners + types)
    return unique_values(name, owner, "node" if (owner, name) in owners else "relationship")


# Thoughts: texts in templates/thoughts/questions.yaml, and in `thoughts` of templates/questions/NAME.yaml


def walk_in_words(task: QuestionTask, trajectory: Trajectory, draw: random.Random) -> list[str]:
    """Return a thought before every turn, based on the question, the calls and earlier results."""
    thoughts = Thoughts("questions", draw)
    texts = []
    for number, turn in enumerate(trajectory.turns):
        parts = (_outlook(task, thoughts, trajectory.turns[:number]), _next_step(task, thoughts, turn, trajectory))
        texts.append(" ".join(filter(None, parts)))
    return texts


def _outlook(task: QuestionTask, thoughts: Thoughts, before: Sequence[Turn]) -> str:
    """Describe the state before a turn: the plan, the last mistake, or the number of rows found."""
    if not before:
        plans = _of_kind(task, "plan")
        return thoughts.say("begin", plan=thoughts.choose(plans, **task.parameters)) if plans else ""
    results = before[-1].results
    wrong = [result.error for result in results if result.error is not None]
    if wrong:
        return thoughts.say("refused", error=str(wrong[0]).replace("_", " "))
    return thoughts.say("learnt", rows=sum(result.rows or 0 for result in results)) if results else ""


def _next_step(task: QuestionTask, thoughts: Thoughts, turn: Turn, trajectory: Trajectory) -> str:
    """Explain the calls of a turn; without calls, how the answer follows."""
    if turn.message.tool_calls and not any(result.final for result in turn.results):
        return " ".join(_steps(thoughts, turn.message.tool_calls))
    rules = _of_kind(task, "rule")
    seen = sum(result.rows or 0 for result in trajectory.results)
    return thoughts.say("conclude", rule=thoughts.choose(rules, **task.parameters), seen=seen) if rules else ""


def _of_kind(task: QuestionTask, name: Literal["plan", "rule"]) -> Sequence[str]:
    """Return the texts in the YAML of a built-in question."""
    kind = shipped_kinds().get(task.template)
    return kind.template.thoughts.get(name, ()) if kind else ()


def _steps(thoughts: Thoughts, calls: Sequence[ToolCall]) -> Iterator[str]:
    """Yield one sentence per tool, label and property."""
    for tool, group in groupby(sorted(map(_subject, calls)), key=lambda subject: subject[0]):
        subjects = list(group)
        if tool == _VALUES:
            names = list(dict.fromkeys(f"{name} of {owner}" for _, owner, name in subjects))
            yield thoughts.say("list_values", names=names)
        elif tool in _LOOK_UPS:
            for (_, label, name), same in groupby(subjects):
                yield thoughts.say(_LOOK_UPS[tool], label=label, property=name, calls=len(list(same)))
        else:
            yield thoughts.say("other", tool=tool)


def _subject(call: ToolCall) -> tuple[str, str, str]:
    """Return tool, label or type, and property of a call; "" for missing arguments."""
    arguments = parse_object(call.arguments)
    owner = arguments.get("label", arguments.get("entity_name", ""))
    return call.name, str(owner), str(arguments.get("property_name", ""))


class QuestionAgents(ScriptedAgents[QuestionTask]):
    names: ClassVar[tuple[str, ...]] = AGENTS
    default_names: ClassVar[tuple[str, ...]] = ("expert", "flawed", "random")

    def can_play(self, name: str, setting: str, task: QuestionTask | None = None) -> bool:
        """Return False for settings without tools or queries, and for questions without a required plan."""
        if setting == "write_cypher" or name in WRITE_QUERIES:
            return setting == "write_cypher" and name in WRITE_QUERIES
        return setting == "tools" and (task is None or task.oracles == 2 or name not in FOLLOW_A_PLAN)

    def why_not(self, name: str, setting: str, task: QuestionTask) -> str:
        if self.can_play(name, setting):
            return f"the question {task.template} has no Python part, which this scripted agent follows"
        return super().why_not(name, setting, task)

    def policy(self, name: str, task: QuestionTask, setting: str, schema: Schema | None, seed: int) -> Policy:
        assert schema is not None
        return agent_named(name, task, schema, stdlib_random(seed, "policy", task.task_id))

    def model(self, name: str, task: QuestionTask, setting: str, schema: Schema | None, seed: int) -> Model:
        """Return the forgetful agent, which reads the messages, or a model that plays the policy."""
        kind, _, context = name.partition(":")
        if kind != "forgetful":
            return super().model(name, task, setting, schema, seed)
        assert schema is not None
        plan = partial(plan_of, task.template, task.parameters, schema)
        return ForgetfulModel(f"scripted/{name}", task, plan, CONTEXTS.get(context))

    def thoughts(self, task: QuestionTask, setting: str, trajectory: Trajectory, seed: int) -> Sequence[str]:
        return walk_in_words(task, trajectory, stdlib_random(seed, "thoughts", task.task_id))

"""Policies that might earn something without doing what is asked: what a reward must not pay for."""

import json
from collections.abc import Callable
from typing import Any

from graphwalk.models.scripted import Ask, Policy
from graphwalk.suites.questions.agents.scripted import expert
from graphwalk.suites.questions.agents.walker import read, unique_values
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.types.schema import Schema

MakePolicy = Callable[[QuestionTask, Schema], Policy]
_MOST_ROWS = 2_000


def nothing(task: QuestionTask, schema: Schema) -> Policy:
    """Answers an empty list at once."""
    yield from ()
    return "[]"


def everything(task: QuestionTask, schema: Schema) -> Policy:
    """Lists all keys, and answers all rows that the answer could have."""
    labels = [node.label for node in schema.nodes]
    listed = yield from read([unique_values("key", label) for label in labels])
    keys = {label: [row["values"] for row in rows] for label, rows in zip(labels, listed, strict=True)}
    every = [key for held in keys.values() for key in held]
    named = [str(value) for name, value in task.parameters.items() if "label" in name]
    first, last = (keys.get(label, every) for label in (named[0], named[-1])) if named else (every, every)
    one = {"target_node_key": last, "node_key": first, "count": [len(every)], "value": every, "rel_count": [1]}
    columns = [one.get(field, first if "source" in field else last) for field in task.answer_fields]
    rows: list[dict[str, Any]] = [{}]
    for field, held in zip(task.answer_fields, columns, strict=True):
        rows = [{**row, field: value} for row in rows for value in held][:_MOST_ROWS]
    return json.dumps(rows)


def same_call_again(task: QuestionTask, schema: Schema) -> Policy:
    """Makes one call twenty times, and answers nothing."""
    label = schema.nodes[0].label
    for _ in range(20):
        yield [Ask("get_unique_property_values", {"property_name": "key", "entity_name": label, "entity_type": "node"})]
    return "[]"


def calls_thrice(task: QuestionTask, schema: Schema) -> Policy:
    """The expert, who makes every call three times: right, and wasteful."""
    walk = expert(task.template, task.parameters, schema)
    results: list[str] | None = None
    while True:
        try:
            asks = next(walk) if results is None else walk.send(results)
        except StopIteration as end:
            answer: str = end.value
            return answer
        assert not isinstance(asks, str)
        results = (yield asks * 3)[: len(asks)]


def knows_by_heart(task: QuestionTask, schema: Schema) -> Policy:
    """Gives the right answer without a look: no tool result proves it."""
    yield from ()
    return json.dumps(task.target)


def walks(task: QuestionTask, schema: Schema) -> Policy:
    """The expert, for comparison."""
    return expert(task.template, task.parameters, schema)


POLICIES: dict[str, MakePolicy] = {
    "answer nothing": nothing,
    "list everything": everything,
    "one call again and again": same_call_again,
    "know it by heart": knows_by_heart,
    "every call three times, then right": calls_thrice,
    "the expert": walks,
}

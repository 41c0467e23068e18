"""The expert that answers by reference where the tool `answer` can express it."""

import json

from graphwalk.models.policy import Ask, Policy
from graphwalk.suites.questions.catalogue import python_part
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

ANSWER = "answer"


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

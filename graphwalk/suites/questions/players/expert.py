"""The expert: the plan of a question, which finds the exact answer with the tools alone.

That the plans are right proves that four plain tools suffice (docs/method.md, Baselines); the turns and
calls they need are the par of a question.
"""

import json
from collections.abc import Mapping

from graphwalk.errors import ConfigError
from graphwalk.models.policy import Policy
from graphwalk.suites.questions.catalogue import python_part
from graphwalk.suites.questions.players.reading import Steps
from graphwalk.suites.questions.players.walker import Walker
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value


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

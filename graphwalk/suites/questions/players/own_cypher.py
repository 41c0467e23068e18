"""Writes the Cypher of a question's own target as a query, and reports its rows: the setting write_cypher suffices."""

import json
import re

from graphwalk.models.policy import Ask, Policy
from graphwalk.suites.questions.players.reading import read
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.types.values import Row, Value

PAGE = 1000
"""Rows that the tool shows unless the experiment says otherwise."""


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

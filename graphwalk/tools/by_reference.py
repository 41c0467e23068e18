"""Answers by reference: the rows of earlier results that a model points at, in place of a list that it copies."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.evaluation.values import normalise, value_forms
from graphwalk.files.resources import quote
from graphwalk.tools.arguments import ToolMistake, check_shape, parse_arguments
from graphwalk.tools.observed import rows_of
from graphwalk.tools.tool import Tool, rows_of_results
from graphwalk.tools.toolbox import Toolbox
from graphwalk.types.chat import ToolCall, ToolSpec
from graphwalk.types.encodings import NOTE
from graphwalk.types.episode import ToolResult
from graphwalk.types.values import Row

BY_REFERENCE = "rows_of_results"
"""Operation of the tool `answer`."""
_CONDITION = re.compile(r"""\s*([\w.]+)\s*(!?=)=?\s*("(?:[^"\\]|\\.)*"|'[^']*'(?=\s*(?:,|\Z))|[^,]*?)\s*(?:,|\Z)""")
_RANGE = re.compile(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?")
_KEY = re.compile(r"(?:.*[._])?key")
Condition = tuple[str, bool, str]
"""Column, whether it must be equal, value as text."""


class ReferenceToolbox:
    """The tools of one episode, whose results are numbered, and one tool that answers by those numbers."""

    ordered = True

    def __init__(self, inner: Toolbox, tool: Tool, agent: AgentConfig) -> None:
        self._inner, self._tool, self._say = inner, tool, agent.texts.message
        self._shown: list[list[Row]] = []

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return self._inner.specs

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call; one of the answering tool ends the episode, unless there is a mistake in it."""
        if call.name == self._tool.name:
            return self._answered(call)
        result = await self._inner.call(call)
        rows = rows_of(result)
        if rows is None:
            return result
        self._shown.append([dict(_flat(row)) for row in rows])
        number = self._tool.say("messages.number", number=len(self._shown))
        return replace(result, content=f"{NOTE}{number}\n{result.content}")

    def _answered(self, call: ToolCall) -> ToolResult:
        started = perf_counter()
        try:
            arguments = parse_arguments(self._tool, call.arguments)
            check_shape(self._tool, arguments)
            rows = self._rows(**arguments)
        except ToolMistake as mistake:
            if mistake.kind == "bad_reference":
                text = self._tool.say(f"messages.{mistake.message}", **mistake.values)
                return ToolResult(call, text, mistake.kind, None, perf_counter() - started)
            return ToolResult(call, self._say(mistake.message, **mistake.values), mistake.kind)
        text = rows_of_results({"rows": rows})
        return ToolResult(call, text, None, None, perf_counter() - started, final=True)

    def _rows(
        self, results: str, columns: str, where: str = "", also: str = "", but_not: str = "", count: str = ""
    ) -> list[Row]:
        if count not in ("", "rows", "different", "most"):
            raise ToolMistake("bad_reference", "no_count", asked=count)
        shown = [row for number in self._numbers(results) for row in self._shown[number - 1]]
        fields = _fields(columns, counted=bool(count))
        column_names = list(dict.fromkeys(name for row in shown for name in row))
        named = {field: _column_of(field, name, column_names) for field, name in fields.items() if name is not None}

        def matching(conditions: str) -> list[tuple[Any, ...]]:
            chosen = [(_column(name, column_names), equal, value) for name, equal, value in _conditions(conditions)]
            rows = (row for row in shown if all(_holds(row, condition) for condition in chosen))
            return [tuple(row.get(column) for column in named.values()) for row in rows]

        matches = matching(where)
        required = set(map(_key, matching(also))) if also else None
        excluded = set(map(_key, matching(but_not))) if but_not else set()
        rows = [row for row in matches if (required is None or _key(row) in required) and _key(row) not in excluded]
        return _answer(rows, list(fields), count)

    def _numbers(self, results: str) -> list[int]:
        last = len(self._shown)
        if results.strip().lower() == "all":
            return list(range(1, last + 1))
        numbers: list[int] = []
        for part in results.split(","):
            match = _RANGE.fullmatch(part)
            first, end = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
            if not 1 <= first <= end <= last:
                raise ToolMistake("bad_reference", "no_result", asked=part.strip(), last=last)
            numbers += range(first, end + 1)
        return list(dict.fromkeys(numbers))


def _answer(rows: Sequence[tuple[Any, ...]], fields: Sequence[str], count: str) -> list[Row]:
    once = {_key(row): row for row in reversed(rows)}
    if not count and not once:
        raise ToolMistake("bad_reference", "no_rows")
    if count in ("rows", "different"):
        return [{fields[-1]: len(rows if count == "rows" else once)}]
    if count == "most":
        counted = Counter(map(_key, rows)).most_common(1)
        if not counted:
            raise ToolMistake("bad_reference", "no_rows")
        return [dict(zip(fields, (*once[counted[0][0]], counted[0][1]), strict=True))]
    return [dict(zip(fields, row, strict=True)) for row in reversed(once.values())]


def _fields(columns: str, *, counted: bool) -> dict[str, str | None]:
    """Return the map of answer fields to columns, "" for the same name; a count has no column."""
    parts = [[text.strip() for text in part.partition("=")] for part in columns.split(",")]
    if not all(field and (column or not sign) for field, sign, column in parts):
        raise ToolMistake("bad_reference", "no_columns", asked=columns)
    fields: dict[str, str | None] = {field: column for field, _, column in parts}
    if counted and not parts[-1][1]:
        fields[parts[-1][0]] = None
    return fields


def _conditions(text: str) -> Iterator[Condition]:
    position = 0
    while position < len(text.rstrip()):
        match = _CONDITION.match(text, position)
        if match is None:
            raise ToolMistake("bad_reference", "no_condition", asked=text[position:])
        value = match[3]
        if len(value) > 1 and value[0] == value[-1] == "'":
            value = value[1:-1]
        elif value[:1] == '"':
            with suppress(ValueError):
                value = str(json.loads(value))
        yield match[1], match[2] == "=", value
        position = match.end()


def _holds(row: Row, condition: Condition) -> bool:
    """Return True if a row fits; as in Cypher, a value that it lacks is neither equal nor different."""
    column, equal, text = condition
    if row.get(column) is None:
        return False
    return (normalise(row[column]) in map(normalise, value_forms(text))) == equal


def _column_of(field: str, name: str, names: Sequence[str]) -> str:
    """Return the column of a field. A field alone is the column of its own name; a key is the only key of the rows."""
    if name or field in names or not _KEY.fullmatch(field):
        return _column(name or field, names)
    keys = [column for column in names if _KEY.fullmatch(column)]
    return keys[0] if len(keys) == 1 else _column(field, names)


def _column(name: str, names: Sequence[str]) -> str:
    """Return the column of this name, or the only one that ends with it."""
    ending = [column for column in names if column.endswith(f".{name}")]
    if name in names:
        return name
    if len(ending) == 1:
        return ending[0]
    raise ToolMistake("bad_reference", "no_column", asked=quote(name)[1:-1], names=list(names))


def _flat(row: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _key(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(normalise(value) for value in row)

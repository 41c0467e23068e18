"""The tools over one property graph (docs/method.md, Tools)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from time import perf_counter
from typing import Any

from graphwalk.config.agent import MOST_ROWS, AgentConfig
from graphwalk.errors import QueryLimitError
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher_check import QueryRefused
from graphwalk.stores.search import LONGEST_TEXT, MOST_SCANNED, folded
from graphwalk.tools.arguments import (
    CheckedArguments,
    ToolMistake,
    as_parameter,
    check_names,
    check_shape,
    close_names,
    kind_of_value,
    other_readings,
    parse_arguments,
    shown_alike,
)
from graphwalk.tools.results import canonical_rows, page_of, rows_needed
from graphwalk.tools.schema_text import entity_text
from graphwalk.tools.tool import (
    ENUMS,
    IN_LIST,
    OPERATIONS,
    QUERY_SECONDS,
    SEARCH,
    SWITCHES,
    Tool,
    load_tools,
    shipped_declaration,
)
from graphwalk.types.chat import ToolCall, ToolSpec
from graphwalk.types.encodings import encode_result
from graphwalk.types.episode import ToolResult
from graphwalk.types.graph import KEY
from graphwalk.types.schema import PropertyType, Schema
from graphwalk.types.values import Row, Value, shown

GRAPH_TOOLS: tuple[str, ...] = (
    "get_node_by_property",
    "get_all_nearest_neighbors",
    "get_unique_property_values",
    "think",
)
"""The four tools of the paper."""
GET_SCHEMA = "get_schema"
"""The tool that goes with a schema which a prompt may show in part only."""
OWN_GRAPH_TOOLS = ("search_nodes", *GRAPH_TOOLS, GET_SCHEMA)
"""The tools for a user's own graph."""
MOST_CHARACTERS = 200_000
"""Of the rows of a model's own query, as JSON: a single value can be longer than anything that a model could read."""


@dataclass(frozen=True, slots=True)
class _Matches:
    """The result of a query with `values`; `matched`: some entity has these values."""

    rows: list[Row]
    values: Mapping[str, Value]
    matched: bool
    total: int | None
    """Number of rows; None if there are more than these and their number is unknown."""
    names: Mapping[str, str | int]
    """Of the query that gave them: identifiers and switches, `IN_LIST` among them."""

    @property
    def in_list(self) -> bool:
        """Return True if the rows are for lists that contain the values."""
        return self.matched and bool(self.names[IN_LIST])


class GraphToolbox:
    """Tools over one graph. Calls change nothing, so that those of one turn may run side by side."""

    ordered = False

    def __init__(
        self,
        store: GraphStore,
        schema: Schema,
        tools: Sequence[Tool] | None = None,
        agent: AgentConfig | None = None,
        *,
        whole_values: bool = False,
    ) -> None:
        """`tools`: default the four of the paper. `whole_values`: pages are not kept short by cutting values."""
        self._store = store
        self._schema = schema
        self._agent = agent or AgentConfig()
        self._whole_values = whole_values
        self._say = self._agent.texts.message
        names = (*GRAPH_TOOLS, GET_SCHEMA) if self._agent.schema_tokens is not None else GRAPH_TOOLS
        offered = load_tools(names) if tools is None else tools
        self._switches: dict[str, bool] = {name: getattr(self._agent, name) for name in SWITCHES}
        self._switches |= {
            "several_labels": schema.several_labels,
            "no_label": schema.node("") is not None,
            IN_LIST: False,
            SEARCH: any(tool.search is not None for tool in offered),
        }
        self._tools = {t.name: t.offered(self._switches) for t in offered}
        self._own_declarations = {
            name: tool.declared for name, tool in self._tools.items() if tool.declared != shipped_declaration(name)
        }
        self.specs: Sequence[ToolSpec] = tuple(self._spec(tool) for tool in self._tools.values())

    @property
    def tools(self) -> Mapping[str, Tool]:
        """Return the tools that are offered, by name."""
        return self._tools

    @property
    def schema(self) -> Schema:
        """Return the schema that the names in calls are checked with."""
        return self._schema

    @property
    def searches(self) -> bool:
        """Return True if one of the tools searches."""
        return self._switches[SEARCH]

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call. A mistake is a text in the result; StoreError passes through."""
        started = perf_counter()
        try:
            result = await self._run(call)
        except QueryRefused as mistake:
            values = {**mistake.values, "get_schema": GET_SCHEMA in self._tools}
            result = ToolResult(call, self._say(mistake.message, **values), mistake.kind)
        except QueryLimitError as limit:
            if self._agent.call_seconds is None:
                raise
            text = self._say(f"call_{limit.kind}", seconds=self._agent.call_seconds)
            result = ToolResult(call, text, limit.kind)
        return replace(result, seconds=perf_counter() - started, shows=self._own_declarations.get(call.name))

    async def _run(self, call: ToolCall) -> ToolResult:
        """Return the result with the number of all rows (of an operation 1 or 0, of a note None) and those of a page.

        Raise ToolMistake.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            close = close_names(call.name, list(self._tools))
            raise ToolMistake("unknown_tool", "unknown_tool", name=call.name, names=list(self._tools), close=close)
        arguments = parse_arguments(tool, call.arguments)
        check_shape(tool, arguments, ("page",) if self._has_pages(tool) else (), lists=self._schema.lists)
        page = arguments.pop("page", 1)
        if tool.query is not None:
            return await self._answer_query(call, tool, arguments[tool.query], page)
        checked = check_names(tool, arguments, self._schema)
        if tool.search is not None:
            return await self._search(call, tool, arguments[tool.search], checked, page)
        if tool.operation is not None:
            for name in tool.with_role("entity_name"):
                kind = checked.identifiers[tool.parameters[name].of or ""]
                arguments["described"] = entity_text(self._schema, kind, checked.identifiers[name], self._agent)
            text = OPERATIONS[tool.operation](arguments)
            return ToolResult(call, text, rows=None if tool.note_taking else int(bool(text)))
        result = await self._find(tool, checked, page)
        total = await self._count(tool, result) if result.total is None else result.total
        # A part of the rows keeps the order of the database, which the next pages continue.
        whole = result.total == len(result.rows)
        ordered = whole and (self._agent.call_seconds is None or len(result.rows) <= MOST_ROWS)
        rows = canonical_rows(result.rows) if ordered else [canonical_rows([row])[0] for row in result.rows]
        visible, page_notes = page_of(
            rows, page, self._agent, total=total, complete=whole, whole_values=self._whole_values
        )
        content = encode_result(visible, [*self._notes(tool, checked, result), *page_notes], self._agent.encoding)
        tried = {name: shown(result.values[name]) for name in _retried(checked, result)} or None
        number = total or len(result.rows)
        return ToolResult(call, content, rows=number, in_list=result.in_list, tried=tried, data=visible)

    async def _answer_query(self, call: ToolCall, tool: Tool, query: str, page: int) -> ToolResult:
        """Run a query of the model. Raise QueryRefused; ConfigError if the store does not take such queries."""
        agent = self._agent
        result = await self._store.ask(query, seconds=agent.query_seconds, rows=MOST_ROWS)
        rows = result.rows if result.ordered else canonical_rows(result.rows)
        sizes = accumulate(len(json.dumps(row, default=str)) for row in rows)
        readable = sum(1 for _ in takewhile(lambda size: size <= MOST_CHARACTERS, sizes))
        if rows and not readable:
            raise ToolMistake("too_large", "query_too_large")
        visible, notes = page_of(rows[:readable], page, agent, total=readable, complete=True)
        if result.total is None or result.total > readable:
            notes = [self._say("query_more_rows", shown=readable, rows=result.total), *notes]
        if not rows:
            notes = [tool.say("no_match")]
        return ToolResult(call, encode_result(visible, notes, agent.encoding), rows=readable, data=visible)

    async def _search(self, call: ToolCall, tool: Tool, text: str, checked: CheckedArguments, page: int) -> ToolResult:
        """Search for nodes. Raise ToolMistake for an empty or long text, and if the time ends first."""
        if not folded(text) or len(text) > LONGEST_TEXT:
            raise ToolMistake("bad_arguments", "search_text", tool=tool.name, most=LONGEST_TEXT, length=len(text))
        label = checked.identifiers.get("label")
        result = await self._store.search(text, label, self._agent.call_seconds)
        about = {**vars(result), "label": label, "seconds": self._agent.call_seconds, "most": MOST_SCANNED}
        if result.stopped and not result.rows:
            raise ToolMistake("timeout", "search_stopped", **about)
        visible, notes = page_of(result.rows, page, self._agent, total=len(result.rows), complete=True)
        if not result.rows:
            notes.append(tool.say("no_match", **self._switches, **{"label": label, str(tool.search): text}))
        if result.scanned or result.indexes:
            notes.append(self._say("search_scan" if result.scanned else "search_indexes", **about))
        return ToolResult(
            call, encode_result(visible, notes, self._agent.encoding), rows=len(result.rows), data=visible
        )

    async def _find(self, tool: Tool, checked: CheckedArguments, page: int) -> _Matches:
        """Find rows for the values and similar ones; if there are none, read them another way ("3.5" as 3.5).

        If nothing equals them and a property may hold lists, find rows for lists that contain them.
        """
        names: dict[str, str | int] = {**self._switches, **checked.identifiers}
        result = await self._matching(tool, names, checked, page)
        if result.matched or IN_LIST not in (tool.cypher or "") or not self._has_lists(tool, checked, if_unknown=True):
            return result
        return await self._matching(tool, {**names, IN_LIST: True}, checked, page)

    async def _matching(
        self, tool: Tool, names: Mapping[str, str | int], checked: CheckedArguments, page: int
    ) -> _Matches:
        rows: list[Row] = []
        total: int | None = 0
        used: Mapping[str, Value] | None = None
        for values, alike in _attempts(checked.values):
            if used is not None and not alike:
                break
            parameters = {name: as_parameter(value) for name, value in values.items()}
            if None in parameters.values():
                continue
            some, number = await self._query(tool.cypher, names, parameters, rows_needed(self._agent, page))
            if some or (await self._query(tool.matches, names, parameters, 1))[0]:
                rows += some
                total = None if total is None or number is None else total + number
                used = values if used is None else used
        return _Matches(rows, checked.values if used is None else used, used is not None, total, names)

    def _has_lists(self, tool: Tool, checked: CheckedArguments, *, if_unknown: bool) -> bool:
        """Return True if values of some property in this call are lists; `if_unknown`: where kinds are unknown."""
        for name in tool.with_role("property"):
            owner = checked.identifiers[tool.parameters[name].of or ""]
            entity = self._schema.node(owner) or self._schema.relationship(owner)
            properties = entity.properties if entity is not None else ()
            sought = checked.identifiers[name]
            prop = next((p for p in properties if p.name == sought), PropertyType(sought))
            samples = any(isinstance(value, tuple) for value in prop.samples)
            unknown = if_unknown and not prop.kinds and self._schema.lists
            if sought != KEY and (samples or "list" in prop.kinds or unknown):
                return True
        return False

    async def _query(
        self,
        template: str | None,
        identifiers: Mapping[str, str | int],
        parameters: Mapping[str, Any],
        most: int,
    ) -> tuple[list[Row], int | None]:
        """Return rows and their total number; with a timeout of the agent, at most `most` rows, in its time."""
        if template is None:
            return [], 0
        cypher, agent = self._store.render(template, identifiers), self._agent
        if agent.call_seconds is None:
            rows = await self._store.run(cypher, parameters)
            return rows, len(rows)
        return await self._store.first(cypher, parameters, rows=most, seconds=agent.call_seconds)

    async def _count(self, tool: Tool, result: _Matches) -> int | None:
        """Return the number of rows by the tool's counting query; None if it has none or takes too long."""
        parameters = {name: as_parameter(value) for name, value in result.values.items()}
        try:
            rows, _ = await self._query(tool.count, result.names, parameters, 1)
        except QueryLimitError:
            return None
        return int(rows[0]["rows"]) if rows else None

    def _notes(self, tool: Tool, checked: CheckedArguments, result: _Matches) -> list[str]:
        notes = []
        for name in _retried(checked, result):
            value, tried = checked.values[name], result.values[name]
            kinds = {"asked_kind": kind_of_value(value), "tried_kind": kind_of_value(tried)}
            notes.append(self._say("retried", asked=shown(value), tried=shown(tried), **kinds))
        if result.in_list:
            for value, name in zip(result.values.values(), tool.with_role("property"), strict=False):
                notes.append(self._say("in_list", value=shown(value), property=checked.identifiers[name]))
        if not result.rows:
            field = "empty" if result.matched else "no_match"
            values = {name: shown(value) for name, value in result.values.items()}
            names = {**result.names, IN_LIST: self._has_lists(tool, checked, if_unknown=False)}
            notes.append(tool.say(field, **names, **values))
        return notes

    def _has_pages(self, tool: Tool) -> bool:
        return self._agent.result_tokens is not None and tool.operation is None

    def _spec(self, tool: Tool) -> ToolSpec:
        properties: dict[str, Any] = {}
        for name, parameter in tool.parameters.items():
            form: dict[str, Any] = {"type": parameter.type if isinstance(parameter.type, str) else list(parameter.type)}
            if parameter.role == "value" and self._schema.lists:
                form = {"type": [*parameter.types, "array"], "items": {"type": list(parameter.types)}}
            properties[name] = {**form, "description": parameter.description}
            if parameter.role in ENUMS:
                properties[name]["enum"] = list(ENUMS[parameter.role])
        if self._has_pages(tool):
            description = self._say("page_parameter")
            properties["page"] = {"type": "integer", "minimum": 1, "description": description}
        parameters = {
            "type": "object",
            "properties": properties,
            "required": [name for name in tool.parameters if name in tool.required],
            "additionalProperties": False,
        }
        return ToolSpec(tool.name, self._description(tool), parameters)

    def _description(self, tool: Tool) -> str:
        limits = {} if tool.query is None else {QUERY_SECONDS: self._agent.query_seconds}
        text = tool.say("description", **self._switches, **limits).strip()
        if self._agent.tool_words == "short":
            return " ".join(text.partition("\n\n")[0].split())
        example = tool.example
        examples = example.several_labels if self._schema.several_labels and example.several_labels else example.rows
        rows = [{k: v for k, v in row.items() if self._switches.get(k, True)} for row in examples]
        call = self._say("example", arguments=json.dumps(example.arguments, ensure_ascii=False))
        result = example.text if example.text is not None else encode_result(rows, (), self._agent.encoding)
        return "\n".join([text, call, result])


def _retried(checked: CheckedArguments, result: _Matches) -> list[str]:
    """Return the arguments whose values were looked up another way."""
    return [name for name, value in checked.values.items() if result.values[name] is not value]


def _attempts(values: Mapping[str, Value]) -> Iterator[tuple[Mapping[str, Value], bool]]:
    """Yield values to try, and True if they look like the given ones."""
    yield values, True
    for readings, alike in ((shown_alike, True), (other_readings, False)):
        for name, value in values.items():
            yield from (({**values, name: other}, alike) for other in readings(value))

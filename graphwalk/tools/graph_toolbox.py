"""The tools over one property graph (docs/method.md, Tools)."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

from graphwalk.config.agent import MOST_ROWS, AgentConfig
from graphwalk.errors import QueryLimitError, ToolMistake
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import Row, Scalar
from graphwalk.models.chat import ToolCall, ToolSpec
from graphwalk.models.trajectory import ToolResult
from graphwalk.stores.base import GraphStore
from graphwalk.stores.search import LONGEST_TEXT, MOST_SCANNED, folded
from graphwalk.tools.arguments import (
    CheckedArguments,
    check_names,
    check_shape,
    close_names,
    is_storable,
    other_reading,
    parse_arguments,
)
from graphwalk.tools.encodings import encode_result
from graphwalk.tools.results import canonical_rows, page_of, rows_needed
from graphwalk.tools.schema_text import entity_text
from graphwalk.tools.tool import (
    ENUMS,
    QUERY_SECONDS,
    SWITCHES,
    Tool,
    ToolParameter,
    load_tools,
    shipped_declaration,
)

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
"""Of a result of a model's own query: a single value can be longer than anything that a model could read."""


_EXISTS = "MATCH (n:{{ label | label }}) WHERE {{ name | of('n', label) }} = $value RETURN 1 AS found LIMIT 1"


class GraphToolbox:
    """Tools over one graph. Calls change nothing, so that those of one turn may run side by side."""

    ordered = False
    unpaged: Sequence[str] = ()
    """Names of tools whose results always fit one page."""

    def __init__(
        self,
        store: GraphStore,
        schema: Schema,
        tools: Sequence[Tool] | None = None,
        agent: AgentConfig | None = None,
    ) -> None:
        """`tools`: default the four of the paper."""
        self._store = store
        self.schema = schema
        """The schema with which the names in calls are checked."""
        self._agent = agent or AgentConfig()
        self._seconds = math.inf if self._agent.call_seconds is None else self._agent.call_seconds
        self._text = self._agent.texts.message
        if tools is None:
            names = GRAPH_TOOLS if self._agent.schema_tokens is None else (*GRAPH_TOOLS, GET_SCHEMA)
            tools = load_tools(names)

        self._switches: dict[str, bool] = {name: getattr(self._agent, name) for name in SWITCHES}
        self._switches["several_labels"] = schema.several_labels
        self._switches["no_label"] = schema.node("") is not None
        self._switches["search"] = any(tool.operation == "search" for tool in tools)

        self._declared = {tool.name: tool for tool in tools}
        self.tools: Mapping[str, Tool] = {tool.name: self._offered(tool) for tool in tools}
        """The tools that are offered, by name."""
        self._own_declarations: dict[str, str | None] = {}
        """The kind of the rows of a tool, where it differs from the shipped tool of this name."""
        for name, tool in self.tools.items():
            if tool.declared != shipped_declaration(name):
                self._own_declarations[name] = tool.declared
        self.specs: Sequence[ToolSpec] = tuple(self._spec(tool) for tool in self.tools.values())

    @property
    def searches(self) -> bool:
        """Return True if one of the tools searches."""
        return self._switches["search"]

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call. A mistake is a text in the result; StoreError passes through."""
        started = perf_counter()
        try:
            result = await self._run(call)
        except ToolMistake as mistake:
            values = {**mistake.values, "get_schema": GET_SCHEMA in self.tools}
            result = ToolResult(call, self._text(mistake.message, **values), mistake.kind)
        except QueryLimitError as limit:
            if self._agent.call_seconds is None:
                raise
            text = self._text(f"call_{limit.kind}", seconds=self._agent.call_seconds)
            result = ToolResult(call, text, limit.kind)
        return replace(result, seconds=perf_counter() - started, shows=self._own_declarations.get(call.name))

    async def _run(self, call: ToolCall) -> ToolResult:
        """Return the result with the number of all rows (None of a note) and those of a page. Raise ToolMistake."""
        tool = self.tools.get(call.name)
        if tool is None:
            close = close_names(call.name, list(self.tools))
            raise ToolMistake("unknown_tool", "unknown_tool", name=call.name, names=list(self.tools), close=close)
        arguments = parse_arguments(tool, call.arguments)
        check_shape(tool, arguments)
        page = arguments.pop("page", 1)
        checked = check_names(tool, arguments, self.schema)
        text = "\n".join(str(arguments[name]) for name in tool.with_role("text"))
        match tool.operation:
            case "note":
                return ToolResult(call, text)
            case "describe":
                (name,) = tool.with_role("entity_name")
                kind = str(checked.identifiers[tool.parameters[name].of or ""])
                text = entity_text(self.schema, kind, str(checked.identifiers[name]), self._agent)
                return ToolResult(call, text, rows=1)
            case "search":
                return await self._search(call, tool, text, checked.identifiers.get("label"), page)
            case "query":
                return await self._answer_query(call, tool, text, page)
        return await self._look_up(call, tool, checked, page)

    async def _answer_query(self, call: ToolCall, tool: Tool, query: str, page: int) -> ToolResult:
        """Run a query of the model. Raise ToolMistake; ConfigError if the store does not take such queries."""
        agent = self._agent
        result = await self._store.ask(query, seconds=agent.query_seconds, rows=MOST_ROWS)
        rows = result.rows if result.ordered else canonical_rows(result.rows)
        visible, notes = page_of(rows, page, agent, total=len(rows))
        if result.total is None or result.total > len(rows):
            notes = [self._text("query_more_rows", shown=len(rows), rows=result.total), *notes]
        if not rows:
            notes = [tool.say("no_match")]
        content = encode_result(visible, notes, agent.encoding)
        if len(content) > MOST_CHARACTERS:
            raise ToolMistake("too_large", "query_too_large")
        return ToolResult(call, content, rows=len(rows), data=visible)

    async def _search(self, call: ToolCall, tool: Tool, text: str, label: str | None, page: int) -> ToolResult:
        """Search for nodes. Raise ToolMistake for an empty or long text, and if the time ends first."""
        if not folded(text) or len(text) > LONGEST_TEXT:
            raise ToolMistake("bad_arguments", "search_text", tool=tool.name, most=LONGEST_TEXT, length=len(text))
        result = await self._store.search(text, label, self._agent.call_seconds)
        about = {**vars(result), "label": label, "seconds": self._agent.call_seconds, "most": MOST_SCANNED}
        if result.stopped and not result.rows:
            raise ToolMistake("timeout", "search_stopped", **about)
        visible, notes = page_of(result.rows, page, self._agent, total=len(result.rows))
        if not result.rows:
            notes.append(tool.say("no_match", **self._switches, label=label, text=text))
        if result.scanned or result.indexes:
            notes.append(self._text("search_scan" if result.scanned else "search_indexes", **about))
        content = encode_result(visible, notes, self._agent.encoding)
        return ToolResult(call, content, rows=len(result.rows), data=visible)

    async def _look_up(self, call: ToolCall, tool: Tool, checked: CheckedArguments, page: int) -> ToolResult:
        """Run the query of a tool for the values of a call, if nothing has them for other readings ("3.5" as 3.5)."""
        agent = self._agent
        # Its query names parameters that are not offered here, too.
        parameters = self._declared[tool.name].parameters
        names: dict[str, str | None] = {}
        directions: dict[str, str | None] = {}
        for name, parameter in parameters.items():
            target = directions if parameter.role == "direction" else names
            target[name] = checked.identifiers.get(name)
        cypher = self._store.render(tool.cypher or "", {**self._switches, **names})

        reading = await self._first_reading(tool, cypher, checked, directions, page)
        values = reading.values
        rows = reading.rows

        tried: dict[str, Scalar] = {}
        notes = []
        for name, value in values.items():
            value_of_call = checked.values[name]
            if value is not value_of_call:
                kinds = {"asked_kind": _kind_of(value_of_call), "tried_kind": _kind_of(value)}
                notes.append(self._text("retried", asked=value_of_call, tried=value, **kinds))
                tried[name] = value
        if not rows:
            field = "empty" if reading.exists and tool.empty else "no_match"
            notes.append(tool.say(field, **{**self._switches, **names, **directions, **values}))

        # A column goes with the switch of its name: the model sees no direction where directions are hidden.
        for column in SWITCHES:
            if not self._switches[column]:
                for row in rows:
                    row.pop(column, None)

        is_whole = reading.total == len(rows)
        if is_whole and (agent.call_seconds is None or len(rows) <= MOST_ROWS):
            rows = canonical_rows(rows)
        else:
            # A part of the rows keeps the order of the database, which the next pages continue.
            rows = [canonical_rows([row])[0] for row in rows]

        visible, page_notes = page_of(rows, page, agent, total=reading.total)
        content = encode_result(visible, notes + page_notes, agent.encoding)
        number = reading.total
        if number is None:  # not counted, and more than these
            number = len(rows) + 1
        return ToolResult(call, content, rows=number, tried=tried or None, data=visible)

    async def _first_reading(
        self, tool: Tool, cypher: str, checked: CheckedArguments, directions: Mapping[str, str | None], page: int
    ) -> "_Reading":
        """Return the first reading of the values that some node has, else the values of the call, without rows."""
        rows: list[Row] = []
        total: int | None = 0
        for values in _readings(checked.values):
            # No node has a value that no database can store, as 2**70. Another reading may be there.
            if not all(is_storable(value) for value in values.values()):
                continue
            rows, total = await self._store.first(
                cypher, {**values, **directions}, rows=rows_needed(self._agent, page), seconds=self._seconds
            )
            # A node without relationships has the value, too: it is not read in another way.
            if rows or await self._exists(tool, checked.identifiers, values):
                return _Reading(values, rows, total, exists=True)
        return _Reading(checked.values, rows, total, exists=False)

    async def _exists(self, tool: Tool, identifiers: Mapping[str, str | None], values: Mapping[str, Scalar]) -> bool:
        """Return True if a node has the property value of a call; only asked for a tool with a text for this case."""
        if not tool.empty:
            return False
        (name,) = tool.with_role("property")
        (value,) = tool.with_role("value")
        label = identifiers[tool.parameters[name].of or ""]
        cypher = self._store.render(_EXISTS, {"label": label, "name": identifiers[name]})
        rows, _ = await self._store.first(cypher, {"value": values[value]}, rows=1, seconds=self._seconds)
        return bool(rows)

    def _offered(self, tool: Tool) -> Tool:
        """Return the tool with the parameters that it has in this toolbox, `page` among them."""
        parameters: dict[str, ToolParameter] = {}
        for name, parameter in tool.parameters.items():
            if all(self._switches[switch] for switch in parameter.where):
                parameters[name] = parameter

        has_rows = tool.operation in (None, "search", "query") and tool.name not in self.unpaged
        if has_rows and self._agent.result_tokens is not None:
            description = self._text("page_parameter")
            parameters["page"] = ToolParameter(type=("integer",), role="page", optional=True, description=description)
        return tool.model_copy(update={"parameters": parameters})

    def _spec(self, tool: Tool) -> ToolSpec:
        properties: dict[str, Any] = {}
        for name, parameter in tool.parameters.items():
            # {"type": "string", "description": "Name of the label.", "enum": […]}
            types = list(parameter.type)
            form: dict[str, Any] = {"type": types if len(types) > 1 else types[0]}
            if parameter.role == "page":
                form["minimum"] = 1
            if parameter.description:
                form["description"] = parameter.description
            if parameter.role in ENUMS:
                form["enum"] = list(ENUMS[parameter.role])
            properties[name] = form

        required = [name for name, parameter in tool.parameters.items() if not parameter.optional]
        schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        return ToolSpec(tool.name, self._description(tool), schema)

    def _description(self, tool: Tool) -> str:
        values: dict[str, Any] = dict(self._switches)
        if tool.operation == "query":
            values[QUERY_SECONDS] = self._agent.query_seconds
        text = tool.say("description", **values).strip()
        if self._agent.tool_words == "short":
            first_paragraph = text.partition("\n\n")[0]
            return " ".join(first_paragraph.split())
        example = tool.example
        if example is None:
            return text

        call = self._text("example", arguments=json.dumps(example.arguments, ensure_ascii=False))
        if example.text is not None:
            return f"{text}\n{call}\n{example.text}"

        examples = example.rows
        if self.schema.several_labels and example.several_labels:
            examples = example.several_labels
        rows = []
        for row in examples:
            rows.append({name: value for name, value in row.items() if self._switches.get(name, True)})
        return f"{text}\n{call}\n{encode_result(rows, (), self._agent.encoding)}"


class _Reading(NamedTuple):
    """The values that a query was run with, and what it returned."""

    values: Mapping[str, Scalar]
    rows: list[Row]
    total: int | None
    exists: bool
    """Some node has the values, although there may be no rows for them."""


def _readings(values: Mapping[str, Scalar]) -> Iterator[Mapping[str, Scalar]]:
    """Yield the values of a call, then with one of them read as another type."""
    yield values
    for name, value in values.items():
        other = other_reading(value)
        if other is not None:
            yield {**values, name: other}


def _kind_of(value: Scalar) -> str:
    """Return the word for a value that was read as another type."""
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"

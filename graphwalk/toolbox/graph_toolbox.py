"""The tools over one property graph (docs/method.md, Tools)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.jinja import render_text
from graphwalk.stores.store import GraphStore
from graphwalk.toolbox.arguments import Checked, check_names, check_shape, close_names, parse_arguments
from graphwalk.toolbox.encodings import encode_result
from graphwalk.toolbox.messages import ToolMistake
from graphwalk.toolbox.operations import OPERATIONS
from graphwalk.toolbox.readings import as_parameter, kind_of_value, other_readings, shown_alike
from graphwalk.toolbox.rows import canonical_rows
from graphwalk.toolbox.tool import ENTITY_TYPES, LIMITS, SWITCHES, Parameter, Tool, load_tools
from graphwalk.toolbox.written_queries import answer_query
from graphwalk.types.chat import ToolCall, ToolSpec
from graphwalk.types.episode import ToolResult
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row, Value, shown

GRAPH_TOOLS = ("get_node_by_property", "get_all_nearest_neighbors", "get_unique_property_values", "think")
"""The four tools of the paper."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What a query found. `values` are those that it was found with; `matched` that something has them."""

    rows: list[Row]
    values: Mapping[str, Value]
    matched: bool


class GraphToolbox:
    """Tools over one graph. Calls change nothing, so that those of one turn may run side by side."""

    ordered = False

    def __init__(
        self,
        store: GraphStore,
        schema: Schema,
        tools: Sequence[Tool] | None = None,
        agent: AgentConfig | None = None,
    ) -> None:
        """`tools`: default the four of the paper. Where `agent` does not think, tools for notes are left out."""
        self._store = store
        self._schema = schema
        self._agent = agent or AgentConfig()
        self._say = self._agent.texts.message
        offered = load_tools(GRAPH_TOOLS) if tools is None else tools
        self._tools = {tool.name: tool for tool in offered if self._agent.think or not tool.note_taking}
        self._switches: dict[str, bool] = {name: getattr(self._agent, name) for name in SWITCHES}
        self._switches |= {"several_labels": schema.several_labels, "no_label": schema.node("") is not None}
        self.specs: Sequence[ToolSpec] = tuple(self._spec(tool) for tool in self._tools.values())

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call. A mistake is a text in the result; StoreError passes through."""
        started = perf_counter()
        rows: int | None = None
        error: str | None = None
        try:
            content, rows = await self._run(call)
        except ToolMistake as mistake:
            content, error = self._say(mistake.message, **mistake.values), mistake.kind
        return ToolResult(call, content, error, rows, perf_counter() - started)

    async def _run(self, call: ToolCall) -> tuple[str, int | None]:
        """Text for the model, and the number of rows found: of an operation 1 or 0, of a note None."""
        tool = self._tools.get(call.name)
        if tool is None:
            close = close_names(call.name, list(self._tools))
            raise ToolMistake("unknown_tool", "unknown_tool", name=call.name, names=list(self._tools), close=close)
        arguments = parse_arguments(tool, call.arguments)
        check_shape(tool, arguments, self._optional(tool), lists=self._schema.lists)
        page = arguments.pop("page", 1)
        if tool.operation is not None:
            text = OPERATIONS[tool.operation](arguments)
            return text, None if tool.note_taking else int(bool(text))
        if tool.query is not None:
            return await self._answer_query(tool, arguments[tool.query], page)
        checked = check_names(tool, arguments, self._schema)
        found = await self._find(tool, checked)
        rows = canonical_rows(found.rows)
        shown, notes = self._page(rows, page)
        notes = [*self._notes(tool, checked, found), *notes]
        return encode_result(shown, notes, self._agent.encoding), len(rows)

    async def _answer_query(self, tool: Tool, query: str, page: int) -> tuple[str, int]:
        found = await answer_query(self._store, query, self._agent)
        shown, notes = self._page(found.rows, page)
        if found.more:
            notes = [self._say("query_more_rows", shown=len(found.rows), rows=found.total), *notes]
        if not found.rows:
            notes = [render_text(tool.no_match)]
        return encode_result(shown, notes, self._agent.encoding), len(found.rows)

    async def _find(self, tool: Tool, checked: Checked) -> _Found:
        """Rows for the values and others that look alike; where nothing has them, read another way ("3.5" as 3.5)."""
        identifiers: dict[str, str | int] = {**self._switches, **checked.identifiers}
        rows: list[Row] = []
        used: Mapping[str, Value] | None = None
        for values, alike in _attempts(checked.values):
            if used is not None and not alike:
                break
            parameters = {name: as_parameter(value) for name, value in values.items()}
            if None in parameters.values():
                continue
            found = await self._query(tool.cypher, identifiers, parameters)
            if found or await self._query(tool.matches, identifiers, parameters):
                rows += found
                used = values if used is None else used
        return _Found(rows, checked.values if used is None else used, used is not None)

    async def _query(
        self, template: str | None, identifiers: Mapping[str, str | int], parameters: Mapping[str, Any]
    ) -> list[Row]:
        return [] if template is None else await self._store.run(self._store.render(template, identifiers), parameters)

    def _notes(self, tool: Tool, checked: Checked, found: _Found) -> list[str]:
        notes = []
        for name, asked in checked.values.items():
            if (tried := found.values[name]) is not asked:
                kinds = {"asked_kind": kind_of_value(asked), "tried_kind": kind_of_value(tried)}
                notes.append(self._say("retried", asked=shown(asked), tried=shown(tried), **kinds))
        if not found.rows:
            text = tool.empty if found.matched else tool.no_match
            values = {name: shown(value) for name, value in found.values.items()}
            notes.append(render_text(text, **self._switches, **checked.identifiers, **values))
        return notes

    def _page(self, rows: list[Row], page: int) -> tuple[list[Row], list[str]]:
        """The rows to show, with a note where they are not all. ToolMistake "bad_arguments" on a page out of range."""
        budget = self._agent.result_budget or max(len(rows), 1)
        pages = max(1, -(-len(rows) // budget))
        if not 1 <= page <= pages:
            raise ToolMistake("bad_arguments", "bad_page", page=page, rows=len(rows), pages=pages)
        if pages == 1:
            return rows, []
        first, last = (page - 1) * budget, min(page * budget, len(rows))
        note = self._say("page", page=page, pages=pages, first=first + 1, last=last, rows=len(rows))
        return rows[first:last], [note]

    def _optional(self, tool: Tool) -> tuple[str, ...]:
        return ("page",) if self._agent.result_budget is not None and tool.operation is None else ()

    def _spec(self, tool: Tool) -> ToolSpec:
        properties: dict[str, Any] = {}
        for name, parameter in tool.parameters.items():
            properties[name] = {**self._type(parameter), "description": parameter.description}
            if parameter.role == "entity_type":
                properties[name]["enum"] = list(ENTITY_TYPES)
        if self._optional(tool):
            description = self._say("page_parameter", budget=self._agent.result_budget)
            properties["page"] = {"type": "integer", "minimum": 1, "description": description}
        parameters = {
            "type": "object",
            "properties": properties,
            "required": list(tool.parameters),
            "additionalProperties": False,
        }
        return ToolSpec(tool.name, self._description(tool), parameters)

    def _type(self, parameter: Parameter) -> dict[str, Any]:
        """JSON Schema of an argument; a value can be a list where the graph has such values."""
        if parameter.role == "value" and self._schema.lists:
            return {"type": [*parameter.types, "array"], "items": {"type": list(parameter.types)}}
        return {"type": parameter.type if isinstance(parameter.type, str) else list(parameter.type)}

    def _description(self, tool: Tool) -> str:
        example = tool.example
        examples = example.several_labels if self._schema.several_labels and example.several_labels else example.rows
        rows = [{k: v for k, v in row.items() if self._switches.get(k, True)} for row in examples]
        limits = {} if tool.query is None else {name: getattr(self._agent, name) for name in LIMITS}
        call = self._say("example", arguments=json.dumps(example.arguments, ensure_ascii=False))
        result = example.text if example.text is not None else encode_result(rows, (), self._agent.encoding)
        return "\n".join([render_text(tool.description, **self._switches, **limits).strip(), call, result])


def _attempts(values: Mapping[str, Value]) -> Iterator[tuple[Mapping[str, Value], bool]]:
    """Values to try, and whether they look like those that were given."""
    yield values, True
    for readings, alike in ((shown_alike, True), (other_readings, False)):
        for name, value in values.items():
            yield from (({**values, name: other}, alike) for other in readings(value))

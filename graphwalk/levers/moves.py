"""Calls and answers that name only what was shown, and no call twice (`agent.moves: seen`).

A walk is grounded by construction then: graph-constrained decoding (arXiv 2410.13080), for tools.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.evaluation.values import parse_object
from graphwalk.levers.names import with_values
from graphwalk.suites.task import Prompt, Task
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.observed import KEY, is_key, shown_values
from graphwalk.tools.observed_values import Evidence, call_signature
from graphwalk.tools.tool import Tool
from graphwalk.tools.toolbox import Toolbox, ToolboxWrapper
from graphwalk.types.chat import ToolCall, ToolSpec
from graphwalk.types.encodings import split_notes
from graphwalk.types.episode import ToolResult
from graphwalk.types.schema import NodeType, RelationshipType
from graphwalk.types.values import shown

MOST_LISTED = 200
"""Values that a JSON schema lists; of more it lists none, and calls with others are refused all the same."""
_NAMED = 5
"""Keys that a refusal names."""


class SeenMoves(ToolboxWrapper):
    """The tools of one episode, whose calls may only name what the schema, the question or a result has shown."""

    def __init__(self, inner: Toolbox, graph: GraphToolbox, prompt: Prompt, task: Task, agent: AgentConfig) -> None:
        super().__init__(inner)
        self._graph, self._say = graph, agent.texts.message
        self._evidence = [Evidence(message.content or "" for message in prompt.messages)]
        self._values: dict[str, Any] = {}
        """Values by their JSON, which tells 1 from true."""
        self._keys: dict[str, None] = {}
        """Keys that results have shown."""
        self._made: dict[tuple[str, str], int] = {}
        """Call → turn."""
        self._excluded = agent.tool_protocol == "json"
        """A call that was made is excluded by the tools' JSON schema, which only this protocol can hold a model to."""
        self._tried: set[Any] = set()
        # Values in a question of free words are not known, so that its calls cannot be listed.
        self._listable = bool(task.parameters) and not graph.schema.lists
        entities: list[NodeType | RelationshipType] = [*graph.schema.nodes, *graph.schema.relationships]
        names = {one.name for entity in entities for one in entity.properties}
        names |= {node.label for node in graph.schema.nodes} | {one.type for one in graph.schema.relationships}
        self._add(value for value in task.parameters.values() if value not in names)
        self._add(value for entity in entities for one in entity.properties for value in map(shown, one.samples))

    @property
    def ordered(self) -> bool:
        return True  # a call may name what an earlier one of its turn has shown

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """The tools, without those that need a value as long as there is none, and without the calls that were made."""
        if not self._listable or self.listed_once or len(self._values) > MOST_LISTED:
            return self.inner.specs
        specs = []
        for spec in self.inner.specs:
            parameters = self._graph.tools[spec.name].parameters
            types = {name: one.types for name, one in parameters.items() if one.role == "value"}
            moves = {name: [value for value in self._values.values() if _fits(value, types[name])] for name in types}
            specs += [with_values(spec, moves)] if all(moves.values()) else []
        return [rest for spec in specs if (rest := self._not_made(spec))] if self._excluded else specs

    def _not_made(self, spec: ToolSpec) -> ToolSpec | None:
        """Return a tool without the calls that were made, if their arguments are listed; None if that leaves none."""
        calls = [parse_object(arguments) for name, arguments in self._made if name == spec.name]
        if not calls:
            return spec
        forms: Sequence[Mapping[str, Any]] = spec.parameters.get("anyOf", (spec.parameters,))
        for call in calls:
            forms = [rest for form in forms for rest in _other_calls(form, call)]
        return replace(spec, parameters={**spec.parameters, "anyOf": forms}) if forms else None

    async def call(self, call: ToolCall) -> ToolResult:
        tool = self._graph.tools.get(call.name)
        if tool is None or tool.note_taking:
            return await self.inner.call(call)
        values = [value for _, value in _looked_up(tool, parse_object(call.arguments))]
        if (unseen := next((value for value in values if not self._is_shown(value)), None)) is not None:
            return self._refused(call, "unseen_value", value=unseen)
        signature = call_signature(call)
        if signature in self._made:
            return self._refused(call, "repeated_call", turn=self._made[signature])
        result = await self.inner.call(call)
        if result.error is None:
            self._learn(result, tool)
            if parse_object(call.arguments):  # a call without arguments is about the walk so far
                self._made[signature] = self.turn
        return result

    def narrowed(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = super().narrowed(answer)
        if not 0 < len(self._keys) <= MOST_LISTED:
            return answer
        items, keys = answer["items"], {"enum": list(self._keys)}
        if "properties" in items:
            fields = {name: {**one, **keys} if is_key(name) else one for name, one in items["properties"].items()}
            return {**answer, "items": {**items, "properties": fields}}
        return {**answer, "items": {**items, **keys}} if items["type"] == "string" else answer

    def _refused(self, call: ToolCall, message: str, **values: Any) -> ToolResult:
        untried = [key for key in self._keys if key not in self._tried][:_NAMED]
        lists = [name for name, tool in self._graph.tools.items() if tool.shows == "values"]
        return ToolResult(call, self._say(message, **values, untried=untried, lists=lists), message)

    def _is_shown(self, value: Any) -> bool:
        if isinstance(value, list):
            return all(map(self._is_shown, value))
        return any(evidence.holds(value) for evidence in self._evidence)

    def _learn(self, result: ToolResult, tool: Tool) -> None:
        # Notes of a search repeat words of the model; the other tools were called with values that were shown.
        self._evidence.append(Evidence([result.content if tool.search is None else split_notes(result.content)[1]]))
        looked_up = list(_looked_up(tool, parse_object(result.call.arguments)))
        self._tried.update(value for _, value in looked_up if not isinstance(value, list))
        pairs = [*shown_values(result), *(looked_up if result.rows else ())]
        self._add(value for _, value in pairs)
        self._keys |= dict.fromkeys(value for name, value in pairs if is_key(name) and isinstance(value, str))

    def _add(self, values: Iterable[Any]) -> None:
        self._values |= {json.dumps(value): value for value in values if not isinstance(value, list)}


def _other_calls(form: Mapping[str, Any], call: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the calls of a form but one: those with another last argument, those with the same and another before, …"""
    properties = form["properties"]
    listed = {name: {json.dumps(value): value for value in one.get("enum", ())} for name, one in properties.items()}
    if call.keys() != properties.keys() or any(json.dumps(call[name]) not in listed[name] for name in call):
        yield form
        return
    same: dict[str, Any] = {}
    for name, one in reversed(properties.items()):
        if others := [value for text, value in listed[name].items() if text != json.dumps(call[name])]:
            yield {**form, "properties": {**properties, name: {**one, "enum": others}, **same}}
        same[name] = {**one, "enum": [call[name]]}


def _looked_up(tool: Tool, arguments: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the values in a call with the names of their properties; a tool without properties takes keys."""
    properties = [arguments.get(name) for name in tool.with_role("property")] or [KEY]
    values = [arguments[name] for name in tool.with_role("value") if name in arguments]
    return [(str(properties[0]), value) for value in values if isinstance(value, str | int | float | list)]


def _fits(value: Any, types: Sequence[str]) -> bool:
    if isinstance(value, str | bool):
        return ("string" if isinstance(value, str) else "boolean") in types
    return "number" in types or ("integer" in types and isinstance(value, int))

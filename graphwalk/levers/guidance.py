"""Tool results that refuse or find nothing also name the next step (`agent.guidance`).

What is said comes from the schema, from earlier results, and from a few look-ups of a key, never from a scan.
"""

import json
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import QueryLimitError
from graphwalk.evaluation.values import parse_object
from graphwalk.stores.base import GraphStore
from graphwalk.tools.arguments import close_names
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.observed import KEY, is_key, shown_values
from graphwalk.tools.observed_values import call_signature
from graphwalk.tools.tool import Tool
from graphwalk.tools.toolbox import Toolbox, ToolboxWrapper
from graphwalk.types.chat import ToolCall
from graphwalk.types.encodings import NOTE, split_notes
from graphwalk.types.episode import ToolResult
from graphwalk.types.values import shown

MOST_LABELS = 10
"""Labels under which a key is looked up."""
_NAMED = 5
"""Keys that a message names."""
_HAS_KEY = 'MATCH (n:{{ label | label }}) WHERE {{ "key" | of("n", label) }} = $value RETURN 1 AS found LIMIT 1'
_TO_CORRECT = ("unknown_tool", "unknown_name", "bad_json", "bad_arguments")


class Guidance(ToolboxWrapper):
    """Tools that say more where they refuse or find nothing. `remembers`: these are the tools of one episode.

    Only turns before the present one are remembered: calls of one turn may run side by side.
    """

    def __init__(
        self, inner: Toolbox, graph: GraphToolbox, store: GraphStore, agent: AgentConfig, *, remembers: bool = True
    ) -> None:
        super().__init__(inner)
        self._graph, self._store, self._agent, self._say = graph, store, agent, agent.texts.message
        self._remembers = remembers
        self._recent: dict[int, tuple[int, ToolResult]] = {}
        """Number of the call → turn and result, until the turn is over."""
        self._earlier: list[ToolResult] = []
        """Results of the turns before the present one, in the order of the calls."""
        self._first_turn: dict[tuple[str, tuple[str, str]], int] = {}
        """Content and call of each of them → the first turn that had it."""
        self._shown_keys: dict[Any, None] = {}
        self._tried: set[str] = set()
        self._calls = 0

    async def call(self, call: ToolCall) -> ToolResult:
        number = self._calls = self._calls + 1  # in the order of the calls, not in that of their ends
        result = await self.inner.call(call)
        if result.is_note:
            return result
        steps = [step async for step in self._next_steps(result)]
        if self._remembers:
            self._recent[number] = (self.turn, result)
        if not steps:
            return result
        if result.error is not None:
            return replace(result, content=" ".join([result.content, *steps]))
        notes, rest = split_notes(result.content)
        content = "\n".join([*(NOTE + " ".join(note.split("\n")) for note in (*notes, *steps)), rest])
        return replace(result, content=content.removesuffix("\n"))

    async def _next_steps(self, result: ToolResult) -> AsyncIterator[str]:
        for number in sorted(number for number, (turn, _) in self._recent.items() if turn < self.turn):
            earlier_turn, one = self._recent.pop(number)
            self._earlier.append(one)
            self._first_turn.setdefault((one.content, call_signature(one.call)), earlier_turn)
            self._shown_keys |= {key: None for name, key in shown_values(one) if is_key(name)}
            self._tried |= _values(one)
        tool = self._graph.tools.get(result.call.name)
        if (turn := self._first_turn.get((result.content, call_signature(result.call)))) is not None:
            yield self._say("guidance_repeated", turn=turn)
        elif result.error in _TO_CORRECT:
            yield self._correction(tool, result)
        elif not result.rows and tool is not None:
            async for step in self._where_nothing_was_found(tool, parse_object(result.call.arguments), result):
                yield step
        if (turn is not None or not result.rows) and (untried := self._untried(result)):
            yield self._say("guidance_untried", keys=untried)

    def _correction(self, tool: Tool | None, result: ToolResult) -> str:
        """Say what a wrong name is, and how the call is written."""
        schema, arguments = self._graph.schema, parse_object(result.call.arguments)
        names = {arguments.get(name) for name in (tool.resolution if tool else ())}
        wrong = {name for name in names if isinstance(name, str) and f'"{name}"' in result.content}
        owners = {name: self._owners_of(name) for name in sorted(wrong)}
        values = {
            "labels": [node.label for node in schema.nodes if node.label in wrong],
            "types": [one.type for one in schema.relationships if one.type in wrong],
            "owners": {name: entities for name, entities in owners.items() if 0 < len(entities) <= MOST_LABELS},
            "example": tool and result.error != "unknown_name" and json.dumps(self._example(tool), ensure_ascii=False),
        }
        return self._say("guidance_correct", **values, tool=result.call.name)

    def _owners_of(self, name: str) -> list[str]:
        """Return the labels and types with a property of this name."""
        nodes, relationships = self._graph.schema.nodes, self._graph.schema.relationships
        entities = [(node.label, node.properties) for node in nodes]
        entities += [(one.type, one.properties) for one in relationships]
        return [entity for entity, properties in entities if name in (one.name for one in properties)]

    def _example(self, tool: Tool) -> dict[str, Any]:
        """Return the arguments of the tool's example with names of this graph."""
        schema = self._graph.schema
        label = next((node.label for node in schema.nodes), "")
        names = {"label": label, "entity_name": label, "entity_type": "node", "property": KEY, "value": "..."}
        names |= {"relationship_type": next((one.type for one in schema.relationships), "")}
        return {
            name: names.get(parameter.role, tool.example.arguments.get(name))
            for name, parameter in tool.parameters.items()
            if not parameter.optional
        }

    async def _where_nothing_was_found(
        self, tool: Tool, arguments: Mapping[str, Any], result: ToolResult
    ) -> AsyncIterator[str]:
        lists = next((one.name for one in self._graph.tools.values() if one.shows == "values"), None)
        label, name, value = (
            next((arguments.get(one) for one in tool.with_role(role)), None) for role in ("label", "property", "value")
        )
        if tool.query is not None:
            yield self._say("guidance_query", error=result.error)
        elif tool.search is not None:
            yield self._say("guidance_search", lists=lists)
        elif tool.shows == "values":
            entity = next((str(arguments.get(one)) for one in tool.with_role("entity_name")), "")
            yield self._say("guidance_no_values", entity=entity, properties=self._properties_of(entity))
        elif name == KEY and isinstance(label, str) and isinstance(value, str):
            labels = await self._labels_with(value, label)
            filters = [one for one in tool.with_role("relationship_type", "direction") if arguments.get(one)]
            yield self._say("guidance_key", key=value, label=label, labels=labels, filters=filters, lists=lists)
        elif isinstance(label, str) and isinstance(name, str):
            near = [] if self._graph.searches else self._near(label, name, str(value))
            yield self._say("guidance_value", label=label, property=name, near=near, lists=lists)

    def _properties_of(self, entity: str) -> list[str]:
        owner = self._graph.schema.node(entity) or self._graph.schema.relationship(entity)
        return [one.name for one in owner.properties] if owner else []

    async def _labels_with(self, key: str, label: str) -> list[str]:
        """Return the labels of the node with this key: the one asked about, and a few others, are looked at."""
        others = [node.label for node in self._graph.schema.nodes if node.label != label]
        labels, seconds = [], self._agent.call_seconds or math.inf
        with suppress(QueryLimitError):
            for one in [label, *others[:MOST_LABELS]]:
                query = self._store.render(_HAS_KEY, {"label": one})
                if (await self._store.first(query, {"value": key}, rows=1, seconds=seconds))[0]:
                    labels.append(one)
        return labels

    def _near(self, label: str, name: str, value: str) -> list[str]:
        """Return values like this one that the schema or earlier results show."""
        node = self._graph.schema.node(label)
        samples = [shown(s) for one in (node.properties if node else ()) if one.name == name for s in one.samples]
        seen = (held for one in self._earlier for column, held in shown_values(one) if column == name)
        return close_names(value, list(dict.fromkeys(map(str, [*samples, *seen]))))

    def _untried(self, result: ToolResult) -> list[str]:
        """Return keys that earlier results show and no call has named."""
        tried = self._tried | _values(result)
        return [str(key) for key in self._shown_keys if str(key) not in tried][:_NAMED]


def _values(result: ToolResult) -> set[str]:
    return {str(value) for value in parse_object(result.call.arguments).values()}

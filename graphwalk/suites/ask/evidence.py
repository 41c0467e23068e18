"""What an answer rests on: the steps of an episode and the rows behind its values."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.evaluation.evidence import Evidence
from graphwalk.evaluation.values import parse_json
from graphwalk.models.text_protocol import find_calls
from graphwalk.suites.ask.task import cited_keys
from graphwalk.tools.observed import KEY, ObservedGraph, ObservedNode, ObservedRelationship
from graphwalk.types.episode import ToolResult, Trajectory


@dataclass(frozen=True)
class Step:
    """One tool call. `arguments` is what the model wrote, read as JSON where it is JSON.

    `rows`: those found, None for notes and mistakes. `error`: the class of mistake. `thought`: what the model wrote
    beside the call (without the call, where that is written as text), or noted down with it.
    """

    call: str
    arguments: Any
    rows: int | None
    error: str | None
    seconds: float
    result: str
    thought: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {
            "call": self.call,
            "arguments": self.arguments,
            "rows": self.rows,
            "error": self.error,
            "seconds": round(self.seconds, 6),
            "thought": self.thought,
        }


def step_of(result: ToolResult, beside: str | None = None) -> Step:
    arguments = parse_json(result.call.arguments)
    noted = result.content if result.is_note else None
    known = {result.call.name: arguments if isinstance(arguments, dict) else ()}
    written = find_calls(beside or "", known, lenient=True).rest.strip()
    return Step(
        call=result.call.name,
        arguments=result.call.arguments if arguments is None else arguments,
        rows=result.rows,
        error=result.error,
        seconds=result.seconds,
        result=result.content,
        thought=written or noted,
    )


def steps_of(trajectory: Trajectory) -> list[Step]:
    """All calls in order; text beside several calls goes with the first of them."""
    return [
        step_of(result, turn.message.content if number == 0 else None)
        for turn in trajectory.turns
        for number, result in enumerate(turn.results)
    ]


MOST_NODES = 40
"""More than this nobody takes in at a glance."""
_LONGEST_WAY = 4
_MOST_NAMESAKES = 5
"""A value that more nodes share does not name any of them."""
_SHORTEST_NAME = 2


@dataclass(frozen=True)
class AnswerEvidence:
    """Nodes and relationships, all of which tool results have shown; `more` nodes are left out."""

    nodes: tuple[ObservedNode, ...] = ()
    relationships: tuple[ObservedRelationship, ...] = ()
    more: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "nodes": [{KEY: n.key, "labels": list(n.labels), "properties": n.properties} for n in self.nodes],
            "relationships": [
                {"type": r.type, "source": r.source, "target": r.target, "properties": dict(r.properties)}
                for r in self.relationships
            ],
            "more_nodes": self.more,
        }


def evidence_of(question: str, answer: str, seen: ObservedGraph) -> AnswerEvidence:
    """The nodes that the answer cites or names, those of the question, and the shortest ways that were seen between.

    Where the answer names no node (a number, a date), it rests on the nodes of the question.
    """
    asked_about, answered = named_in(question, seen), _answered(answer, seen)
    chosen = dict.fromkeys(answered or asked_about)
    ways = _Ways(seen)
    for key in answered:
        chosen |= dict.fromkeys(ways.to_nearest(key, set(asked_about)))
    said = Evidence([answer])
    for link in seen.relationships.values():
        touches = link.source in chosen or link.target in chosen
        if touches and any(_tells(value) and said.holds(value) for value in link.properties.values()):
            chosen |= {link.source: None, link.target: None}
    shown = list(chosen)[:MOST_NODES]
    among = [link for link in seen.relationships.values() if link.source in shown and link.target in shown]
    return AnswerEvidence(tuple(seen.nodes[key] for key in shown), tuple(among), len(chosen) - len(shown))


def _answered(answer: str, seen: ObservedGraph) -> list[str]:
    """The nodes that are cited by key; where there are none, those that are named."""
    return [key for key in cited_keys(answer) if key in seen.nodes] or named_in(answer, seen)


def named_in(text: str, seen: ObservedGraph) -> list[str]:
    """Nodes whose key or whose name stands in a text. A number may be anything, and names nothing."""
    said = Evidence([text, text.casefold()])
    sharing = Counter(value for node in seen.nodes.values() for value in set(_names(node)))
    return [
        node.key
        for node in seen.nodes.values()
        if any(said.holds(name) for name in _names(node) if sharing[name] <= _MOST_NAMESAKES)
    ]


def _names(node: ObservedNode) -> Iterator[str]:
    for value in (node.key, *node.properties.values()):
        if isinstance(value, str) and len(value) >= _SHORTEST_NAME and not value.strip("+-.").isdigit():
            yield value
            yield value.casefold()


def _tells(value: Any) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool) and value != ""


class _Ways:
    """Shortest ways over what was seen, in any direction."""

    def __init__(self, seen: ObservedGraph) -> None:
        neighbors: dict[str, dict[str, None]] = {}
        for link in seen.relationships.values():
            neighbors.setdefault(link.source, {})[link.target] = None
            neighbors.setdefault(link.target, {})[link.source] = None
        self._neighbors: Mapping[str, Mapping[str, None]] = neighbors

    def to_nearest(self, start: str, goals: set[str]) -> Sequence[str]:
        """The nodes from the nearest of the goals to `start`; none where no goal is near."""
        ways: dict[str, tuple[str, ...]] = {start: (start,)}
        waiting = deque([start])
        while waiting:
            key = waiting.popleft()
            if key in goals:
                return ways[key]
            if len(ways[key]) > _LONGEST_WAY:
                continue
            for other in self._neighbors.get(key, ()):
                if other not in ways:
                    ways[other] = (other, *ways[key])
                    waiting.append(other)
        return ()

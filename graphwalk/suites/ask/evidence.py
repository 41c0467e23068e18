"""Evidence of an answer: tool calls, observed nodes and relationships, and Cypher that shows them in Neo4j."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphwalk.errors import ConfigError
from graphwalk.evaluation.evidence import Evidence
from graphwalk.evaluation.values import parse_json
from graphwalk.graphs.formats.cypher import literal
from graphwalk.models.text_protocol import find_calls
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher import render_cypher
from graphwalk.suites.ask.task import cited_keys
from graphwalk.suites.walked import paths_to_nearest
from graphwalk.tools.observed import KEY, ObservedGraph, ObservedNode, ObservedRelationship
from graphwalk.types.episode import ToolResult, Trajectory


@dataclass(frozen=True)
class Step:
    """One tool call.

    `arguments` is parsed if it is JSON, else text. `rows` is the number of rows; None for notes and mistakes.
    `error` is the class of mistake. `thought` is the text next to the call, or the content of a note.
    """

    call: str
    arguments: Any
    rows: int | None
    error: str | None
    seconds: float
    result: str
    thought: str | None = None

    def as_dict(self) -> dict[str, Any]:
        fields = {name: value for name, value in vars(self).items() if name != "result"}
        return fields | {"seconds": round(self.seconds, 6)}


def step_of(result: ToolResult, text: str | None = None) -> Step:
    """Return the step of a tool result; `text` is the text of the message with the call."""
    arguments = parse_json(result.call.arguments)
    noted = result.content if result.is_note else None
    known = {result.call.name: arguments if isinstance(arguments, dict) else ()}
    written = find_calls(text or "", known, lenient=True).rest.strip()
    shown = result.call.arguments if arguments is None else arguments
    thought = written or noted
    return Step(result.call.name, shown, result.rows, result.error, result.seconds, result.content, thought)


def steps_of(trajectory: Trajectory) -> list[Step]:
    """Return all calls in order; the text of a message belongs to its first call."""
    return [
        step_of(result, turn.message.content if number == 0 else None)
        for turn in trajectory.turns
        for number, result in enumerate(turn.results)
    ]


MOST_NODES = 40
"""Nodes of the evidence that are shown."""
_LONGEST_PATH = 4
_MOST_NAMESAKES = 5
"""A value that more nodes share does not identify a node."""
_SHORTEST_NAME = 2


@dataclass(frozen=True)
class AnswerEvidence:
    """Observed nodes and relationships behind an answer; `more` further nodes are left out."""

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
    """Return the nodes that the answer cites or names, and shortest observed paths to nodes of the question.

    If the answer names no node (a number, a date), return the nodes of the question.
    """
    asked_about = named_in(question, seen)
    answered = [key for key in cited_keys(answer) if key in seen.nodes] or named_in(answer, seen)
    chosen = dict.fromkeys(answered or asked_about)
    for path in paths_to_nearest(seen, answered, set(asked_about), _LONGEST_PATH):
        chosen |= dict.fromkeys(reversed(path))
    in_answer = Evidence([answer])
    for link in seen.relationships.values():
        touches = link.source in chosen or link.target in chosen
        specific = (value for value in link.properties.values() if not isinstance(value, bool) and value != "")
        if touches and any(isinstance(v, int | float | str) and in_answer.holds(v) for v in specific):
            chosen |= {link.source: None, link.target: None}
    shown = list(chosen)[:MOST_NODES]
    among = [link for link in seen.relationships.values() if link.source in shown and link.target in shown]
    return AnswerEvidence(tuple(seen.nodes[key] for key in shown), tuple(among), len(chosen) - len(shown))


def named_in(text: str, seen: ObservedGraph) -> list[str]:
    """Return the keys of nodes whose key or text property occurs in a text. Numbers are ambiguous and ignored."""
    words = Evidence([text, text.casefold()])
    sharing = Counter(value for node in seen.nodes.values() for value in set(_names(node)))
    return [
        node.key
        for node in seen.nodes.values()
        if any(words.holds(name) for name in _names(node) if sharing[name] <= _MOST_NAMESAKES)
    ]


def _names(node: ObservedNode) -> Iterator[str]:
    for value in (node.key, *node.properties.values()):
        if isinstance(value, str) and len(value) >= _SHORTEST_NAME and not value.strip("+-.").isdigit():
            yield value
            yield value.casefold()


class _Lookup(NamedTuple):
    """Lookup of a node by a property with a uniqueness constraint; `property=None` means by its key."""

    label: str
    property: str | None = None


_Pairs = list[tuple[str | int, str | int]]


def browser_cypher(evidence: AnswerEvidence, store: GraphStore) -> str:
    """Return one query with the column `p`, or "" without evidence. Names that Cypher cannot quote are left out."""
    lookups: dict[str, tuple[_Lookup, str | int]] = {}
    for node in evidence.nodes:
        unique = store.unique_property(node.labels, node.key)
        lookups[node.key] = (_Lookup(node.label), node.key) if unique is None else (_Lookup(*unique[:2]), unique[2])
    ends: dict[tuple[_Lookup, str, _Lookup], _Pairs] = {}
    for link in evidence.relationships:
        (source, source_value), (target, target_value) = lookups[link.source], lookups[link.target]
        ends.setdefault((source, link.type, target), []).append((source_value, target_value))
    linked = {key for link in evidence.relationships for key in (link.source, link.target)}
    alone: dict[_Lookup, list[str | int]] = {}
    for key, (lookup, value) in lookups.items():
        if key not in linked:
            alone.setdefault(lookup, []).append(value)
    return "\nUNION\n".join([*_relationships(ends, store), *_nodes(alone, store)])


def _relationships(ends: Mapping[tuple[_Lookup, str, _Lookup], _Pairs], store: GraphStore) -> Iterator[str]:
    for (source, type_, target), pairs in ends.items():
        names = {"source": source.label, "type": type_, "target": target.label}
        names |= {"source_property": source.property or "", "target_property": target.property or ""}
        unique = source.property is not None and target.property is not None
        first, second = ("pair[0]", "pair[1]") if unique else (None, None)
        pattern = (
            f"{_end('a', 'source', source, first)}-[:{{{{ type | type }}}}]->{_end('b', 'target', target, second)}"
        )
        where = f"\nWHERE {_value('a', 'source', source)} IN sources AND {_value('b', 'target', target)} IN targets"
        with suppress(ConfigError):
            match = _render(store, f"MATCH p = {pattern}{'' if unique else where} RETURN p", names)
            if unique:
                yield f"UNWIND [{', '.join(map(_list_literal, dict.fromkeys(pairs)))}] AS pair\n{match}"
            else:
                sources, targets = (_list_literal(dict.fromkeys(values)) for values in zip(*pairs, strict=True))
                yield f"WITH {sources} AS sources, {targets} AS targets\n{match}"


def _nodes(alone: Mapping[_Lookup, list[str | int]], store: GraphStore) -> Iterator[str]:
    for lookup, values in alone.items():
        names = {"label": lookup.label, "label_property": lookup.property or ""}
        with suppress(ConfigError):
            if lookup.property is None:
                match = f"MATCH p = {_end('a', 'label', lookup)} WHERE {_value('a', 'label', lookup)} IN keys RETURN p"
                yield f"WITH {_list_literal(values)} AS keys\n{_render(store, match, names)}"
            else:
                match = f"MATCH p = {_end('a', 'label', lookup, 'value')} RETURN p"
                yield f"UNWIND {_list_literal(values)} AS value\n{_render(store, match, names)}"


def _render(store: GraphStore, template: str, identifiers: Mapping[str, str]) -> str:
    """Render a query for Neo4j; other stores may have other internal names."""
    return store.render(template, identifiers) if store.in_neo4j else render_cypher(template, identifiers)


def _end(variable: str, name: str, lookup: _Lookup, value: str | None = None) -> str:
    """Return a node pattern with `value` as its property; without a label, the pattern limits it to its graph."""
    if not lookup.label:
        return f"({variable}{{{{ any_node }}}})"
    found = "" if value is None else f" {{ {{{{ {name}_property | property }}}}: {value} }}"
    return f"({variable}:{{{{ {name} | label }}}}{found})"


def _value(variable: str, name: str, lookup: _Lookup) -> str:
    """Return the expression to compare: the property or the key, with the label so that an index is used."""
    if lookup.property is not None:
        return f"{variable}.{{{{ {name}_property | property }}}}"
    return f'{{{{ "key" | of("{variable}", {name}) }}}}' if lookup.label else f'{{{{ "{variable}" | key_of }}}}'


def _list_literal(values: Iterable[str | int]) -> str:
    return "[" + ", ".join(map(literal, values)) + "]"

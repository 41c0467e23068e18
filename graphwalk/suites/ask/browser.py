"""Evidence as Cypher that draws it in Neo4j's browser."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.cypher import literal
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher import render_cypher
from graphwalk.suites.ask.evidence import AnswerEvidence
from graphwalk.tools.observed import ObservedNode


class _Place(NamedTuple):
    """Where a node is looked for: by a property that a constraint makes unique for the label, or by its key."""

    label: str
    property: str | None = None


_Pairs = list[tuple[str | int, str | int]]


def browser_cypher(evidence: AnswerEvidence, store: GraphStore) -> str:
    """One query with the column `p`; "" where there is nothing to see. Names that no query can hold are left out."""
    places = {node.key: _place(node, store) for node in evidence.nodes}
    ends: dict[tuple[_Place, str, _Place], _Pairs] = {}
    for link in evidence.relationships:
        (source, source_value), (target, target_value) = places[link.source], places[link.target]
        ends.setdefault((source, link.type, target), []).append((source_value, target_value))
    linked = {key for link in evidence.relationships for key in (link.source, link.target)}
    alone: dict[_Place, list[str | int]] = {}
    for key, (place, value) in places.items():
        if key not in linked:
            alone.setdefault(place, []).append(value)
    return "\nUNION\n".join([*_relationships(ends, store), *_nodes(alone, store)])


def _place(node: ObservedNode, store: GraphStore) -> tuple[_Place, str | int]:
    """Where to look for a node, and the value to look for."""
    found = store.unique_property(node.labels, node.key)
    return (_Place(node.label), node.key) if found is None else (_Place(*found[:2]), found[2])


def _relationships(ends: Mapping[tuple[_Place, str, _Place], _Pairs], store: GraphStore) -> Iterator[str]:
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
            match = _written(store, f"MATCH p = {pattern}{'' if unique else where} RETURN p", names)
            if unique:
                yield f"UNWIND [{', '.join(map(_written_list, dict.fromkeys(pairs)))}] AS pair\n{match}"
            else:
                sources, targets = (_written_list(dict.fromkeys(values)) for values in zip(*pairs, strict=True))
                yield f"WITH {sources} AS sources, {targets} AS targets\n{match}"


def _nodes(alone: Mapping[_Place, list[str | int]], store: GraphStore) -> Iterator[str]:
    for place, values in alone.items():
        names = {"label": place.label, "label_property": place.property or ""}
        with suppress(ConfigError):
            if place.property is None:
                match = f"MATCH p = {_end('a', 'label', place)} WHERE {_value('a', 'label', place)} IN keys RETURN p"
                yield f"WITH {_written_list(values)} AS keys\n{_written(store, match, names)}"
            else:
                match = f"MATCH p = {_end('a', 'label', place, 'value')} RETURN p"
                yield f"UNWIND {_written_list(values)} AS value\n{_written(store, match, names)}"


def _written(store: GraphStore, template: str, identifiers: Mapping[str, str]) -> str:
    """As Neo4j would be asked: other stores may keep names under others."""
    return store.render(template, identifiers) if store.in_neo4j else render_cypher(template, identifiers)


def _end(variable: str, name: str, place: _Place, value: str | None = None) -> str:
    """A node pattern, with `value` as its property; of a node without a label what confines it to its graph."""
    if not place.label:
        return f"({variable}{{{{ any_node }}}})"
    found = "" if value is None else f" {{ {{{{ {name}_property | property }}}}: {value} }}"
    return f"({variable}:{{{{ {name} | label }}}}{found})"


def _value(variable: str, name: str, place: _Place) -> str:
    """Return the expression that is compared: the property, or the key, which an index may find by its label."""
    if place.property is not None:
        return f"{variable}.{{{{ {name}_property | property }}}}"
    return f'{{{{ "key" | of("{variable}", {name}) }}}}' if place.label else f'{{{{ "{variable}" | key_of }}}}'


def _written_list(values: Iterable[str | int]) -> str:
    return "[" + ", ".join(map(literal, values)) + "]"

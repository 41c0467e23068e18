"""Cypher that shows the evidence of an answer in Neo4j Browser."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.cypher import literal
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher import render_cypher
from graphwalk.suites.ask.evidence import AnswerEvidence


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

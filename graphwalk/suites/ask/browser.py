"""Evidence as Cypher that draws it in Neo4j's browser."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.cypher_values import literal
from graphwalk.stores.cypher import render_cypher
from graphwalk.stores.store import GraphStore
from graphwalk.suites.ask.evidence import AnswerEvidence


def browser_cypher(evidence: AnswerEvidence, store: GraphStore) -> str:
    """One query with the column `p`; "" where there is nothing to see. Names that no query can hold are left out."""
    label_of = {node.key: node.label for node in evidence.nodes}
    ends: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for link in evidence.relationships:
        kind = label_of[link.source], link.type, label_of[link.target]
        ends.setdefault(kind, []).append((link.source, link.target))
    linked = {key for pairs in ends.values() for pair in pairs for key in pair}
    alone: dict[str, list[str]] = {}
    for node in evidence.nodes:
        if node.key not in linked:
            alone.setdefault(node.label, []).append(node.key)
    return "\nUNION\n".join([*_relationships(ends, store), *_nodes(alone, store)])


def _relationships(ends: dict[tuple[str, str, str], list[tuple[str, str]]], store: GraphStore) -> Iterator[str]:
    for (source, type_, target), pairs in ends.items():
        names = {"source": source, "type": type_, "target": target}
        pattern = f"{_end('a', 'source', source)}-[:{{{{ type | type }}}}]->{_end('b', 'target', target)}"
        with suppress(ConfigError):
            match = _written(
                store,
                f"MATCH p = {pattern}\n"
                f"WHERE {_key('a', 'source', source)} IN sources AND {_key('b', 'target', target)} IN targets RETURN p",
                names,
            )
            sources, targets = (_listed(keys) for keys in zip(*pairs, strict=True))
            yield f"WITH {sources} AS sources, {targets} AS targets\n{match}"


def _nodes(alone: dict[str, list[str]], store: GraphStore) -> Iterator[str]:
    for label, keys in alone.items():
        with suppress(ConfigError):
            match = _written(
                store,
                f"MATCH p = {_end('a', 'label', label)} WHERE {_key('a', 'label', label)} IN keys RETURN p",
                {"label": label},
            )
            yield f"WITH {_listed(keys)} AS keys\n{match}"


def _written(store: GraphStore, template: str, identifiers: Mapping[str, str]) -> str:
    """As Neo4j would be asked: other stores may keep names under others."""
    return store.render(template, identifiers) if store.kind == "neo4j" else render_cypher(template, identifiers)


def _end(variable: str, name: str, label: str) -> str:
    """A node pattern; of a node without a label what confines it to its graph."""
    return f"({variable}:{{{{ {name} | label }}}})" if label else f"({variable}{{{{ any_node }}}})"


def _key(variable: str, name: str, label: str) -> str:
    """The key of a node, which some stores can look up where the label is known."""
    return f'{{{{ "key" | of("{variable}", {name}) }}}}' if label else f'{{{{ "{variable}" | key_of }}}}'


def _listed(keys: Iterable[str]) -> str:
    return "[" + ", ".join(literal(key) for key in dict.fromkeys(keys)) + "]"

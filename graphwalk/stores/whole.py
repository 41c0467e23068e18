"""A whole graph read out of a store that gives values as the graph has them."""

import hashlib

from graphwalk.stores.store import GivesValues, GraphStore
from graphwalk.types.graph import Node, PropertyGraph, Relationship

_NODES = (
    'MATCH (n{{ any_node }}) RETURN {{ "n" | key_of }} AS key, {{ "n" | labels_of }} AS labels, '
    '{{ "n" | properties_of }} AS properties'
)
_RELATIONSHIPS = (
    'MATCH (a{{ any_node }})-[r]->(b{{ any_node }}) RETURN type(r) AS type, {{ "a" | key_of }} AS source, '
    '{{ "b" | key_of }} AS target, properties(r) AS properties'
)


async def read_whole(store: GraphStore) -> PropertyGraph:
    """The graph in a store, which has to be one that `GivesValues`; nodes in the order of their keys."""
    assert isinstance(store, GivesValues)
    nodes = await store.values(store.render(_NODES, {}))
    relationships = await store.values(store.render(_RELATIONSHIPS, {}))
    for node in nodes:
        node["properties"].pop("key", None)
    return PropertyGraph.from_rows(
        (Node(n["key"], tuple(n["labels"]), n["properties"]) for n in sorted(nodes, key=lambda node: str(node["key"]))),
        (Relationship(r["type"], r["source"], r["target"], r["properties"]) for r in relationships),
    )


def content_digest(graph: PropertyGraph) -> str:
    """SHA-256 (hex) of what is in a graph, in whichever order it came."""
    lines = [repr((n.key, sorted(n.labels), sorted(n.properties.items()))) for n in graph.nodes()]
    lines += [repr((r.type, r.source, r.target, sorted(r.properties.items()))) for r in graph.relationships()]
    return hashlib.sha256("\n".join(sorted(lines)).encode("utf-8", "surrogatepass")).hexdigest()

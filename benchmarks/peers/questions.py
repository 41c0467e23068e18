"""The same look-ups, in each server's own way: a tool of ours, or the Cypher that answers it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.peers.contestants import Call, Contestant
from graphwalk.graphs.formats.cypher import literal
from graphwalk.seeds import stdlib_random
from graphwalk.stores.cypher import quote
from graphwalk.types.graph import Node, PropertyGraph

REPEATS = 30


@dataclass(frozen=True)
class World:
    """The graph, and its nodes to draw from."""

    graph: PropertyGraph
    nodes: list[Node]


@dataclass(frozen=True)
class Lookup:
    """One look-up. `walks`: our call; `cypher`: what a model would write for it."""

    walks: Call
    cypher: str

    def call(self, contestant: Contestant) -> Call:
        return self.walks if contestant.query is None else contestant.query(self.cypher)


Draw = Callable[["World", Any], Lookup]


def _one_node(world: "World", random: Any) -> Lookup:
    node = random.choice(world.nodes)
    arguments = {"label": node.label, "property_name": "key", "property_value": node.key}
    return Lookup(("get_node_by_property", arguments), f"MATCH (n:{quote(node.label)} {{key: '{node.key}'}}) RETURN n")


def _by_value(world: "World", random: Any) -> Lookup:
    node = random.choice(world.nodes)
    name, value = random.choice(sorted(node.properties.items()))
    arguments = {"label": node.label, "property_name": name, "property_value": value}
    cypher = f"MATCH (n:{quote(node.label)}) WHERE n.{quote(name)} = {literal(value)} RETURN n"
    return Lookup(("get_node_by_property", arguments), cypher)


def _neighbours(world: "World", random: Any) -> Lookup:
    node = random.choice(world.nodes)
    arguments = {"label": node.label, "property_name": "key", "property_value": node.key}
    found = "type(r) AS type, properties(r) AS relationship, startNode(r) = c AS outgoing"
    cypher = (
        f"MATCH (c:{quote(node.label)} {{key: '{node.key}'}})-[r]-(n) "
        f"RETURN {found}, labels(n) AS labels, properties(n) AS neighbour"
    )
    return Lookup(("get_all_nearest_neighbors", arguments), cypher)


def _values(world: "World", random: Any) -> Lookup:
    table = random.choice(world.graph.node_tables)
    name = random.choice(sorted(table.columns))
    arguments = {"property_name": name, "entity_name": table.label, "entity_type": "node"}
    cypher = (
        f"MATCH (n:{quote(table.label)}) WHERE n.{quote(name)} IS NOT NULL RETURN DISTINCT n.{quote(name)} AS value"
    )
    return Lookup(("get_unique_property_values", arguments), cypher)


def _all_keys(world: "World", random: Any) -> Lookup:
    table = random.choice(world.graph.node_tables)
    arguments = {"property_name": "key", "entity_name": table.label, "entity_type": "node"}
    return Lookup(("get_unique_property_values", arguments), f"MATCH (n:{quote(table.label)}) RETURN n.key AS key")


LOOKUPS: dict[str, Draw] = {
    "one node by its key": _one_node,
    "nodes by a value": _by_value,
    "everything one step from a node": _neighbours,
    "the values of a property": _values,
    "all keys of a label": _all_keys,
}


def drawn(world: World, name: str) -> Iterator[Lookup]:
    """The same REPEATS look-ups for every server."""
    random = stdlib_random(7, "peers", name)
    for _ in range(REPEATS):
        yield LOOKUPS[name](world, random)

"""What a run asks about somebody's own graph: which questions, in which settings, and what is left out and why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.text import graph_text
from graphwalk.graphs.twin.making import Twin, make_twin
from graphwalk.stores.store import GraphStore, OpenToQueries
from graphwalk.suites.questions.own_graph import OwnGraph
from graphwalk.suites.questions.row_bounds import ANY_ROWS, RowBounds
from graphwalk.suites.suite import World
from graphwalk.types.graph import PropertyGraph

MOST_ROWS = RowBounds(at_most=100)
"""Rows of a right answer about an own graph, unless the experiment says otherwise."""
MOST_TEXT = 2_000_000
"""Characters of a graph that is given as text: about what the largest models read at once."""


@dataclass(frozen=True)
class OwnWorld:
    """What a world was made from: an entry of `suite.graphs` and, of a twin, the graph that it is the twin of."""

    entry: OwnGraph
    twin: Twin | None = None
    left_out: dict[str, str] = field(default_factory=dict)


def worlds_of(entry: OwnGraph, place: int, graph: PropertyGraph, seed: int) -> Iterator[World]:
    """The graph and, where it is asked for, its twin; `place` is that of the entry in `suite.graphs`."""
    standing = entry if entry.neo4j is not None else None
    yield _world(graph, place, OwnWorld(entry), entry.facts, standing)
    if entry.twin:
        twin = make_twin(graph, seed)
        facts = {**entry.facts, "name": f"{entry.name} (twin)", "twin_of": graph.digest}
        made = _world(twin.graph, place, OwnWorld(entry, twin), facts, None)
        yield replace(made, in_memory=standing is not None)


def _world(
    graph: PropertyGraph, place: int, source: OwnWorld, facts: Mapping[str, object], standing: OwnGraph | None
) -> World:
    size = {"nodes": graph.node_count, "relationships": graph.relationship_count}
    return World(graph.digest, graph, source, {"entry": place, **facts, **size}, standing)


def bounds_of(bounds: RowBounds) -> RowBounds:
    """The bounds as they hold for an own graph."""
    return MOST_ROWS if bounds == ANY_ROWS else bounds


def settings_left_out(graph: PropertyGraph, store: GraphStore, agent: AgentConfig) -> Iterator[tuple[str, str]]:
    """The settings in which no question about a graph can be asked, and why."""
    if not isinstance(store, OpenToQueries):
        yield (
            "write_cypher",
            "a database as it stands takes no queries of a model's own; its copy does (store: embedded)",
        )
    size = len(graph_text(graph, agent.graph_encoding)) if graph.node_count <= MOST_TEXT else graph.node_count
    if size > MOST_TEXT:
        yield "no_tools", f"as text the graph has {size:,} characters, above the {MOST_TEXT:,} that models can read"

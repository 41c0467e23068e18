"""Your own graphs in an experiment: their configuration, instances, and the settings in which they can be used."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import EXAMPLE, GraphSource
from graphwalk.config.strict import absolute, existing_file
from graphwalk.errors import ConfigError
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.text import graph_text
from graphwalk.stores.base import GraphStore
from graphwalk.stores.sources import read_file
from graphwalk.suites.loaded_graph import GraphInstance

MOST_TEXT = 2_000_000
"""Maximum characters of a graph as text, about the context of the largest models."""


def existing_path(path: Any, info: ValidationInfo) -> Any:
    """Return the absolute path of a file or folder that exists; "example" stays."""
    is_example = str(path) == EXAMPLE and not absolute(path, info).exists()
    return path if is_example else existing_file(path, info)


class OwnGraph(GraphSource):
    """Your own graph: `{file: movies.graphml}` or `{neo4j: movies}`.

    `labels` and `relationship_types` select a part.
    """

    file: Annotated[Path, BeforeValidator(existing_path)] | None = None
    """A file or folder; "example" is the built-in graph."""


def file_of(entry: OwnGraph) -> PropertyGraph:
    """Return the graph in the file of an entry. Raise ConfigError for one in a database."""
    if entry.file is None:
        raise ConfigError(f"{entry.name} is in a database", hint="use Suite.read_graphs")
    return read_file(entry)


def own_instance(place: int, entry: OwnGraph, graph: PropertyGraph) -> GraphInstance:
    """Return the instance of your own graph, whose source is its entry; `place` is the position in `suite.graphs`."""
    source = f"file {entry.file.name}" if entry.file is not None else f"neo4j {entry.neo4j or entry.loaded}"
    instance = GraphInstance.of(graph, entry, {"entry": place, "name": entry.name, "source": source})
    return replace(instance, existing_database=entry if entry.neo4j is not None else None)


def settings_left_out(graph: PropertyGraph, store: GraphStore, agent: AgentConfig) -> Iterator[tuple[str, str]]:
    """Yield the settings that a graph does not support, with reasons."""
    yield from queries_left_out(store)
    size = len(graph_text(graph, agent.graph_encoding)) if graph.node_count <= MOST_TEXT else graph.node_count
    if size > MOST_TEXT:
        yield "no_tools", f"the graph has {size:,} characters as text, more than {MOST_TEXT:,}"


def queries_left_out(store: GraphStore) -> Iterator[tuple[str, str]]:
    """Yield the setting write_cypher with the reason if the store takes no queries."""
    if not store.takes_queries:
        yield "write_cypher", "queries of a model run on a copy of the graph in the embedded engine (store: embedded)"

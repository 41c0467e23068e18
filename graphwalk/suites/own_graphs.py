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
from graphwalk.graphs.anonymise import make_anonymised_copy
from graphwalk.graphs.text import graph_text
from graphwalk.stores.base import GraphStore
from graphwalk.stores.sources import read_file
from graphwalk.suites.loaded_graph import GraphInstance
from graphwalk.types.graph import PropertyGraph

MOST_TEXT = 2_000_000
"""Maximum characters of a graph as text, about the context of the largest models."""


def existing_path(path: Any, info: ValidationInfo) -> Any:
    """Return the absolute path of a file or folder that exists; "example" stays."""
    is_example = str(path) == EXAMPLE and not absolute(path, info).exists()
    return path if is_example else existing_file(path, info)


class OwnGraph(GraphSource):
    """Your own graph: `{file: movies.graphml}` or `{neo4j: movies}`.

    `labels` and `relationship_types` select a part. With `twin` the questions are also asked on an anonymised copy.
    """

    file: Annotated[Path, BeforeValidator(existing_path)] | None = None
    """A file or folder; "example" is the built-in graph."""
    twin: bool = False

    @property
    def facts(self) -> dict[str, Any]:
        """Return name and source of the graph for the run log."""
        source = f"file {self.file.name}" if self.file is not None else f"neo4j {self.neo4j or self.loaded}"
        return {"name": self.name, "source": source}


def file_of(entry: OwnGraph) -> PropertyGraph:
    """Return the graph in the file of an entry. Raise ConfigError for one in a database."""
    if entry.file is None:
        raise ConfigError(f"{entry.name} is in a database", hint="use Suite.read_graphs")
    return read_file(entry)


def own_instances(place: int, entry: OwnGraph, seed: int, graph: PropertyGraph) -> Iterator[GraphInstance]:
    """Yield the graph and, if configured, its anonymised copy; `place` is the position in `suite.graphs`.

    The source of the first is its entry, that of the second the copy with its mapping.
    """
    database = entry if entry.neo4j is not None else None
    original = GraphInstance.of(graph, entry, {"entry": place, **entry.facts})
    yield replace(original, existing_database=database)
    if entry.twin:
        copy = make_anonymised_copy(graph, seed)
        facts = {"entry": place, **entry.facts, "name": f"{entry.name} (twin)", "twin_of": graph.digest}
        yield replace(GraphInstance.of(copy.graph, copy, facts), in_memory=database is not None)


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

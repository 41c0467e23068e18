"""The source of your own graph: a file, an existing Neo4j database, or a graph loaded by `db load`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from graphwalk.config.strict import Strict
from graphwalk.errors import ConfigError

EXAMPLE = "example"
"""Name of the built-in graph."""
POSITION = "position"
"""Value of `source_from` and `target_from`: relationships have the places of nodes, from 0, not their keys."""

Undirected = Literal["refuse", "both"]
"""Reading of an undirected edge: an error, or two relationships, there and back (one for a loop)."""
Attribute = Annotated[str | None, Field(exclude_if=lambda name: name is None)]


class FileOptions(Strict):
    """How to read a graph file where it leaves a choice."""

    edges: Annotated[Path | None, Field(exclude_if=lambda path: path is None)] = None
    """The CSV file of the relationships, if the graph is one of nodes."""
    key_from: Attribute = None
    """Field of a node with its key, by which relationships name it. None: found by its usual names."""
    name_from: Attribute = None
    """Field that becomes the property `name` of a node."""
    label_from: Attribute = None
    """Field with the label of a node. None: found by its usual names."""
    type_from: Attribute = None
    """Field with the type of a relationship. None: found by its usual names."""
    source_from: Attribute = None
    """Field with the key of the node where a relationship starts; `position`: it has the place of the node, from 0."""
    target_from: Attribute = None
    """Field with the key of the node where a relationship ends; `position` as for `source_from`."""
    undirected: Undirected = Field(default="refuse", exclude_if=lambda reading: reading == "refuse")
    """Undirected edges: `refuse` them, or read each in `both` directions."""
    null: tuple[str, ...] = Field(default=(), exclude_if=lambda words: not words)
    """Words for a missing value."""
    skip_bad: bool = Field(default=False, exclude_if=lambda skip: not skip)
    """Leave out entries of the file that cannot be used, and count them. false: refuse the file."""

    @model_validator(mode="after")
    def _both_ends(self) -> Self:
        if (self.source_from is None) != (self.target_from is None):
            raise ValueError("source_from and target_from need each other")
        if (self.source_from == POSITION) != (self.target_from == POSITION):
            raise ValueError(f"{POSITION} is for both source_from and target_from")
        return self


class GraphSource(FileOptions):
    """A graph that was not generated: `{file: movies.graphml}`, `{neo4j: movies}` or `{loaded: gw_3f2a90c1d77e}`."""

    file: Path | None = None
    """A file or folder; "example" is the built-in graph."""
    neo4j: str | None = None
    """The name of an existing database, which is only read."""
    loaded: str | None = None
    """The label of a graph that `graphwalk db load` put into Neo4j."""
    labels: tuple[str, ...] | None = Field(default=None, min_length=1)
    """Keep only nodes with one of these labels. None: all."""
    relationship_types: tuple[str, ...] | None = Field(default=None, min_length=1)
    """Keep only relationships of these types. None: all."""
    key: str | None = None
    """Property that is the key of the nodes of an existing database. None: that of a uniqueness constraint."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        places = [place for place in (self.file, self.neo4j, self.loaded) if place is not None]
        if len(places) != 1:
            raise ValueError("give one of file, neo4j and loaded")
        file_options = FileOptions.model_fields.keys() & self.model_fields_set
        if self.file is None and file_options:
            raise ValueError(f"{', '.join(sorted(file_options))}: only for a file")
        if self.neo4j is None and self.key is not None:
            raise ValueError("key: only for a database")
        return self

    @property
    def name(self) -> str:
        """The name of the graph in lists and reports."""
        if self.file is not None:
            return self.file.stem
        return str(self.neo4j or self.loaded)


def check_filter(what: str, chosen: Sequence[str] | None, there: Iterable[str]) -> None:
    """Raise ConfigError if a filter names a label or type (`what`) that the graph does not have."""
    if chosen is None:
        return
    names = sorted(set(there))
    missing = [repr(name) for name in chosen if name not in names]
    if missing:
        raise ConfigError(f"the graph has no {what} {', '.join(missing)}", hint=f"there are: {', '.join(names)}")

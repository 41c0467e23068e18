"""A folder of CSV files in the layout of Neo4j's importer, read as a graph."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.checked import brief, checked_labels, checked_properties, checked_text
from graphwalk.graphs.files.csv_fields import Record
from graphwalk.graphs.files.csv_folder import read_manifest, records_of
from graphwalk.graphs.files.csv_layout import NUMBER, CsvColumn, CsvManifest, NodeFiles, RelationshipFiles, read_column
from graphwalk.graphs.files.csv_values import csv_value
from graphwalk.graphs.files.shared import checked_header, reading
from graphwalk.graphs.keys import apart_from_key
from graphwalk.types.graph import Node, PropertyGraph, Relationship


@dataclass(frozen=True, slots=True)
class _Row:
    """One line: where it is, and its fields by what they mean; `ids` are pairs of space and id."""

    where: str
    ids: Mapping[str, tuple[str, str]]
    labels: Sequence[str]
    type: str | None
    properties: Mapping[str, Any]
    number: int
    """Its place among the nodes, where GraphWalk wrote the file; else 0."""


def read_csv_folder(folder: Path) -> PropertyGraph:
    """The graph of a folder. ConfigError that names file and line of what cannot be used.

    A node is called by its id, and by SPACE:ID where two id spaces have the same id; without an id, by its number.
    """
    manifest = read_manifest(folder)
    with reading(folder):
        seed, spec = checked_header(manifest.made)
        rows = [row for files in manifest.nodes for row in _rows(folder, files, manifest)]
        rows.sort(key=lambda row: row.number)
        keys = _keys(rows)
        nodes = [_node(row, number, keys) for number, row in enumerate(rows)]
        relationships = (
            _relationship(row, keys) for files in manifest.relationships for row in _rows(folder, files, manifest)
        )
        return PropertyGraph.from_rows(nodes, relationships, seed=seed, spec=spec)


def _rows(folder: Path, files: NodeFiles | RelationshipFiles, manifest: CsvManifest) -> Iterator[_Row]:
    """The lines of files below their header."""
    columns: list[CsvColumn] = []
    for path, number, record in records_of(folder, files.files, manifest):
        with reading(path):
            where = f"line {number}"
            if not columns:
                columns = [read_column(field) for field in record]
                _check_columns(where, columns, isinstance(files, NodeFiles))
                continue
            try:
                yield _row(f"{path.name}, {where}", columns, record, files, manifest)
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from None
    if not columns:
        raise ConfigError(f"cannot read the graph {folder / files.files[0]}: it is empty")


def _check_columns(where: str, columns: list[CsvColumn], nodes: bool) -> None:
    structure = Counter(column.type for column in columns if column.type.isupper())
    for name in () if nodes else ("START_ID", "END_ID"):
        if structure[name] != 1:
            raise ValueError(f"{where}: a header of relationships has :{name} once")
    for name in ("ID", "TYPE"):
        if structure[name] > 1:
            raise ValueError(f"{where}: the header has :{name} more than once")
    names = Counter(column.name for column in columns if not column.type.isupper())
    if any(count > 1 for count in names.values()):
        raise ValueError(f"{where}: the header has the column {brief(names.most_common(1)[0][0])} more than once")


def _row(
    where: str,
    columns: Sequence[CsvColumn],
    record: Record,
    files: NodeFiles | RelationshipFiles,
    manifest: CsvManifest,
) -> _Row:
    if len(record) > len(columns) and any(field is not None for field in record[len(columns) :]):
        raise ValueError(f"there are {len(record)} fields, and {len(columns)} in the header")
    ids: dict[str, tuple[str, str]] = {}
    labels = list(files.labels) if isinstance(files, NodeFiles) else []
    type_ = files.type if isinstance(files, RelationshipFiles) else None
    properties: dict[str, Any] = {}
    number = 0
    for column, field in zip(columns, record, strict=False):
        if field is None:
            continue
        if column.type == "IGNORE":
            number = int(field[:18]) if manifest.made and column.name == NUMBER and field.isdecimal() else number
            continue
        if column.type == "LABEL":
            labels += [label for label in field.split(manifest.array_delimiter) if label]
        elif column.type == "TYPE":
            type_ = field
        elif column.type in ("ID", "START_ID", "END_ID"):
            ids[column.type] = (column.space, field)
            if column.type == "ID" and column.name:
                properties[column.name] = field
        else:
            properties[column.name] = csv_value(column, field, manifest.array_delimiter)
    return _Row(where, ids, labels, type_, properties, number)


def _keys(rows: Sequence[_Row]) -> dict[tuple[str, str], str]:
    """What a node is called, by id space and id. ValueError for an id that is there twice in one space."""
    places: dict[tuple[str, str], str] = {}
    for row in rows:
        if (id_ := row.ids.get("ID")) is not None:
            if id_ in places:
                raise ValueError(f"{row.where}: the id {brief(id_[1])} is there already, in {places[id_]}")
            places[id_] = row.where
    often = Counter(id_ for _, id_ in places)
    return {(space, id_): f"{space}:{id_}" if often[id_] > 1 and space else id_ for space, id_ in places}


def _node(row: _Row, number: int, keys: Mapping[tuple[str, str], str]) -> Node:
    key = keys[row.ids["ID"]] if "ID" in row.ids else str(number)
    properties = apart_from_key(checked_properties(row.where, row.properties), row.ids.get("ID", ("", key))[1])
    return Node(checked_text(f"{row.where}, :ID", key), checked_labels(row.where, row.labels), properties)


def _relationship(row: _Row, keys: Mapping[tuple[str, str], str]) -> Relationship:
    if not row.type:
        raise ValueError(f"{row.where}: there is no type, neither in :TYPE nor in the manifest")
    type_ = checked_text(f"{row.where}, :TYPE", row.type)
    source, target = (_end(row, name, keys) for name in ("START_ID", "END_ID"))
    return Relationship(type_, source, target, checked_properties(row.where, row.properties))


def _end(row: _Row, name: str, keys: Mapping[tuple[str, str], str]) -> str:
    if name not in row.ids:
        raise ValueError(f"{row.where}: :{name} is missing")
    if row.ids[name] not in keys:
        space, id_ = row.ids[name]
        raise ValueError(
            f"{row.where}: no node has the id {brief(id_)}" + (f" in the id space {space}" if space else "")
        )
    return keys[row.ids[name]]

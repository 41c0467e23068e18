"""Read folders of CSV files in the layout of Neo4j's importer."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from graphwalk.errors import ConfigError
from graphwalk.files.writing import check_link
from graphwalk.graphs.formats.common import (
    apart_from_key,
    brief,
    checked_labels,
    checked_properties,
    checked_text,
    read_text,
    read_value,
    reading,
)
from graphwalk.types.graph import Node, PropertyGraph, Relationship

Record = list[str | None]
"""The fields of a line; None for one that is empty and not quoted."""
_FIELD = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^,"\r\n][^,\r\n]*)?)(,|\r\n|\n|\r|\Z)')


def csv_records(text: str) -> Iterator[tuple[int, Record]]:
    """Yield every non-empty line with its number, from 1. Raise ValueError for a quote that is not closed."""
    position, line, starts = 0, 1, 1
    record: Record = []
    while position < len(text):
        match = _FIELD.match(text, position)
        if match is None:
            raise ValueError(
                f"line {line}: cannot read {brief(text[position : position + 40])}; is a quote not closed?"
            )
        quoted, plain, end = match.groups()
        record.append(plain or None if quoted is None else quoted.replace('""', '"'))
        line += text.count("\n", position, match.end())
        position = match.end()
        if end != ",":
            if record != [None]:
                yield starts, record
            record, starts = [], line
    if record:
        yield starts, [*record, None]


LIST_DELIMITER = ";"
"""Between the items of a list, and between labels."""
_STRUCTURE = ("ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE")
_COLUMN = re.compile(r"(?s)(?P<name>.*):(?P<type>[A-Za-z_]+)(?P<list>\[\])?(?:\((?P<space>[^()]*)\))?")


class _Column(NamedTuple):
    """A column of a file. `type` is one of _STRUCTURE, else a type of values in lower case."""

    name: str
    type: str = "string"
    is_list: bool = False
    space: str = ""


def _read_column(text: str | None) -> _Column:
    """Return the column for a field of a header: text without a type, ignored if empty."""
    if text is None:
        return _Column("", "IGNORE")
    match = _COLUMN.fullmatch(text)
    if match is None:
        return _Column(text)
    type_ = match["type"] if match["type"] in _STRUCTURE else match["type"].lower()
    return _Column(match["name"], type_, bool(match["list"]), match["space"] or "")


def _value(column: _Column, field: str) -> Any:
    """Return the value of a field. Raise ValueError if it is not of the column's type."""
    try:
        if not column.is_list:
            return read_value(column.type, field)
        items = field.split(LIST_DELIMITER) if field else []
        if column.type != "byte":
            return [read_value(column.type, item) for item in items]
        numbers = [int(item) for item in items if len(item) < 6]
        if len(numbers) < len(items) or not all(-128 <= number < 256 for number in numbers):
            raise ValueError(f"{brief(items)} are not bytes")
        return bytes(number % 256 for number in numbers)
    except KeyError:
        raise ValueError(f"the column {column.name!r} has the unknown type {column.type!r}") from None
    except ValueError as error:
        raise ValueError(f"column {column.name!r}, a {column.type}: {error}") from None


class _Table(NamedTuple):
    """A file: its columns, and its lines below the header."""

    path: Path
    columns: Sequence[_Column]
    records: Iterator[tuple[int, Record]]

    @property
    def is_of_nodes(self) -> bool:
        return any(column.type == "ID" for column in self.columns)


class _Row(NamedTuple):
    """One line: where it is, and its fields by what they mean; `ids` are pairs of space and id."""

    where: str
    ids: Mapping[str, tuple[str, str]]
    labels: Sequence[str]
    type: str | None
    properties: Mapping[str, Any]


def read_csv_folder(folder: Path) -> PropertyGraph:
    """Return the graph of a folder. Raise ConfigError with file and line of an error.

    A node is called by its id, and by SPACE:ID where two id spaces have the same id.
    """
    if not folder.is_dir():
        reason = "it is not a folder" if folder.exists() else "the folder does not exist; check the path"
        raise ConfigError(f"cannot read the graph {folder}: {reason}")
    tables = [_read_table(path) for path in sorted(folder.iterdir()) if path.suffix.lower() == ".csv"]
    if not tables:
        raise ConfigError(
            f"cannot read the graph {folder}: no CSV file is in this folder",
            hint="give files in the layout of Neo4j's importer the suffix .csv",
        )
    with reading(folder):
        rows = [row for table in tables if table.is_of_nodes for row in _rows(table)]
        keys = _keys(rows)
        edges = (row for table in tables if not table.is_of_nodes for row in _rows(table))
        return PropertyGraph.from_rows((_node(row, keys) for row in rows), (_relationship(row, keys) for row in edges))


def _read_table(path: Path) -> _Table:
    check_link(path, ConfigError)
    with reading(path):
        records = csv_records(read_text(path))
        columns = [_read_column(field) for field in next(records, (1, []))[1]]
        types = Counter(column.type for column in columns if column.type.isupper())
        if not types.keys() & {"ID", "START_ID", "END_ID"}:
            raise ValueError("its first line has neither :ID nor :START_ID, as the layout of Neo4j's importer has")
        for name in ("ID",) if "ID" in types else ("START_ID", "END_ID", "TYPE"):
            if types[name] != 1:
                raise ValueError(f"its first line must have :{name} once")
        names = Counter(column.name for column in columns if not column.type.isupper())
        if any(count > 1 for count in names.values()):
            raise ValueError(f"the header has the column {brief(names.most_common(1)[0][0])} more than once")
        return _Table(path, columns, records)


def _rows(table: _Table) -> Iterator[_Row]:
    with reading(table.path):
        for number, record in table.records:
            try:
                yield _row(f"{table.path.name}, line {number}", table.columns, record)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None


def _row(where: str, columns: Sequence[_Column], record: Record) -> _Row:
    if len(record) > len(columns) and any(field is not None for field in record[len(columns) :]):
        raise ValueError(f"there are {len(record)} fields, and {len(columns)} in the header")
    ids: dict[str, tuple[str, str]] = {}
    labels: list[str] = []
    type_ = None
    properties: dict[str, Any] = {}
    for column, field in zip(columns, record, strict=False):
        if field is None or column.type == "IGNORE":
            continue
        if column.type == "LABEL":
            labels += [label for label in field.split(LIST_DELIMITER) if label]
        elif column.type == "TYPE":
            type_ = field
        elif column.type in ("ID", "START_ID", "END_ID"):
            ids[column.type] = (column.space, field)
            if column.type == "ID" and column.name:
                properties[column.name] = field
        else:
            properties[column.name] = _value(column, field)
    return _Row(where, ids, labels, type_, properties)


def _keys(rows: Sequence[_Row]) -> dict[tuple[str, str], str]:
    """Return the keys of nodes by id space and id. Raise ValueError for a missing id and a duplicate in one space."""
    places: dict[tuple[str, str], str] = {}
    for row in rows:
        id_ = _id(row, "ID")
        if id_ in places:
            raise ValueError(f"{row.where}: the id {brief(id_[1])} is there already, in {places[id_]}")
        places[id_] = row.where
    often = Counter(id_ for _, id_ in places)
    return {(space, id_): f"{space}:{id_}" if often[id_] > 1 and space else id_ for space, id_ in places}


def _id(row: _Row, name: str) -> tuple[str, str]:
    if name not in row.ids:
        raise ValueError(f"{row.where}: :{name} is missing")
    return row.ids[name]


def _node(row: _Row, keys: Mapping[tuple[str, str], str]) -> Node:
    properties = apart_from_key(checked_properties(row.where, row.properties), row.ids["ID"][1])
    key = checked_text(f"{row.where}, :ID", keys[row.ids["ID"]])
    return Node(key, checked_labels(row.where, row.labels), properties)


def _relationship(row: _Row, keys: Mapping[tuple[str, str], str]) -> Relationship:
    type_ = checked_text(f"{row.where}, :TYPE", row.type)
    source, target = (_end(row, name, keys) for name in ("START_ID", "END_ID"))
    return Relationship(type_, source, target, checked_properties(row.where, row.properties))


def _end(row: _Row, name: str, keys: Mapping[tuple[str, str], str]) -> str:
    space, id_ = _id(row, name)
    if (space, id_) not in keys:
        raise ValueError(
            f"{row.where}: no node has the id {brief(id_)}" + (f" in the id space {space}" if space else "")
        )
    return keys[space, id_]

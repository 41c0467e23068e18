"""Read and write folders of CSV files in the layout of Neo4j's importer."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from graphwalk.errors import ConfigError
from graphwalk.files.writing import cannot_write, new_folder
from graphwalk.graphs.formats.common import (
    brief,
    checked_node,
    checked_relationship,
    read_text,
    read_value,
    reading,
    type_name,
    value_text,
    write_lines,
)
from graphwalk.types.graph import KEY, MISSING, Node, PropertyColumn, PropertyGraph, Relationship
from graphwalk.types.values import Value

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


def csv_text(field: str) -> str:
    """Return a field, quoted if necessary."""
    return field if _PLAIN.fullmatch(field) else '"' + field.replace('"', '""') + '"'


_PLAIN = re.compile(r"[^\s,\"'](?:[^\r\n,\"']*[^\s,\"'])?")
NUMBER = "number"
"""Name of a column that the importer ignores: the place of a node in the graph that was written."""
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


def _value(column: _Column, field: str, array_delimiter: str) -> Any:
    """Return the value of a field. Raise ValueError if it is not of the column's type."""
    try:
        if not column.is_list:
            return read_value(column.type, field)
        items = field.split(array_delimiter) if field else []
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
    number: int
    """Position among the nodes if GraphWalk wrote the file, else 0."""


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
        delimiter = _array_delimiter(folder)
        rows = [row for table in tables if table.is_of_nodes for row in _rows(table, delimiter)]
        rows.sort(key=lambda row: row.number)
        keys = _keys(rows)
        edges = (row for table in tables if not table.is_of_nodes for row in _rows(table, delimiter))
        return PropertyGraph.from_rows((_node(row, keys) for row in rows), (_relationship(row, keys) for row in edges))


def _array_delimiter(folder: Path) -> str:
    """Return what separates the items of lists: a semicolon, or the character in `import.args`."""
    path = folder / ARGUMENTS
    match = re.search(r"^--array-delimiter=U\+([0-9A-F]{4})$", read_text(path), re.M) if path.is_file() else None
    return chr(int(match[1], 16)) if match else ";"


def _read_table(path: Path) -> _Table:
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


def _rows(table: _Table, array_delimiter: str) -> Iterator[_Row]:
    with reading(table.path):
        for number, record in table.records:
            try:
                yield _row(f"{table.path.name}, line {number}", table.columns, record, array_delimiter)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None


def _row(where: str, columns: Sequence[_Column], record: Record, array_delimiter: str) -> _Row:
    if len(record) > len(columns) and any(field is not None for field in record[len(columns) :]):
        raise ValueError(f"there are {len(record)} fields, and {len(columns)} in the header")
    ids: dict[str, tuple[str, str]] = {}
    labels: list[str] = []
    type_ = None
    properties: dict[str, Any] = {}
    number = 0
    for column, field in zip(columns, record, strict=False):
        if field is None:
            continue
        if column.type == "IGNORE":
            number = int(field[:18]) if column.name == NUMBER and field.isdecimal() else number
        elif column.type == "LABEL":
            labels += [label for label in field.split(array_delimiter) if label]
        elif column.type == "TYPE":
            type_ = field
        elif column.type in ("ID", "START_ID", "END_ID"):
            ids[column.type] = (column.space, field)
            if column.type == "ID" and column.name not in ("", KEY):
                properties[column.name] = field
        else:
            properties[column.name] = _value(column, field, array_delimiter)
    return _Row(where, ids, labels, type_, properties, number)


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
    return checked_node(row.where, keys[row.ids["ID"]], row.labels, row.properties)


def _relationship(row: _Row, keys: Mapping[tuple[str, str], str]) -> Relationship:
    source, target = (_end(row, name, keys) for name in ("START_ID", "END_ID"))
    return checked_relationship(row.where, row.type, source, target, row.properties)


def _end(row: _Row, name: str, keys: Mapping[tuple[str, str], str]) -> str:
    space, id_ = _id(row, name)
    if (space, id_) not in keys:
        raise ValueError(
            f"{row.where}: no node has the id {brief(id_)}" + (f" in the id space {space}" if space else "")
        )
    return keys[space, id_]


_ARRAY_DELIMITERS = (";", "|", "\t", "~", "^", "\x1f", "\x1e", "\x1d")
ARGUMENTS = "import.args"


def write_csv_folder(graph: PropertyGraph, folder: Path) -> None:
    """Write deterministic files, all or none. Raise ConfigError if the folder is not empty, or cannot be written."""
    folder = new_folder(folder).resolve()
    delimiter = _free_delimiter(graph)
    try:
        with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
            place = Path(scratch) / "graph"
            place.mkdir()
            write_lines(place / ARGUMENTS, [*_write_tables(graph, place, delimiter)])
            place.replace(folder)
    except OSError as error:
        raise cannot_write(folder, error, ConfigError) from error


def _write_tables(graph: PropertyGraph, folder: Path, delimiter: str) -> Iterator[str]:
    """Write a file per table, and yield the arguments of the importer."""
    names: set[str] = set()
    keys = list(map(csv_text, graph.keys))
    for nodes in sorted(graph.node_tables, key=lambda table: table.labels):
        numbers = nodes.numbers.tolist()
        structure = {
            "key:ID": [keys[number] for number in numbers],
            ":LABEL": [csv_text(delimiter.join(nodes.labels)) if nodes.labels else ""] * len(numbers),
            f"{NUMBER}:IGNORE": list(map(str, numbers)),
        }
        for part in _write_table(folder, "nodes-" + "-".join(nodes.labels), names, structure, nodes.columns, delimiter):
            yield f"--nodes=./{part}"  # the importer of 2026 needs a folder
    for table in sorted(graph.relationship_tables, key=lambda table: table.type):
        structure = {
            ":START_ID": [keys[number] for number in table.sources.tolist()],
            ":END_ID": [keys[number] for number in table.targets.tolist()],
            ":TYPE": [csv_text(table.type)] * len(table.sources),
        }
        for part in _write_table(folder, f"relationships-{table.type}", names, structure, table.columns, delimiter):
            yield f"--relationships=./{part}"
    yield "--multiline-fields=true"
    if delimiter != ";":
        yield f"--array-delimiter=U+{ord(delimiter):04X}"


def _free_delimiter(graph: PropertyGraph) -> str:
    """Return a delimiter for lists and labels that occurs in none of their items."""
    used = {character for table in graph.node_tables for label in table.labels for character in label}
    for column in (column for columns in graph.all_columns() for column in columns.values()):
        for value in column.pool:
            if isinstance(value, tuple):
                used.update(character for item in value for character in value_text(item))
    if free := [delimiter for delimiter in _ARRAY_DELIMITERS if delimiter not in used]:
        return free[0]
    raise ConfigError(
        "the lists of this graph contain every delimiter that a CSV file can have", hint="save it as JSON"
    )


def _write_table(
    folder: Path,
    name: str,
    names: set[str],
    structure: Mapping[str, Sequence[str]],
    columns: Mapping[str, PropertyColumn],
    delimiter: str,
) -> Iterator[str]:
    """Write a table and yield the names of its files; a property with values of two types needs several."""
    cells: dict[str, list[tuple[str, str]]] = {}
    mixed = []
    for title in sorted(columns):
        column = columns[title].canonical()
        pool = [_cell(value, delimiter) for value in column.pool]
        cells[title] = [("", "") if code == MISSING else pool[code] for code in column.codes.tolist()]
        if len({type_ for type_, _ in pool}) > 1:
            mixed.append(cells[title])
    groups: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for row in range(len(next(iter(structure.values())))):
        groups[tuple([held[row][0] for held in mixed])].append(row)
    for rows in groups.values():
        types = {title: next((held[row][0] for row in rows if held[row][0]), "") for title, held in cells.items()}
        fields = [*structure.values(), *([text for _, text in cells[title]] for title, type_ in types.items() if type_)]
        header = [*structure, *(f"{title}:{type_}" for title, type_ in types.items() if type_)]
        file = stem = re.sub(r"[^A-Za-z0-9-]+", "_", name)[:60].strip("_-")
        number = 2
        while file.lower() in names:  # some file systems ignore case
            file, number = f"{stem}-{number}", number + 1
        names.add(file.lower())
        lines = (",".join([field[row] for field in fields]) for row in rows)
        write_lines(folder / f"{file}.csv", chain([",".join(map(csv_text, header))], lines))
        yield f"{file}.csv"


def _cell(value: Value, delimiter: str) -> tuple[str, str]:
    """Return type and text of a value."""
    if value == ("",):
        raise ConfigError("a list of one empty text looks like an empty list in CSV", hint="save the graph as JSON")
    if isinstance(value, bytes):
        return "byte[]", csv_text(delimiter.join(str(byte - 256 if byte > 127 else byte) for byte in value))
    type_ = type_name(value)
    if type_ == "bytes[]":
        raise ConfigError("a list of bytes has no place in the layout of Neo4j's importer", hint="save it as JSON")
    return type_, csv_text(delimiter.join(map(value_text, value)) if isinstance(value, tuple) else value_text(value))

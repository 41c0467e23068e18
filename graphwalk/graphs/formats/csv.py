"""Read and write folders of CSV files in the layout of Neo4j's importer."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from graphwalk.errors import ConfigError
from graphwalk.files.writing import cannot_write, new_folder
from graphwalk.graphs.formats.common import (
    node_of,
    reading,
    relationship_of,
    write_lines,
)
from graphwalk.graphs.graph import KEY, MISSING, PropertyColumn, PropertyGraph
from graphwalk.graphs.values import Value, brief, read_value, type_name, value_text

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
DELIMITER = ";"
"""Of labels and of the items of lists."""
ARGUMENTS = "import.args"
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


def _value(column: _Column, field: str) -> Any:
    """Return the value of a field. Raise ValueError if it is not of the column's type."""
    try:
        if not column.is_list:
            return read_value(column.type, field)
        return [read_value(column.type, item) for item in field.split(DELIMITER)] if field else []
    except ValueError as error:
        raise ValueError(f"column {column.name!r}, a {column.type}: {error}") from None


class _Row(NamedTuple):
    """One line: where it is, and its fields by what they mean; `ids` are pairs of space and id."""

    where: str
    ids: Mapping[str, tuple[str, str]]
    labels: Sequence[str]
    type: str | None
    properties: Mapping[str, Any]
    number: int
    """Position among the nodes if GraphWalk wrote the file, else 0."""

    def id(self, name: str) -> tuple[str, str]:
        if name not in self.ids:
            raise ValueError(f"{self.where}: :{name} is missing")
        return self.ids[name]


def read_csv_folder(folder: Path) -> PropertyGraph:
    """Return the graph of a folder. Raise ConfigError with file and line of an error.

    A node is called by its id, and by SPACE:ID where two id spaces have the same id.
    """
    with reading(folder):
        paths = [path for path in sorted(folder.iterdir()) if path.suffix.lower() == ".csv"]
        if not paths:
            raise ValueError("no CSV file is in this folder")
        rows = [row for path in paths for row in _rows(path)]
        nodes = sorted((row for row in rows if "ID" in row.ids), key=lambda row: row.number)
        keys = _keys(nodes)

        def end(row: _Row, name: str) -> str:
            space, id_ = row.id(name)
            if (space, id_) not in keys:
                place = f" in the id space {space}" if space else ""
                raise ValueError(f"{row.where}: no node has the id {brief(id_)}{place}")
            return keys[space, id_]

        return PropertyGraph.from_rows(
            (node_of(row.where, row.properties, keys[row.ids["ID"]], row.labels) for row in nodes),
            (
                relationship_of(row.where, row.properties, end(row, "START_ID"), end(row, "END_ID"), row.type or "")
                for row in rows
                if "ID" not in row.ids
            ),
        )


def _rows(path: Path) -> Iterator[_Row]:
    with reading(path):
        records = csv_records(path.read_bytes().decode("utf-8-sig"))
        columns = [_read_column(field) for field in next(records, (1, []))[1]]
        types = Counter(column.type for column in columns if column.type.isupper())
        if not types.keys() & {"ID", "START_ID", "END_ID"}:
            raise ValueError("its first line has neither :ID nor :START_ID, as the layout of Neo4j's importer has")
        needed = ("ID",) if "ID" in types else ("START_ID", "END_ID", "TYPE")
        for name in needed:
            if types[name] != 1:
                raise ValueError(f"its first line must have :{name} once")
        names = Counter(column.name for column in columns if not column.type.isupper())
        if any(count > 1 for count in names.values()):
            raise ValueError(f"the header has the column {brief(names.most_common(1)[0][0])} more than once")
        for number, record in records:
            try:
                row = _row(f"{path.name}, line {number}", columns, record)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
            if "ID" in needed:
                row.id("ID")
            yield row


def _row(where: str, columns: Sequence[_Column], record: Record) -> _Row:
    if any(field is not None for field in record[len(columns) :]):
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
            labels += [label for label in field.split(DELIMITER) if label]
        elif column.type == "TYPE":
            type_ = field
        elif column.type in ("ID", "START_ID", "END_ID"):
            ids[column.type] = (column.space, field)
            if column.type == "ID" and column.name not in ("", KEY):
                properties[column.name] = field
        else:
            properties[column.name] = _value(column, field)
    return _Row(where, ids, labels, type_, properties, number)


def _keys(nodes: Sequence[_Row]) -> dict[tuple[str, str], str]:
    """Return the keys of nodes by id space and id. Raise ValueError for a duplicate in one space."""
    places: dict[tuple[str, str], str] = {}
    for row in nodes:
        if (id_ := row.id("ID")) in places:
            raise ValueError(f"{row.where}: the id {brief(id_[1])} is there already, in {places[id_]}")
        places[id_] = row.where
    often = Counter(id_ for _, id_ in places)
    return {(space, id_): f"{space}:{id_}" if often[id_] > 1 and space else id_ for space, id_ in places}


def write_csv_folder(graph: PropertyGraph, folder: Path) -> None:
    """Write deterministic files, all or none. Raise ConfigError if the folder is not empty, or cannot be written."""
    folder = new_folder(folder).resolve()
    try:
        with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
            place = Path(scratch) / "graph"
            place.mkdir()
            write_lines(place / ARGUMENTS, [*_write_tables(graph, place)])
            place.replace(folder)
    except OSError as error:
        raise cannot_write(folder, error, ConfigError) from error


def _write_tables(graph: PropertyGraph, folder: Path) -> Iterator[str]:
    """Write a file per table, and yield the arguments of the importer."""
    names: set[str] = set()
    keys = list(map(csv_text, graph.keys))
    for nodes in sorted(graph.node_tables, key=lambda table: table.labels):
        numbers = nodes.numbers.tolist()
        structure = {
            "key:ID": [keys[number] for number in numbers],
            ":LABEL": [csv_text(_joined(nodes.labels)) if nodes.labels else ""] * len(numbers),
            f"{NUMBER}:IGNORE": list(map(str, numbers)),
        }
        # The importer of 2026 needs a folder.
        file = _write_table(folder, "nodes-" + "-".join(nodes.labels), names, structure, nodes.columns)
        yield f"--nodes=./{file}"
    for table in sorted(graph.relationship_tables, key=lambda table: table.type):
        structure = {
            ":START_ID": [keys[number] for number in table.sources.tolist()],
            ":END_ID": [keys[number] for number in table.targets.tolist()],
            ":TYPE": [csv_text(table.type)] * len(table.sources),
        }
        file = _write_table(folder, f"relationships-{table.type}", names, structure, table.columns)
        yield f"--relationships=./{file}"
    yield "--multiline-fields=true"


def _write_table(
    folder: Path,
    name: str,
    names: set[str],
    structure: Mapping[str, Sequence[str]],
    columns: Mapping[str, PropertyColumn],
) -> str:
    """Write a table and return the name of its file. Raise ConfigError for a property with values of two types."""
    fields = dict(structure)
    for title in sorted(columns):
        column = columns[title].canonical()
        types = sorted({type_name(value) for value in column.pool})
        if len(types) > 1 or any(type_.startswith("bytes") for type_ in types):
            what = f"the property {title!r} of {name} has values of the type {' and '.join(types)}"
            raise ConfigError(f"CSV cannot hold this graph: {what}", hint="save the graph as JSON")
        if types:
            pool = [csv_text(_joined(v) if isinstance(v, tuple) else value_text(v)) for v in column.pool]
            cells = ["" if code == MISSING else pool[code] for code in column.codes.tolist()]
            fields[f"{title}:{types[0]}"] = cells
    file = stem = re.sub(r"[^A-Za-z0-9-]+", "_", name)[:60].strip("_-")
    number = 2
    while file.lower() in names:  # some file systems ignore case
        file, number = f"{stem}-{number}", number + 1
    names.add(file.lower())
    lines = (",".join(row) for row in zip(*fields.values(), strict=True))
    write_lines(folder / f"{file}.csv", chain([",".join(map(csv_text, fields))], lines))
    return f"{file}.csv"


def _joined(items: Sequence[Value]) -> str:
    """Return labels or a list as one field. Raise ConfigError if it would be read as other items."""
    texts = list(map(value_text, items))
    if texts == [""] or any(DELIMITER in text for text in texts):
        raise ConfigError(f"CSV cannot hold the list {brief(items)}", hint="save the graph as JSON")
    return DELIMITER.join(texts)

"""Read CSV files, plain or in the layout of Neo4j's importer; write folders in that layout."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from graphwalk.config.graph_source import FileOptions
from graphwalk.errors import ConfigError
from graphwalk.files.writing import cannot_write, new_folder
from graphwalk.graphs.formats.common import (
    USUAL_NAMES,
    Edge,
    Entity,
    described,
    foreign_graph,
    node_of,
    note,
    reading,
    relationship_of,
    take_usual,
    usual_name,
    write_lines,
)
from graphwalk.graphs.graph import KEY, MISSING, PropertyColumn, PropertyGraph
from graphwalk.graphs.values import READERS, Value, brief, read_value, type_name, value_text

SUFFIXES = (".csv", ".tsv")
Record = list[str | None]
"""The fields of a line; None for one that is empty and not quoted."""


class _Table(NamedTuple):
    """A file: its header, and its other lines with their numbers."""

    path: Path
    header: Record
    records: list[tuple[int, Record]]

    @property
    def is_neo4j(self) -> bool:
        columns = [_COLUMN.fullmatch(field or "") for field in self.header]
        return any(column is not None and column["type"] in ("ID", "START_ID", "END_ID") for column in columns)


def read_csv(path: Path, options: FileOptions) -> PropertyGraph:
    """Return the graph of a folder, or of one file with `options.edges`.

    Raise ConfigError with file and line of an error.
    """
    with reading(path):
        paths = [path, options.edges] if options.edges else [path]
        if path.is_dir():
            paths = [file for file in sorted(path.iterdir()) if file.suffix.lower() in SUFFIXES]
        if not paths:
            raise ValueError("no CSV file is in this folder")
        tables = list(map(_read_table, paths))
        if any(table.is_neo4j for table in tables):
            return described(_neo4j_graph(tables), path.name)
        return _plain_graph(tables, options, path.name)


def _read_table(path: Path) -> _Table:
    with reading(path):
        text = path.read_bytes().decode("utf-8-sig")
        first_line = re.sub('"[^"]*"', "", text.lstrip().partition("\n")[0])
        records = csv_records(text, max(",;\t", key=first_line.count))
        return _Table(path, next(records, (1, []))[1], list(records))


def csv_records(text: str, delimiter: str = ",") -> Iterator[tuple[int, Record]]:
    """Yield every non-empty line with its number, from 1. Raise ValueError for a quote that is not closed."""
    plain_field = rf'[^{delimiter}"\r\n][^{delimiter}\r\n]*'
    field = re.compile(rf'(?:"([^"]*(?:""[^"]*)*)"|({plain_field})?)({delimiter}|\r\n|\n|\r|\Z)')
    position, line, starts = 0, 1, 1
    record: Record = []
    while position < len(text):
        match = field.match(text, position)
        if match is None:
            raise ValueError(
                f"line {line}: cannot read {brief(text[position : position + 40])}; is a quote not closed?"
            )
        quoted, plain, end = match.groups()
        record.append(plain or None if quoted is None else quoted.replace('""', '"'))
        line += text.count("\n", position, match.end())
        position = match.end()
        if end != delimiter:
            if record != [None]:
                yield starts, record
            record, starts = [], line
    if record:
        yield starts, [*record, None]


LIST_DELIMITER = ";"
"""Of labels and of the items of lists."""
ARGUMENTS = "import.args"
NUMBER = "number"
"""Name of a column that the importer ignores: the place of a node in the graph that was written."""
_STRUCTURE = ("ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE")
_OPTIONS = {"ID": ("label", "id-type"), "point": ("crs",), "time": ("timezone",), "datetime": ("timezone",)}
"""Options of a header that can be read, by the type of the column."""
_COLUMN = re.compile(
    r"(?s)(?P<name>.*):(?P<type>[A-Za-z_]+)(?:\{(?P<options>[^{}]*)\})?(?P<list>\[\])?"
    r"(?:\((?P<space>[^()]*)\))?(?:\{(?P<more>[^{}]*)\})?"
)


class _Column(NamedTuple):
    """A column of a file. `type` is one of _STRUCTURE, else a type of values in lower case."""

    name: str
    type: str = "string"
    is_list: bool = False
    space: str = ""
    options: Mapping[str, str] = {}


def _read_column(text: str | None) -> _Column:
    """Return the column for a field of a header: text without a type, ignored if empty."""
    if text is None:
        return _Column("", "IGNORE")
    if ":" not in text:
        return _Column(text)
    match = _COLUMN.fullmatch(text)
    if match is None:
        raise ValueError(f"cannot read the column {brief(text)}: expected NAME:TYPE")
    type_ = match["type"] if match["type"] in _STRUCTURE else match["type"].lower()
    if type_ not in _STRUCTURE and type_ not in READERS:
        raise ValueError(f"the column {brief(text)} has the unknown type {match['type']!r}")
    options = {}
    for entry in filter(None, f"{match['options'] or ''},{match['more'] or ''}".split(",")):
        name, _, value = entry.partition(":")
        if name.strip() not in _OPTIONS.get(type_, ()):
            raise ValueError(f"the column {brief(text)} has the unknown option {name.strip()!r}")
        options[name.strip()] = value.strip()
    return _Column(match["name"], type_, bool(match["list"]), match["space"] or "", options)


def _value(column: _Column, field: str) -> Any:
    """Return the value of a field. Raise ValueError if it is not of the column's type."""
    try:
        if not column.is_list:
            return _single_value(column, field)
        return [_single_value(column, item) for item in field.split(LIST_DELIMITER)] if field else []
    except ValueError as error:
        raise ValueError(f"column {column.name!r}, a {column.type}: {error}") from None


def _single_value(column: _Column, text: str) -> Value:
    """Return the value of a text, with the coordinate system or time zone of the header if it has none of its own."""
    if "crs" in column.options and "crs" not in text:
        text = text.replace("}", f", crs: {column.options['crs']}}}", 1)
    if "timezone" in column.options and not re.search(":.*[zZ+-]", text):
        text = _in_zone(text, column.options["timezone"])
    return read_value(column.type, text)


def _in_zone(text: str, zone: str) -> str:
    """Return a local time as one in a zone: an offset, or a name as Europe/Stockholm."""
    if zone[0] in "+-Z":
        return text + zone
    try:
        local = dt.datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
    except KeyError:
        raise ValueError(f"there is no time zone {zone!r}") from None
    return f"{local.isoformat()}[{zone}]"


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


def _neo4j_graph(tables: Sequence[_Table]) -> PropertyGraph:
    """Return the graph of files in the layout of Neo4j's importer.

    A node is called by its id, and by SPACE:ID where two id spaces have the same id.
    """
    rows = [row for table in tables for row in _rows(table)]
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


def _rows(table: _Table) -> Iterator[_Row]:
    with reading(table.path):
        if not table.is_neo4j:
            raise ValueError("its first line has neither :ID nor :START_ID, as those of the other files have")
        columns = [_read_column(field) for field in table.header]
        types = Counter(column.type for column in columns if column.type in _STRUCTURE)
        for name in ("ID",) if "ID" in types else ("START_ID", "END_ID", "TYPE"):
            if types[name] != 1:
                raise ValueError(f"its first line must have :{name} once")
        _check_names([column.name for column in columns if column.type not in _STRUCTURE])
        for number, record in table.records:
            try:
                row = _row(f"{table.path.name}, line {number}", columns, record)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
            if "ID" in types:
                row.id("ID")
            yield row


def _check_names(names: Sequence[str]) -> None:
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ValueError(f"the header has the column {brief(twice[0])} more than once")


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
            labels += [label for label in field.split(LIST_DELIMITER) if label]
        elif column.type == "TYPE":
            type_ = field
        elif column.type in ("ID", "START_ID", "END_ID"):
            ids[column.type] = (column.space, field)
            if column.type == "ID" and column.name not in ("", KEY):
                properties[column.name] = read_value(column.options.get("id-type", "string").lower(), field)
            labels += filter(None, [column.options.get("label")])
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


_GENERIC = ("nodes", "vertices", "entities", "edges", "links", "relationships", "relations")
"""Names of plain files that are no label and no type."""
_DIRECTIONS = {"Directed", "Undirected"}
"""Values of the column `Type` of Gephi, which is no type."""
_TIMES = ("start", "end")
"""Usual names of ends that are times in a table."""
_WHOLE, _CLOCK = r"-?(?:0|[1-9]\d{0,17})", r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
_GUESSES = {
    "long": _WHOLE,
    "double": rf"{_WHOLE}(?:\.\d+)?(?:[eE][+-]?\d+)?",
    "boolean": "(?i:true|false)",
    "date": r"\d{4}-\d\d-\d\d",
    "localdatetime": _CLOCK,
    "datetime": rf"{_CLOCK}(?:Z|[+-]\d\d:?\d\d)",
}
"""Forms of the fields of a plain column by its type; the first that all have counts. (007 is no number.)"""


def _plain_graph(tables: Sequence[_Table], options: FileOptions, file: str) -> PropertyGraph:
    """Return the graph of files whose columns have usual names, and note how each file was read."""
    nodes, edges, ways = list[Entity](), list[Edge](), set[str]()
    for table in tables:
        with reading(table.path):
            rows, key = _plain_rows(table)
            name = "" if table.path.stem.lower() in _GENERIC else table.path.stem
            is_gephi = "Type" in table.header and all(fields.get("type") in _DIRECTIONS for _, fields in rows)
            for where, fields in rows:
                if key is None:
                    if is_gephi:
                        ways.add(fields.pop("type"))
                    if name and not options.type_from and not usual_name(fields, "type"):
                        fields["type"] = name
                    edges.append((where, fields, take_usual(fields, "source"), take_usual(fields, "target")))
                else:
                    if "labels" in fields:
                        fields["labels"] = fields["labels"].split(LIST_DELIMITER)
                    if name and not options.label_from and not usual_name(fields, "labels"):
                        fields["labels"] = name
                    id_ = fields.get(key)
                    if key in USUAL_NAMES["key"]:  # another column is a property too
                        fields.pop(key, None)
                    nodes.append((where, fields, id_))
    if len(ways) > 1:
        raise ValueError("directed and undirected relationships are mixed; put them into two graphs")
    return foreign_graph(nodes, edges, options, file, directed="Undirected" not in ways)


def _plain_rows(table: _Table) -> tuple[list[tuple[str, dict[str, Any]]], str | None]:
    """Return the lines with their places, and the column with the keys of nodes; None if they are relationships."""
    header = [name or "" for name in table.header]
    lower = [name.lower() for name in header]
    source, target, id_ = (
        next((name for name in USUAL_NAMES[what] if name in lower and name not in _TIMES), None)
        for what in ("source", "target", "key")
    )
    is_edges = source is not None and target is not None
    usual = {*USUAL_NAMES["type"], source, target} if is_edges else {*USUAL_NAMES["labels"], id_}
    header = [one if one in usual else name for name, one in zip(header, lower, strict=True)]
    key = None
    if not is_edges:
        first_id = next((name for name in header[:1] if name.lower().endswith("id")), None)
        key = id_ or first_id or next((name for name in header if name.lower() == "name"), None)
        if key is None:
            names, usual_keys = ", ".join(map(brief, header)), ", ".join(USUAL_NAMES["key"])
            raise ValueError(
                f"its columns {names} have no usual names: nodes have {usual_keys}, a first column that ends in id, or "
                "name; relationships source and target; in the layout of Neo4j's importer :ID, or :START_ID and :END_ID"
            )
    if "" in header:
        raise ValueError(f"line 1: column {header.index('') + 1} has no name; name it, or remove it")
    _check_names(header)
    for number, record in table.records:
        if any(field is not None for field in record[len(header) :]):
            raise ValueError(f"line {number}: there are {len(record)} fields, and {len(header)} in the header")
    rows = [(f"{table.path.name}, line {number}", dict[str, Any]()) for number, _ in table.records]
    types = []
    for place, name in enumerate(header):
        texts = [record[place] if place < len(record) else None for _, record in table.records]
        type_ = "string" if name in usual or name == key else _guess(texts)
        types += [] if name in (source, target, key) else [f"{name}: {type_}"]
        for (_, fields), text in zip(rows, texts, strict=True):
            if text:
                fields[name] = read_value(type_, text)
    ends = f"relationships, ends: {source}, {target}" if is_edges else f"nodes, key: {key}"
    note(f"{table.path.name}: {'; '.join([ends, *types])}")
    return rows, key


def _guess(texts: Sequence[str | None]) -> str:
    """Return the type of a plain column: the first that can read all its fields."""
    fields = [text for text in texts if text]
    for type_, form in _GUESSES.items():
        if fields and all(re.fullmatch(form, field, re.ASCII) for field in fields):
            try:
                for field in fields:
                    read_value(type_, field)
            except ValueError:
                continue
            return type_
    return "string"


def csv_text(field: str) -> str:
    """Return a field, quoted if necessary."""
    return field if _PLAIN.fullmatch(field) else '"' + field.replace('"', '""') + '"'


_PLAIN = re.compile(r"[^\s,\"'](?:[^\r\n,\"']*[^\s,\"'])?")


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
    if texts == [""] or any(LIST_DELIMITER in text for text in texts):
        raise ConfigError(f"CSV cannot hold the list {brief(items)}", hint="save the graph as JSON")
    return LIST_DELIMITER.join(texts)

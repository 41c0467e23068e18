"""Read CSV files, plain or in the layout of Neo4j's importer; write folders in that layout."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from graphwalk.config.graph_source import FileOptions
from graphwalk.errors import ConfigError
from graphwalk.files.writing import new_folder
from graphwalk.graphs.formats.common import (
    USUAL_NAMES,
    Edge,
    Entity,
    graph_of,
    has_usual,
    note,
    reading,
    write_lines,
)
from graphwalk.graphs.graph import KEY, MISSING, PropertyColumn, PropertyGraph
from graphwalk.graphs.values import READERS, Value, brief, read_value, type_name, value_text

SUFFIXES = (".csv", ".tsv")
Record = list[str | None]
"""The fields of a line; None for one that is empty and not quoted."""


class _Table(NamedTuple):
    """A file: its header, and its other lines with their numbers; each has a field for every column."""

    path: Path
    header: Record
    records: list[tuple[int, Record]]

    @property
    def is_neo4j(self) -> bool:
        return any(re.search(r":(START_|END_)?ID\b", field or "") for field in self.header)


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
            numbered = sorted((row for table in tables for row in _numbered(table)), key=lambda row: row[0])
            things = [thing for _, thing in numbered]
        else:
            things = [thing for table in tables for thing in _plain_things(table, options)]
        nodes = [thing for thing in things if isinstance(thing, Entity)]
        edges = [thing for thing in things if isinstance(thing, Edge)]
        return graph_of(nodes, edges, options, path.name)


def _read_table(path: Path) -> _Table:
    with reading(path):
        text = path.read_bytes().decode("utf-8-sig")
        first_line = re.sub('"[^"]*"', "", text.lstrip().partition("\n")[0])
        lines = csv_records(text, max(",;\t", key=first_line.count))
        _, header = next(lines, (1, []))
        records = []
        for number, record in lines:
            if any(field is not None for field in record[len(header) :]):
                raise ValueError(f"line {number}: there are {len(record)} fields, and {len(header)} in the header")
            records.append((number, [*record, *[None] * len(header)][: len(header)]))
        return _Table(path, header, records)


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
    if ":" not in text:
        return _Column(text)
    match = _COLUMN.fullmatch(text)
    if match is None:
        raise ValueError(f"cannot read the column {brief(text)}: expected NAME:TYPE, without options in braces")
    type_ = match["type"] if match["type"] in _STRUCTURE else match["type"].lower()
    if type_ not in _STRUCTURE and type_ not in READERS:
        raise ValueError(f"the column {brief(text)} has the unknown type {match['type']!r}")
    return _Column(match["name"], type_, bool(match["list"]), match["space"] or "")


def _value(place: str, column: _Column, field: str) -> Any:
    """Return the value of a field. Raise ValueError with its place if it is not of the column's type."""
    try:
        if not column.is_list:
            return read_value(column.type, field)
        return [read_value(column.type, text) for text in (field.split(LIST_DELIMITER) if field else ())]
    except ValueError as error:
        raise ValueError(f"{place}: column {column.name!r}, a {column.type}: {error}") from None


def _numbered(table: _Table) -> Iterator[tuple[int, Entity | Edge]]:
    """Yield the nodes or the relationships of a file in the layout of Neo4j's importer, with a number to sort them by.

    The key of a node is its id, with the id space before it.
    """
    with reading(table.path):
        columns = [_read_column(field) for field in table.header]
        types = Counter(column.type for column in columns)
        needed = ("START_ID", "END_ID", "TYPE") if "START_ID" in types else ("ID",)
        for name in needed:
            if types[name] != 1:
                raise ValueError(f"its first line must have :{name} once, as in the layout of Neo4j's importer")
        _check_names([column.name for column in columns if column.type not in _STRUCTURE])
        for line, record in table.records:
            structure, labels, properties, number = dict[str, str](), list[str](), dict[str, Any](), 0
            for column, field in zip(columns, record, strict=True):
                if field is None:
                    continue
                if column.type == "LABEL":
                    labels += filter(None, field.split(LIST_DELIMITER))
                elif column.type == "IGNORE":
                    number = int(field) if column.name == NUMBER and field.isdecimal() else number
                elif column.type in _STRUCTURE:
                    structure[column.type] = ":".join(filter(None, (column.space, field)))
                    if column.type == "ID" and column.name not in ("", KEY):
                        properties[column.name] = field
                else:
                    properties[column.name] = _value(f"line {line}", column, field)
            if missing := [name for name in needed if name not in structure]:
                raise ValueError(f"line {line}: :{missing[0]} is missing")
            where = f"{table.path.name}, line {line}"
            if "ID" in structure:
                yield number, Entity(where, properties, structure["ID"], labels)
            else:
                yield 0, Edge(where, properties, structure["START_ID"], structure["END_ID"], structure["TYPE"])


def _check_names(names: Sequence[str]) -> None:
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ValueError(f"the header has the column {brief(twice[0])} more than once")


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


def _plain_things(table: _Table, options: FileOptions) -> Iterator[Entity | Edge]:
    """Yield the nodes or the relationships of a file whose columns have usual names, and note how it was read."""
    with reading(table.path):
        header = [name or "" for name in table.header]
        lower = [name.lower() for name in header]
        source, target, id_ = (
            next((name for name in USUAL_NAMES[what] if name in lower and name not in _TIMES), "")
            for what in ("source", "target", "key")
        )
        is_edges = bool(source and target)
        usual = {source, target, *USUAL_NAMES["type"]} if is_edges else {id_, *USUAL_NAMES["labels"]}
        header = [one if one in usual else name for name, one in zip(header, lower, strict=True)]
        if "" in header:
            raise ValueError(f"line 1: column {header.index('') + 1} has no name; name it, or remove it")
        _check_names(header)
        first_id = next((name for name in header[:1] if name.lower().endswith("id")), "")
        key = id_ or first_id or next((name for name in header if name.lower() == "name"), "")
        if not is_edges and not key:
            raise ValueError(
                f"no column of {', '.join(map(brief, header))} is named as usual: nodes have an id or a name, "
                "relationships source and target, in the layout of Neo4j's importer :ID, or :START_ID and :END_ID"
            )
        structure = (source, target) if is_edges else (key,)
        columns, types = dict[str, Sequence[Any]](), list[str]()
        for place, name in enumerate(header):
            texts = [record[place] or None for _, record in table.records]
            column_type, columns[name] = ("string", texts) if name in {*usual, key} else _guessed(texts)
            types += [] if name in structure else [f"{name}: {column_type}"]
        kind = "relationships, ends" if is_edges else "nodes, key"
        note(f"{table.path.name}: {'; '.join([f'{kind}: ' + ', '.join(structure), *types])}")
        stem = None if table.path.stem.lower() in _GENERIC else table.path.stem
        has_directions = "Type" in table.header and _DIRECTIONS.issuperset(columns["type"])
        for (line, _), *values in zip(table.records, *columns.values(), strict=True):
            where = f"{table.path.name}, line {line}"
            fields = {name: value for name, value in zip(columns, values, strict=True) if value is not None}
            if is_edges:
                directed = not has_directions or fields.pop("type") == "Directed"
                type_ = None if options.type_from or has_usual(fields, "type") else stem
                yield Edge(where, fields, fields.pop(source, None), fields.pop(target, None), type_, directed)
            else:
                if "labels" in fields:
                    fields["labels"] = fields["labels"].split(LIST_DELIMITER)
                labels = None if options.label_from or has_usual(fields, "labels") else stem
                yield Entity(where, fields, fields.pop(key, None) if key == id_ else fields.get(key), labels)


def _guessed(texts: Sequence[str | None]) -> tuple[str, Sequence[Value | None]]:
    """Return the first type that can read all texts of a plain column, and their values."""
    for type_, form in _GUESSES.items():
        if any(texts) and all(re.fullmatch(form, text, re.ASCII) for text in texts if text):
            with suppress(ValueError):
                return type_, [read_value(type_, text) if text else None for text in texts]
    return "string", texts


def csv_text(field: str) -> str:
    """Return a field, quoted if necessary."""
    return field if _PLAIN.fullmatch(field) else '"' + field.replace('"', '""') + '"'


_PLAIN = re.compile(r"[^\s,\"'](?:[^\r\n,\"']*[^\s,\"'])?")


def write_csv_folder(graph: PropertyGraph, folder: Path) -> None:
    """Write deterministic files. Raise ConfigError if the folder is not empty, or cannot be written."""
    files = dict(_files(graph))  # before anything is written: CSV may not hold the graph
    new_folder(folder)
    for name, columns in files.items():
        header = ",".join(map(csv_text, columns))
        write_lines(folder / name, chain([header], map(",".join, zip(*columns.values(), strict=True))))
    # The importer of 2026 needs a folder.
    arguments = [f"--{name.partition('-')[0]}=./{name}" for name in files]
    write_lines(folder / ARGUMENTS, [*arguments, "--multiline-fields=true"])


def _files(graph: PropertyGraph) -> Iterator[tuple[str, dict[str, Sequence[str]]]]:
    """Yield the name of a file for every table, and its fields by column, quoted."""
    names: set[str] = set()
    keys = list(map(csv_text, graph.keys))
    for nodes in sorted(graph.node_tables, key=lambda table: table.labels):
        numbers = nodes.numbers.tolist()
        structure = {
            "key:ID": [keys[number] for number in numbers],
            ":LABEL": [csv_text(_joined(nodes.labels)) if nodes.labels else ""] * len(numbers),
            f"{NUMBER}:IGNORE": list(map(str, numbers)),
        }
        name = _file_name("nodes-" + "-".join(nodes.labels), names)
        yield name, structure | _property_fields(name, nodes.columns)
    for table in sorted(graph.relationship_tables, key=lambda table: table.type):
        structure = {
            ":START_ID": [keys[number] for number in table.sources.tolist()],
            ":END_ID": [keys[number] for number in table.targets.tolist()],
            ":TYPE": [csv_text(table.type)] * len(table.sources),
        }
        name = _file_name(f"relationships-{table.type}", names)
        yield name, structure | _property_fields(name, table.columns)


def _file_name(table: str, names: set[str]) -> str:
    """Return a name that is not among `names`, and add it; some file systems ignore case."""
    name = stem = re.sub(r"[^A-Za-z0-9-]+", "_", table)[:60].strip("_-")
    number = 2
    while name.lower() in names:
        name, number = f"{stem}-{number}", number + 1
    names.add(name.lower())
    return f"{name}.csv"


def _property_fields(file: str, columns: Mapping[str, PropertyColumn]) -> dict[str, Sequence[str]]:
    """Return the fields of each property. Raise ConfigError for one with values of two types."""
    fields = dict[str, Sequence[str]]()
    for title in sorted(columns):
        column = columns[title].canonical()
        types = sorted({type_name(value) for value in column.pool})
        if len(types) > 1 or any(type_.startswith("bytes") for type_ in types):
            what = f"the property {title!r} of {file} has values of the type {' and '.join(types)}"
            raise ConfigError(f"CSV cannot hold this graph: {what}", hint="save the graph as JSON")
        if types:
            pool = [csv_text(_joined(v) if isinstance(v, tuple) else value_text(v)) for v in column.pool]
            fields[f"{title}:{types[0]}"] = ["" if code == MISSING else pool[code] for code in column.codes.tolist()]
    return fields


def _joined(items: Sequence[Value]) -> str:
    """Return labels or a list as one field. Raise ConfigError if it would be read as other items."""
    texts = list(map(value_text, items))
    if texts == [""] or any(LIST_DELIMITER in text for text in texts):
        raise ConfigError(f"CSV cannot hold the list {brief(items)}", hint="save the graph as JSON")
    return LIST_DELIMITER.join(texts)

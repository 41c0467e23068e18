"""Read and write folders of CSV files in the layout of Neo4j's importer."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import Field, field_validator

from graphwalk.config.strict import Strict
from graphwalk.config.yaml_files import YamlFile, validate
from graphwalk.errors import ConfigError
from graphwalk.files import check_link, make_folder, write_whole
from graphwalk.graphs.formats.common import (
    apart_from_key,
    brief,
    checked_header,
    checked_labels,
    checked_properties,
    checked_text,
    header,
    open_text,
    read_point_text,
    read_text,
    read_value,
    reading,
    type_name,
    value_text,
    without_packing,
    write_lines,
)
from graphwalk.types.graph import MISSING, Column, Node, PropertyGraph, Relationship
from graphwalk.types.values import Value

Record = list[str | None]
"""The fields of a line; None for one that is empty and not quoted."""


def csv_records(text: str, delimiter: str = ",", quote: str = '"') -> Iterator[tuple[int, Record]]:
    """Yield every non-empty line with its number, from 1. Raise ValueError for a quote that is not closed."""
    q, d = re.escape(quote), re.escape(delimiter)
    field = re.compile(rf"(?:{q}([^{q}]*(?:{q}{q}[^{q}]*)*){q}|([^{d}{q}\r\n][^{d}\r\n]*)?)({d}|\r\n|\n|\r|\Z)")
    position, line, starts = 0, 1, 1
    record: Record = []
    while position < len(text):
        match = field.match(text, position)
        if match is None:
            raise ValueError(
                f"line {line}: cannot read {brief(text[position : position + 40])}; is a quote not closed?"
            )
        quoted, plain, end = match.groups()
        record.append(plain or None if quoted is None else quoted.replace(quote * 2, quote))
        line += text.count("\n", position, match.end())
        position = match.end()
        if end != delimiter:
            if record != [None]:
                yield starts, record
            record, starts = [], line
    if record:
        yield starts, [*record, None]


def csv_text(field: str) -> str:
    """Return a field, quoted if necessary."""
    return field if _PLAIN.fullmatch(field) else '"' + field.replace('"', '""') + '"'


_PLAIN = re.compile(r"[^\s,\"'](?:[^\r\n,\"']*[^\s,\"'])?")
MANIFEST = "import.yaml"
NUMBER = "number"
"""Name of a column that the importer ignores: the place of a node in the graph that was written."""
_STRUCTURE = ("ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE")
_COLUMN = re.compile(
    r"(?s)(?P<name>.*):(?P<type>[A-Za-z_]+)(?P<list>\[\])?(?:\((?P<space>[^()]*)\))?(?P<options>\{[^{}]*\})?"
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
    match = _COLUMN.fullmatch(text)
    if match is None:
        return _Column(text)
    type_ = match["type"] if match["type"] in _STRUCTURE else match["type"].lower()
    entries = (entry.partition(":") for entry in (match["options"] or "{}")[1:-1].split(",") if entry.strip())
    options = {name.strip().lower(): value.strip() for name, _, value in entries}
    return _Column(match["name"], type_, bool(match["list"]), match["space"] or "", options)


class _Files(Strict):
    """Files with the same columns; the first of them begins with the header, and may hold nothing else."""

    files: list[str] = Field(min_length=1)

    @field_validator("files")
    @classmethod
    def _inside(cls, names: list[str]) -> list[str]:
        for name in names:
            if not name or "/" in name or "\\" in name or name.startswith("."):
                raise ValueError(f"{name!r} is not the name of a file in the folder")
        return names


class NodeFiles(_Files):
    """Files of nodes; `labels` are added to those of the column :LABEL."""

    labels: list[str] = Field(default_factory=list)


class RelationshipFiles(_Files):
    """`type` is that of relationships for which the column :TYPE gives none."""

    type: str | None = None


class CsvManifest(Strict):
    """The content of `import.yaml`; without that file, headers distinguish nodes and relationships."""

    nodes: list[NodeFiles] = Field(default_factory=list)
    relationships: list[RelationshipFiles] = Field(default_factory=list)
    delimiter: str = Field(",", min_length=1, max_length=1)
    array_delimiter: str = Field(";", min_length=1, max_length=1)
    quote: str = Field('"', min_length=1, max_length=1)
    made: dict[str, Any] = Field(default_factory=dict)
    """How GraphWalk made the graph: version, seed and spec."""


def _value(column: _Column, field: str, array_delimiter: str) -> Any:
    """Return the value of a field. Raise ValueError if it is not of the column's type."""
    try:
        if not column.is_list:
            return _single(column, field)
        items = field.split(array_delimiter) if field else []
        if column.type != "byte":
            return [_single(column, item) for item in items]
        numbers = [int(item) for item in items if len(item) < 6]
        if len(numbers) < len(items) or not all(-128 <= number < 256 for number in numbers):
            raise ValueError(f"{brief(items)} are not bytes")
        return bytes(number % 256 for number in numbers)
    except KeyError:
        raise ValueError(f"the column {column.name!r} has the unknown type {column.type!r}") from None
    except ValueError as error:
        raise ValueError(f"column {column.name!r}, a {column.type}: {error}") from None


def _single(column: _Column, text: str) -> Value:
    if column.type == "point":
        return read_point_text(text, column.options)
    try:
        return read_value(column.type, text)
    except ValueError:
        if column.type not in ("time", "datetime") or "timezone" not in column.options:
            raise
        return read_value(column.type, text + column.options["timezone"])


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

    A node is called by its id, and by SPACE:ID where two id spaces have the same id; without an id, by its number.
    """
    manifest = _read_manifest(folder)
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
    """Yield the lines of files below their header, which is in the first of them."""
    columns: list[_Column] = []
    for path in (folder / name for name in files.files):
        check_link(path, ConfigError)
        with reading(path):
            for number, record in csv_records(read_text(path), manifest.delimiter, manifest.quote):
                try:
                    if columns:
                        yield _row(f"{path.name}, line {number}", columns, record, files, manifest)
                    else:
                        columns = [_read_column(field) for field in record]
                        _check_columns(columns, isinstance(files, NodeFiles))
                except ValueError as error:
                    raise ValueError(f"line {number}: {error}") from None
    if not columns:
        raise ConfigError(f"cannot read the graph {folder / files.files[0]}: it is empty")


def _check_columns(columns: list[_Column], nodes: bool) -> None:
    structure = Counter(column.type for column in columns if column.type.isupper())
    for name in () if nodes else ("START_ID", "END_ID"):
        if structure[name] != 1:
            raise ValueError(f"a header of relationships has :{name} once")
    for name in ("ID", "TYPE"):
        if structure[name] > 1:
            raise ValueError(f"the header has :{name} more than once")
    names = Counter(column.name for column in columns if not column.type.isupper())
    if any(count > 1 for count in names.values()):
        raise ValueError(f"the header has the column {brief(names.most_common(1)[0][0])} more than once")


def _row(
    where: str, columns: Sequence[_Column], record: Record, files: NodeFiles | RelationshipFiles, manifest: CsvManifest
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
            properties[column.name] = _value(column, field, manifest.array_delimiter)
    return _Row(where, ids, labels, type_, properties, number)


def _keys(rows: Sequence[_Row]) -> dict[tuple[str, str], str]:
    """Return the keys of nodes by id space and id. Raise ValueError for a duplicate id in one space."""
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


_HEADER_FILE = re.compile(r"(.+?)[-_.]?headers?", re.IGNORECASE)
_LONGEST_HEADER = _LONGEST_MANIFEST = 2**20
"""Characters."""


def _read_manifest(folder: Path) -> CsvManifest:
    """Return the manifest of a folder, or make it from the headers of its files.

    Files `people-header.csv` and `people*.csv` belong together; any other file has a header of its own. Raise
    ConfigError if the folder or its manifest cannot be used.
    """
    if not folder.is_dir():
        reason = "it is not a folder" if folder.exists() else "the folder does not exist; check the path"
        raise ConfigError(f"cannot read the graph {folder}: {reason}")
    path = folder / MANIFEST
    if path.exists():
        check_link(path, ConfigError)
        with reading(path):
            if path.stat().st_size > _LONGEST_MANIFEST:
                raise ValueError("it is too long for a list of files")
            read = YamlFile.read(path)
            return validate(CsvManifest, read.data, str(path), read.tree)
    csv_files = sorted(path.name for path in folder.iterdir() if without_packing(path).suffix.lower() == ".csv")
    if not csv_files:
        raise ConfigError(
            f"cannot read the graph {folder}: no CSV file is in this folder",
            hint=f"give files in the layout of Neo4j's importer the suffix .csv, or list them in {MANIFEST}",
        )
    manifest = CsvManifest()
    for names in _files_by_table(csv_files):
        path = folder / names[0]
        check_link(path, ConfigError)
        with reading(path):
            with open_text(path) as file:
                start = file.read(_LONGEST_HEADER)
            record: Record = next((record for _, record in csv_records(start)), [])
            columns = {_read_column(field).type for field in record}
            if columns & {"START_ID", "END_ID"}:
                manifest.relationships.append(RelationshipFiles(files=names))
            elif columns & {"ID", "LABEL"}:
                manifest.nodes.append(NodeFiles(files=names))
            else:
                raise ValueError("its first line has neither :ID nor :START_ID, as the layout of Neo4j's importer has")
    return manifest


def _files_by_table(names: list[str]) -> list[list[str]]:
    headers = {m[1]: name for name in names if (m := _HEADER_FILE.fullmatch(_stem(name)))}
    groups: defaultdict[str, list[str]] = defaultdict(list, {name: [name] for name in headers.values()})
    for name in names:
        if name in groups:
            continue
        stem = max((stem for stem in headers if _stem(name).startswith(stem)), key=len, default=None)
        groups[headers[stem] if stem is not None else name].append(name)
    return list(groups.values())


def _stem(name: str) -> str:
    return without_packing(Path(name)).stem


_ARRAY_DELIMITERS = (";", "|", "\t", "~", "^", "\x1f", "\x1e", "\x1d")
ARGUMENTS = "import.args"


def write_csv_folder(graph: PropertyGraph, folder: Path) -> None:
    """Write deterministic files. Raise ConfigError if the folder holds other files, or cannot be written.

    The manifest is written last: a folder without it was not finished.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MANIFEST).is_file():
        raise ConfigError(f"{folder} holds something else", hint="name a new folder, or an empty one")
    delimiter = _free_delimiter(graph)
    make_folder(folder, parents=False)
    (folder / MANIFEST).unlink(missing_ok=True)
    manifest = CsvManifest(array_delimiter=delimiter, made=header(graph))
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
            manifest.nodes.append(NodeFiles(files=[part]))
    for table in sorted(graph.relationship_tables, key=lambda table: table.type):
        structure = {
            ":START_ID": [keys[number] for number in table.sources.tolist()],
            ":END_ID": [keys[number] for number in table.targets.tolist()],
            ":TYPE": [csv_text(table.type)] * len(table.sources),
        }
        for part in _write_table(folder, f"relationships-{table.type}", names, structure, table.columns, delimiter):
            manifest.relationships.append(RelationshipFiles(files=[part]))
    arguments = [f"--nodes=./{files.files[0]}" for files in manifest.nodes]  # the importer of 2026 needs a folder
    arguments += [f"--relationships=./{files.files[0]}" for files in manifest.relationships]
    arguments += ["--multiline-fields=true"]
    arguments += [f"--array-delimiter=U+{ord(delimiter):04X}"] if delimiter != ";" else []
    write_lines(folder / ARGUMENTS, arguments)
    text = yaml.safe_dump(manifest.model_dump(exclude_defaults=True), allow_unicode=True, sort_keys=False)
    write_whole(folder / MANIFEST, [text])


def _free_delimiter(graph: PropertyGraph) -> str:
    """Return a delimiter for lists and labels that occurs in none of their items."""
    used = {character for table in graph.node_tables for label in table.labels for character in label}
    for column in (column for columns in graph.all_columns() for column in columns.values()):
        for value in column.pool:
            if isinstance(value, tuple):
                used.update(character for item in value for character in value_text(item))
    for delimiter in _ARRAY_DELIMITERS:
        if delimiter not in used:
            return delimiter
    raise ConfigError("the lists of this graph use every character that could part them", hint="save it as JSON")


def _write_table(
    folder: Path,
    name: str,
    names: set[str],
    structure: Mapping[str, Sequence[str]],
    columns: Mapping[str, Column],
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

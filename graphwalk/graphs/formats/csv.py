"""Read CSV files, plain or in the layout of Neo4j's importer; write folders in that layout."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from graphwalk.config.graph_source import POSITION, FileOptions
from graphwalk.errors import ConfigError, counted
from graphwalk.files.writing import new_folder
from graphwalk.graphs.formats.build import (
    LABELS,
    Edges,
    Nodes,
    end_fields,
    graph_of,
    key_field,
    name_field,
    no_relationships,
    text_fields,
    usual_fields,
)
from graphwalk.graphs.formats.common import Edge, Entity, Mistakes, composed, note, read_text, reading, write_lines
from graphwalk.graphs.graph import KEY, MISSING, PropertyColumn, PropertyGraph
from graphwalk.graphs.values import READERS, Value, brief, read_value, type_name, value_text

SUFFIXES = (".csv", ".tsv")
Record = list[str | None]
"""The fields of a line; None for one that is empty and not quoted."""
_NODE_FILES = ("nodes", "vertices", "entities")
_EDGE_FILES = ("edges", "links", "relationships", "relations")
"""Names of files that tell what they hold; they are no label and no type."""
_HEADER_FILE = re.compile(r"(.+)[-_.]header", re.IGNORECASE)
_IMPORTER = re.compile(r":(START_|END_)?ID\b")
"""The mark of the layout of Neo4j's importer in a header."""
_APOC = ("_id", "_labels", "_start", "_end", "_type")
"""Columns of APOC's file with nodes and relationships."""


class _Table(NamedTuple):
    """A file: its header, and its other lines with their numbers; each has a field for every column."""

    name: str
    stem: str
    delimiter: str
    header: Record
    records: list[tuple[int, Record]]

    @property
    def is_neo4j(self) -> bool:
        return any(_IMPORTER.search(column or "") for column in self.header)

    @property
    def columns(self) -> list[str]:
        return [column for column in self.header if column]

    @property
    def own_name(self) -> str | None:
        """The name of the file as a label or a type, None for `nodes.csv` and the like."""
        return None if self.stem.lower() in (*_NODE_FILES, *_EDGE_FILES) else self.stem


def read_csv(path: Path, options: FileOptions) -> PropertyGraph:
    """Return the graph of a folder, or of one file with `options.edges`.

    Raise ConfigError with file and line of an error.
    """
    with reading(path):
        mistakes = Mistakes(skip=options.skip_bad)
        nodes: list[Nodes] = []
        edges: list[Edges] = []
        tables = _read_tables(path, options, mistakes)
        if any(table.is_neo4j for table in tables):
            nodes, edges = _importer_parts(tables, mistakes)
        else:
            for table in tables:
                is_edge_file = options.edges is not None and table is tables[-1]
                if is_edge_file or _has_relationships(table, options):
                    edges.append(_plain_edges(table, options))
                else:
                    nodes.append(_plain_nodes(table, options))
        if not edges:
            mistakes.end(path.name)
            raise no_relationships("", dict.fromkeys(name for table in tables for name in table.columns))
        return graph_of(nodes, edges, options, path.name, mistakes=mistakes)


def _read_tables(path: Path, options: FileOptions, mistakes: Mistakes) -> list[_Table]:
    """Return the tables of a folder or of one or two files; a file of APOC is two."""
    if not path.is_dir():
        files = [path, options.edges] if options.edges else [path]
        tables = [_read_table(file, None, options, mistakes) for file in files]
    else:
        tables = []
        for file, header_file in _files_of(path):
            tables.append(_read_table(file, header_file, options, mistakes))

    parts: list[_Table] = []
    for table in tables:
        if not table.header.count("_start") or not {*_APOC} <= {*table.header}:
            parts.append(table)
            continue
        start = table.header.index("_start")
        nodes = [(line, record) for line, record in table.records if record[start] is None]
        edges = [(line, record) for line, record in table.records if record[start] is not None]
        parts.append(table._replace(stem="nodes", records=nodes))
        parts.append(table._replace(stem="edges", records=edges))
    return parts


def _files_of(folder: Path) -> list[tuple[Path, Path | None]]:
    """Return the files of a folder, each with the file of its header if that is not its own first line.

    `actors-header.csv` is the header of `actors.csv`, `actors-part1.csv` and `actors-part2.csv`.
    """
    files = [file for file in sorted(folder.iterdir()) if file.suffix.lower() in SUFFIXES]
    if not files:
        raise ValueError("no CSV file is in this folder")
    packed = [file.name for file in sorted(folder.iterdir()) if file.suffix.lower() in (".gz", ".zip")]
    if packed:
        raise ValueError(f"packed files cannot be read; unpack {', '.join(packed)}")

    headers: dict[str, Path] = {}
    for file in files:
        if match := _HEADER_FILE.fullmatch(file.stem):
            headers[match[1]] = file
    pairs: list[tuple[Path, Path | None]] = []
    used: set[Path] = set()
    for file in files:
        if file in headers.values():
            continue
        stems = [stem for stem in headers if re.match(rf"{re.escape(stem)}(?![A-Za-z])", file.stem)]
        header_file = headers[max(stems, key=len)] if stems else None
        pairs.append((file, header_file))
        if header_file:
            used.add(header_file)
    pairs.extend((file, None) for file in headers.values() if file not in used)
    return pairs


def _read_table(path: Path, header_file: Path | None, options: FileOptions, mistakes: Mistakes) -> _Table:
    with reading(path):
        text = read_text(path)
        stem = path.stem
        if header_file is not None:
            first_lines = read_text(header_file)
            delimiter = _delimiter_of(first_lines)
            _, header = next(csv_records(first_lines, delimiter), (1, []))
            match = _HEADER_FILE.fullmatch(header_file.stem)
            stem = match[1] if match else stem
            lines = csv_records(text, delimiter)
        else:
            if match := re.match(r"sep=(.)\r?\n", text):  # a line of Excel
                text = "\n" + text[match.end() :]
            delimiter = match[1] if match else _delimiter_of(text)
            first_line, _, _ = text.lstrip().partition("\n")
            lines = csv_records(text, delimiter, trimmed=not _IMPORTER.search(first_line))
            _, header = next(lines, (1, []))

        width = len(header)
        records = []
        nulls = 0
        for number, record in lines:
            with mistakes:
                if any(field is not None for field in record[width:]):
                    raise ValueError(
                        f"{path.name}, line {number}: there are {len(record)} fields, and {width} in the header"
                    )
                record = record[:width] + [None] * (width - len(record))
                if options.null:
                    nulls += sum(field in options.null for field in record)
                    record = [None if field in options.null else field for field in record]
                records.append((number, record))
        if nulls:
            note(f"{path.name}: cells with {', '.join(options.null)} that are missing values: {nulls:,}")
        return _Table(path.name, stem, delimiter, header, records)


def _delimiter_of(text: str) -> str:
    """Return the one of comma, semicolon, tab and bar that is most frequent in the first line, outside quotes."""
    first_line, _, _ = text.lstrip().partition("\n")
    unquoted = re.sub('"[^"]*"', "", first_line)
    return max(",;\t|", key=unquoted.count)


def csv_records(text: str, delimiter: str = ",", *, trimmed: bool = False) -> Iterator[tuple[int, Record]]:
    """Yield every non-empty line with its number, from 1. Raise ValueError for a quote that is not closed.

    The line `7,"the ""old"" town",,""` has the fields "7", 'the "old" town', None and "". `trimmed`: spaces around a
    field do not count, unless they are in quotes.
    """
    # A field with its end. In quotes it may span lines, and a quote in it is doubled.
    end = re.escape(delimiter)
    space = "[ ]*" if trimmed else ""
    quoted_field = rf'{space}"([^"]*(?:""[^"]*)*)"{space}'
    plain_field = rf'([^{end}"\r\n][^{end}\r\n]*)'
    field_with_end = re.compile(rf"(?:{quoted_field}|{plain_field}?)({end}|\r\n|\n|\r|\Z)")

    position = 0
    line = 1
    first_line_of_record = 1
    record: Record = []
    while position < len(text):
        match = field_with_end.match(text, position)
        if match is None:
            start = brief(text[position : position + 40])
            raise ValueError(f"line {line}: cannot read {start}; is a quote not closed?")

        quoted, plain, separator = match.groups()
        if quoted is not None:
            record.append(quoted.replace('""', '"'))
        else:
            plain = plain or ""
            record.append((plain.strip(" ") if trimmed else plain) or None)
        line += text.count("\n", position, match.end())
        position = match.end()

        if separator != delimiter:
            is_empty_line = record == [None]
            if not is_empty_line:
                yield first_line_of_record, record
            record = []
            first_line_of_record = line

    # The text ends behind a delimiter, thus with an empty field.
    if record:
        record.append(None)
        yield first_line_of_record, record


LIST_DELIMITER = ";"
"""Of labels and of the items of lists."""
ARGUMENTS = "import.args"
NUMBER = "number"
"""Name of a column that the importer ignores: the place of a node in the graph that was written."""
_STRUCTURE = ("ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE")
_COLUMN = re.compile(
    r"(?s)(?P<name>.*):(?P<type>[A-Za-z_]+)(?P<list>\[\])?(?:\((?P<space>[^()]*)\))?(?:\{(?P<options>[^{}]*)\})?"
)
"""A field of a header: `born:date`, `tags:string[]`, `:ID(Person)`, `personId:ID(Person){id-type:long}`."""
_OF_IDS = ("id-type", "label")
_OPTIONS = {"ID": _OF_IDS, "START_ID": _OF_IDS, "END_ID": _OF_IDS, "point": ("crs",)}
"""Options in braces that are read, by the type of the column."""


class _Column(NamedTuple):
    """A column of a file. `type` is one of _STRUCTURE, else a type of values in lower case."""

    name: str
    type: str = "string"
    is_list: bool = False
    space: str = ""
    """The id space: keys are unique in it, and not between spaces."""
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
    type_ = match["type"]
    if type_ not in _STRUCTURE:
        type_ = type_.lower()
        if type_ not in READERS:
            raise ValueError(f"the column {brief(text)} has the unknown type {match['type']!r}")

    options = {}
    for part in (match["options"] or "").split(","):
        name, _, value = part.partition(":")
        if name.strip():
            options[name.strip()] = value.strip().strip("'\"")
    for name in options:
        if name not in _OPTIONS.get(type_, ()):
            raise ValueError(
                f"the column {brief(text)} has the option {name!r}, which GraphWalk does not read; "
                "write what it says into each field, and remove it"
            )
    return _Column(match["name"], type_, bool(match["list"]), match["space"] or "", options)


def _value(place: str, column: _Column, text: str) -> Any:
    """Return the value of a field. Raise ValueError with its place if it is not of the column's type."""
    type_ = column.options.get("id-type", "string").lower() if column.type == "ID" else column.type
    try:
        if "crs" in column.options and not re.search(r"\b(crs|srid)\b", text, re.IGNORECASE):
            text = text.replace("{", f"{{crs: {column.options['crs']}, ", 1)
        if not column.is_list:
            return read_value(type_, text)
        items = text.split(LIST_DELIMITER) if text else []
        return [read_value(type_, item) for item in items]
    except ValueError as error:
        raise ValueError(f"{place}: column {column.name!r}, a {type_}: {error}") from None


def _importer_parts(tables: Sequence[_Table], mistakes: Mistakes) -> tuple[list[Nodes], list[Edges]]:
    """Return the nodes and the relationships of files in the layout of Neo4j's importer.

    Nodes are in the order of their numbers, if the files have them; the key of a node is its id, with the id space
    before it. Labels or a type without a column are the name of the file.
    """
    numbered: list[tuple[int, Entity]] = []
    parts: list[Edges] = []
    for table in tables:
        try:
            columns = [_read_column(text) for text in table.header]
            are_edges, needed = _check_columns(columns, table)
        except ValueError as error:
            raise ValueError(f"{table.name}: {error}") from None
        edges: list[Edge] = []
        for line_number, record in table.records:
            where = f"{table.name}, line {line_number}"
            with mistakes:
                line = _Neo4jLine.read(where, columns, record)
                for name in needed:
                    if name not in line.structure:
                        raise ValueError(f"{where}: :{name} is missing")
                if are_edges:
                    edges.append(line.edge(where, table.own_name))
                else:
                    has_labels = any(column.type == "LABEL" for column in columns)
                    numbered.append((line.number, line.node(where, None if has_labels else table.own_name)))
        if are_edges:
            parts.append(Edges(table.name, edges))
    numbered.sort(key=lambda pair: pair[0])
    return [Nodes("nodes", [entity for _, entity in numbered])], parts


def _check_columns(columns: Sequence[_Column], table: _Table) -> tuple[bool, Sequence[str]]:
    """Return whether a file has relationships, and the columns that each line needs. ValueError if one is missing."""
    types = Counter(column.type for column in columns)
    are_edges = "START_ID" in types or "END_ID" in types
    needed = ["START_ID", "END_ID"] if are_edges else ["ID"]
    if are_edges and ("TYPE" in types or table.own_name is None):
        needed.append("TYPE")
    for name in needed:
        if types[name] != 1:
            raise ValueError(f"its first line must have :{name} once, as in the layout of Neo4j's importer")
    _check_names([column.name for column in columns if column.type not in _STRUCTURE])
    return are_edges, needed


@dataclass
class _Neo4jLine:
    """A line of a file in the layout of Neo4j's importer.

    Under the header `key:ID(Person),:LABEL,age:int,number:IGNORE` the line `p1,Person;Old,36,7` has the structure
    {"ID": "Person:p1"}, the labels Person and Old, the properties {"age": 36} and the number 7.
    """

    structure: dict[str, str] = field(default_factory=dict)
    """Columns with `:ID`, `:START_ID`, `:END_ID` and `:TYPE`."""
    labels: list[str] = field(default_factory=list)
    properties: dict[str, Any] = field(default_factory=dict)
    number: int = 0

    @classmethod
    def read(cls, place: str, columns: Sequence[_Column], record: Record) -> "_Neo4jLine":
        line = cls()
        for column, text in zip(columns, record, strict=True):
            if text is None:
                continue
            if column.type == "LABEL":
                line.labels.extend(label for label in text.split(LIST_DELIMITER) if label)
            elif column.type == "IGNORE":
                if column.name == NUMBER and text.isdecimal():
                    line.number = int(text)
            elif column.type in _STRUCTURE:
                space_and_text = [part for part in (column.space, text) if part]
                line.structure[column.type] = ":".join(space_and_text)
                # The column `name:ID` is a property too, as in Neo4j.
                if column.type == "ID" and column.name not in ("", KEY):
                    line.properties[column.name] = _value(place, column, text)
            else:
                line.properties[column.name] = _value(place, column, text)
        return line

    def node(self, where: str, label: str | None) -> Entity:
        """Return the node; `label`: of a file that has none."""
        labels = self.labels if label is None else [label]
        return Entity(where, self.properties, self.structure["ID"], labels)

    def edge(self, where: str, type_: str | None) -> Edge:
        """Return the relationship; `type_`: of a file that has none."""
        start, end = self.structure["START_ID"], self.structure["END_ID"]
        return Edge(where, self.properties, start, end, self.structure.get("TYPE", type_))


def _check_names(names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"the header has the column {brief(name)} more than once")


_MAY_BE_TIMES = ("from", "start")
_WHOLE = r"-?(?:0|[1-9]\d{0,17})"
_CLOCK = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
_FORMS = {
    "long": _WHOLE,
    "double": rf"{_WHOLE}(?:\.\d+)?(?:[eE][+-]?\d+)?",
    "boolean": "(?i:true|false)",
    "date": r"\d{4}-\d\d-\d\d",
    "localdatetime": _CLOCK,
    "datetime": rf"{_CLOCK}(?:Z|[+-]\d\d:?\d\d)",
}
"""Forms of the fields of a plain column by its type; the first that all have counts. (007 is no number.)"""
_DECIMAL_COMMA = rf"{_WHOLE}(?:,\d+)?(?:[eE][+-]?\d+)?"
_THOUSANDS = rf"{_WHOLE}|-?[1-9]\d{{0,2}}(?:,\d{{3}})+"
_NULLS = {"na", "n/a", "#n/a", "<na>", "nan", "null", "none", r"\n"}
"""Words for a missing value among numbers and dates, in lower case."""
_DECLARED = re.compile(r"(?P<name>.+):(?P<type>[A-Za-z]+)(?P<list>\[\])?(?:\((?:single|set)\))?")
"""A column of Neptune: `age:Int`, `names:String[]`, `score:Double(single)`."""


def _has_relationships(table: _Table, options: FileOptions) -> bool:
    """Return True if a plain file has relationships: by its name, else by a pair of columns for the ends."""
    if table.stem.lower() in _EDGE_FILES:
        return True
    if table.stem.lower() in _NODE_FILES:
        return False
    names = table.columns
    pair = end_fields(names, options)
    if pair is None:
        return False

    # name,start,end  Tern,1990,2001
    is_chosen = options.source_from in names
    is_thing = key_field(names) is not None or name_field(names) is not None
    if pair[0].lower() in _MAY_BE_TIMES and is_thing and not is_chosen:
        places = [table.header.index(name) for name in pair]
        values = [record[place] for place in places for _, record in table.records]
        if all(value is None or value[:1].isdecimal() for value in values):
            raise ValueError(
                f"{table.name}: {pair[0]} and {pair[1]} may be the ends of relationships, or times of things; "
                f"choose with --source-from and --target-from, or call the file nodes.csv or edges.csv"
            )
    return True


def _plain_nodes(table: _Table, options: FileOptions) -> Nodes:
    columns = _PlainColumns(table, options, are_edges=False)
    names = list(columns.values)
    has_key = key_field(names) is not None or name_field(names) is not None or options.key_from in names
    if not has_key and options.source_from != POSITION:
        raise ValueError(
            f"{table.name}: no column is an id, a key or a name, and none are ends of relationships; there are: "
            f"{', '.join(map(brief, names))}. Choose with --key-from, or --source-from and --target-from"
        )
    label_lists = [name for name in usual_fields(names, LABELS) if name.lower() in ("labels", "~label", "~labels")]
    entities = []
    for where, fields in columns.rows():
        for name in label_lists:
            if name in fields:
                fields[name] = fields[name].split(LIST_DELIMITER)
        entities.append(Entity(where, fields))
    return Nodes(table.name, entities, table.own_name or "Node", names, columns.described)


def _plain_edges(table: _Table, options: FileOptions) -> Edges:
    columns = _PlainColumns(table, options, are_edges=True)
    if end_fields(list(columns.values), options) is None:
        raise no_relationships(f"{table.name}: ", columns.values)
    edges = [Edge(where, fields) for where, fields in columns.rows()]
    return Edges(table.name, edges, table.own_name or "RELATED", list(columns.values), columns.described)


class _PlainColumns:
    """The values of a plain file by column."""

    def __init__(self, table: _Table, options: FileOptions, *, are_edges: bool) -> None:
        self._table = table
        self.values: dict[str, Sequence[Any]] = {}
        types = []
        is_neptune = any(name.startswith("~") for name in table.columns)
        names = [composed(name) for name in table.columns]
        texts_only = text_fields(names, options, are_edges=are_edges)
        has_key = are_edges or key_field(names) is not None
        _check_names(names)

        for place, column in enumerate(table.header):
            texts = [record[place] or None for _, record in table.records]
            if not column:
                name = self._name_of_unnamed(place, texts, has_key=has_key)
                if name is None:
                    continue
            else:
                name = composed(column)
            declared = _DECLARED.fullmatch(name) if is_neptune else None
            if declared:
                name = declared["name"]
            if name in self.values:
                raise ValueError(f"{table.name}: the header has the column {brief(name)} more than once")
            if name in texts_only:
                self.values[name] = texts
                continue
            type_, self.values[name] = self._typed(name, texts, declared)
            types.append(f"{name} {type_}")
        self.described = f"columns: {', '.join(types)}" if types else ""

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the place and the fields of each line."""
        for index, (line, _) in enumerate(self._table.records):
            fields = {}
            for name, values in self.values.items():
                if values[index] is not None:
                    fields[name] = values[index]
            yield f"{self._table.name}, line {line}", fields

    def _name_of_unnamed(self, place: int, texts: Sequence[str | None], *, has_key: bool) -> str | None:
        """Return a name for a column without one; None if it is empty, or numbers the rows, as pandas writes it."""
        if not any(texts):
            return None
        are_numbers = any(texts == [str(row + first) for row in range(len(texts))] for first in (0, 1))
        if place == 0 and are_numbers and has_key:
            note(f"{self._table.name}: the first column has no name and the numbers of the rows; it is left out")
            return None
        return f"column_{place + 1}"

    def _typed(
        self, name: str, texts: Sequence[str | None], declared: re.Match[str] | None
    ) -> tuple[str, Sequence[Any]]:
        """Return the type of a column and its values: the first type that can read all texts, or the declared one."""
        kind = declared["type"].lower() if declared else ""
        if declared and declared["list"]:
            return f"{kind} list", [text.split(LIST_DELIMITER) if text else None for text in texts]
        if kind == "string":
            return kind, texts

        words = [text for text in texts if text is not None and text.lower() in _NULLS]
        plain = [None if text is not None and text.lower() in _NULLS else text for text in texts]
        given = [text for text in plain if text is not None]
        if given and self._has_decimal_commas(given):
            plain = [text.replace(",", ".") if text else None for text in plain]
            self._note_cells(name, texts, [text for text in texts if text and "," in text], "with a decimal comma")
            given = [text for text in plain if text is not None]

        forms = {"double": _FORMS["double"]} if kind in ("float", "double") else _FORMS
        for type_, form in forms.items():
            if not given or not all(re.fullmatch(form, text, re.ASCII) for text in given):
                continue
            with suppress(ValueError):
                values = [read_value(type_, text) if text else None for text in plain]
                if words:
                    self._note_cells(name, texts, words, f"read as missing among those of type {type_}")
                return type_, values
        if words and given:
            listed = " ".join(f"--null '{word}'" for word in sorted(set(words)))
            self._note_cells(name, texts, words, f"read as text; {listed} reads them as missing")
        return "string", texts

    def _has_decimal_commas(self, texts: Sequence[str]) -> bool:
        """Return True for 1,5 and 0,25. Where commas separate fields, 1,234 and 5,678 may be thousands: False."""
        if not any("," in text for text in texts):
            return False
        if not all(re.fullmatch(_DECIMAL_COMMA, text, re.ASCII) for text in texts):
            return False
        return self._table.delimiter == ";" or not all(re.fullmatch(_THOUSANDS, text, re.ASCII) for text in texts)

    def _note_cells(self, name: str, texts: Sequence[str | None], cells: Sequence[str], what: str) -> None:
        """Note how many cells of a column are read in another way, and the first."""
        line, _ = self._table.records[texts.index(cells[0])]
        what = f"{counted(len(cells), 'cell')} {what}"
        note(f"{self._table.name}: {name}: {what}; the first is {cells[0]!r} in line {line}")


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
    if not graph.relationship_tables:  # without a file of relationships a folder is refused
        yield "relationships-none.csv", {":START_ID": [], ":END_ID": [], ":TYPE": []}
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

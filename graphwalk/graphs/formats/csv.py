"""Read CSV files, plain or in the layout of Neo4j's importer; write folders in that layout."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from graphwalk.config.graph_source import FileOptions
from graphwalk.errors import ConfigError, counted
from graphwalk.files.writing import new_folder
from graphwalk.graphs.formats.build import (
    LABELS,
    TYPES,
    end_fields,
    graph_of,
    key_field,
    name_field,
    no_relationships,
    usual_fields,
)
from graphwalk.graphs.formats.common import Mistakes, Record, Table, composed, note, read_text, reading, write_lines
from graphwalk.graphs.graph import KEY, MISSING, PropertyColumn, PropertyGraph
from graphwalk.graphs.values import READERS, Value, brief, read_value, type_name, value_text

SUFFIXES = (".csv", ".tsv")
Line = list[str | None]
"""The fields of a line; None for one that is empty and not quoted."""
_NODE_FILES = ("nodes", "vertices", "entities")
_EDGE_FILES = ("edges", "links", "relationships", "relations")
"""Names of files that tell what they hold; they are no label and no type."""
_HEADER_FILE = re.compile(r"(.+)[-_.]header", re.IGNORECASE)
_IMPORTER = re.compile(r":(START_|END_)?ID\b")
"""The mark of the layout of Neo4j's importer in a header."""
_NEPTUNE_NODES = {"~id": ":ID", "~label": ":LABEL"}
_NEPTUNE_EDGES = {"~from": ":START_ID", "~to": ":END_ID", "~label": ":TYPE"}
"""Columns of Neptune, whose other columns are those of Neo4j's importer. The `~id` of an edge is a property."""


class _File(NamedTuple):
    """A file: its header, and its other lines with their numbers; each has a field for every column."""

    name: str
    stem: str
    delimiter: str
    header: Line
    lines: list[tuple[int, Line]]

    @property
    def is_neo4j(self) -> bool:
        return any(_IMPORTER.search(column or "") for column in self.header)

    @property
    def columns(self) -> list[str]:
        return [column for column in self.header if column]

    @property
    def own_name(self) -> str | None:
        """The name of the file as a label or a type, None for `nodes.csv` and the like."""
        if self.stem.lower() in _NODE_FILES + _EDGE_FILES:
            return None
        return self.stem


def read_csv(path: Path, options: FileOptions) -> PropertyGraph:
    """Return the graph of a folder, or of one file with `options.edges`.

    Raise ConfigError with file and line of an error.
    """
    with reading(path):
        mistakes = Mistakes(skip=options.skip_bad)
        pairs: list[tuple[Path, Path | None]] = [(path, None)]
        if path.is_dir():
            pairs = _files_of(path)
        elif options.edges:
            pairs.append((options.edges, None))
        files = [_read_file(file, header_file, options, mistakes) for file, header_file in pairs]

        nodes: list[Table] = []
        edges: list[Table] = []
        if any(file.is_neo4j for file in files):
            nodes, edges = _importer_tables(files, mistakes)
        else:
            for file in files:
                is_chosen = options.edges is not None and file is files[-1]
                if is_chosen or _has_relationships(file, options):
                    edges.append(_plain_table(file, options, are_edges=True))
                else:
                    nodes.append(_plain_table(file, options, are_edges=False))
        if not edges:
            mistakes.end(path.name)
            raise no_relationships("", dict.fromkeys(name for file in files for name in file.columns))
        return graph_of(nodes, edges, options, path.name, mistakes=mistakes)


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
        match = _HEADER_FILE.fullmatch(file.stem)
        if match is not None:
            headers[match[1]] = file
    pairs: list[tuple[Path, Path | None]] = []
    used: set[Path] = set()
    for file in files:
        if file in headers.values():
            continue
        # actors-part1.csv begins with actors; actorsguild.csv is another table
        stems = [stem for stem in headers if re.match(rf"{re.escape(stem)}(?![A-Za-z])", file.stem)]
        if not stems:
            pairs.append((file, None))
            continue
        header_file = headers[max(stems, key=len)]
        pairs.append((file, header_file))
        used.add(header_file)
    pairs.extend((file, None) for file in headers.values() if file not in used)
    return pairs


def _read_file(path: Path, header_file: Path | None, options: FileOptions, mistakes: Mistakes) -> _File:
    with reading(path):
        text = read_text(path)
        stem = path.stem
        header_text = text
        if header_file is not None:
            header_text = read_text(header_file)
            stem = header_file.stem[: -len("-header")]
        delimiter = _delimiter_of(header_text)
        first_line, _, _ = header_text.lstrip().partition("\n")
        trimmed = not _IMPORTER.search(first_line)
        _, header = next(csv_records(header_text, delimiter, trimmed=trimmed), (1, []))
        if header[:1] == ["sep="]:
            raise ValueError("the first line is not the names of the columns but sep=, for Excel; remove it")
        if {"_labels", "_start"} <= {*header}:
            raise ValueError(
                "nodes and relationships are in one table, as APOC writes it; export with apoc.export.json"
            )
        lines = csv_records(text, delimiter, trimmed=trimmed)
        if header_file is None:
            next(lines, None)

        width = len(header)
        records = []
        nulls = 0
        for number, line in lines:
            with mistakes:
                if any(field is not None for field in line[width:]):
                    raise ValueError(
                        f"{path.name}, line {number}: there are {len(line)} fields, and {width} in the header"
                    )
                line = line[:width] + [None] * (width - len(line))
                nulls += sum(field in options.null for field in line)
                line = [None if field in options.null else field for field in line]
                records.append((number, line))
        if nulls:
            note(f"{path.name}: cells with {', '.join(options.null)} that are missing values: {nulls:,}")
        return _File(path.name, stem, delimiter, _without_neptune(header), records)


def _without_neptune(header: Line) -> Line:
    """Return the header of Neo4j's importer for one of Neptune: `~id,~from,~to,~label,weight:Double`."""
    if "~id" not in header:
        return header
    are_edges = "~from" in header or "~to" in header
    names = _NEPTUNE_EDGES if are_edges else _NEPTUNE_NODES
    return [names.get(column or "", column) for column in header]


def _delimiter_of(text: str) -> str:
    """Return the one of comma, semicolon, tab and bar that is most frequent in the first line, outside quotes."""
    first_line, _, _ = text.lstrip().partition("\n")
    unquoted = re.sub('"[^"]*"', "", first_line)
    return max(",;\t|", key=unquoted.count)


def csv_records(text: str, delimiter: str = ",", *, trimmed: bool = False) -> Iterator[tuple[int, Line]]:
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
    record: Line = []
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
            if trimmed:
                plain = plain.strip(" ")
            record.append(plain or None)
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
    type_ = column.type
    if type_ == "ID":
        type_ = column.options.get("id-type", "string").lower()
    try:
        # {x: 12.5, y: 55.7} under home:point{crs:wgs-84} becomes {crs: wgs-84, x: 12.5, y: 55.7}
        if "crs" in column.options and not re.search(r"\b(crs|srid)\b", text, re.IGNORECASE):
            text = text.replace("{", f"{{crs: {column.options['crs']}, ", 1)
        if not column.is_list:
            return read_value(type_, text)
        items = text.split(LIST_DELIMITER) if text else []
        return [read_value(type_, item) for item in items]
    except ValueError as error:
        raise ValueError(f"{place}: column {column.name!r}, a {type_}: {error}") from None


_ROLES = {"ID": "key", "START_ID": "source", "END_ID": "target", "TYPE": "type"}


def _importer_tables(files: Sequence[_File], mistakes: Mistakes) -> tuple[list[Table], list[Table]]:
    """Return the nodes and the relationships of files in the layout of Neo4j's importer.

    Nodes are in the order of their numbers, if the files have them. Labels or a type without a column are the name of
    the file.
    """
    numbered: list[tuple[int, Record]] = []
    edges: list[Table] = []
    for file in files:
        try:
            columns = [_read_column(text) for text in file.header]
            needed = _needed_columns(columns, file)
        except ValueError as error:
            raise ValueError(f"{file.name}: {error}") from None
        has_labels = any(column.type == "LABEL" for column in columns)
        rows = []
        for line_number, line in file.lines:
            with mistakes:
                number, record = _importer_record(f"{file.name}, line {line_number}", columns, line)
                for name in needed:
                    if _ROLES[name] not in record.fixed:
                        raise ValueError(f"{record.where}: :{name} is missing")
                if file.own_name and not has_labels:
                    record.fixed["label"] = [file.own_name]
                rows.append((number, record))
        if "START_ID" in needed:
            edges.append(Table(file.name, [record for _, record in rows], file.own_name or "RELATED"))
        else:
            numbered.extend(rows)
    numbered.sort(key=lambda pair: pair[0])
    return [Table("nodes", [record for _, record in numbered], "Node")], edges


def _needed_columns(columns: Sequence[_Column], file: _File) -> Sequence[str]:
    """Return the columns that each line needs. Raise ValueError if one is missing."""
    types = Counter(column.type for column in columns)
    needed = ["ID"]
    if "START_ID" in types or "END_ID" in types:
        needed = ["START_ID", "END_ID"]
        if "TYPE" in types or file.own_name is None:
            needed.append("TYPE")
    for name in needed:
        if types[name] != 1:
            raise ValueError(f"its first line must have :{name} once, as in the layout of Neo4j's importer")
    _check_names([column.name for column in columns if column.type not in _STRUCTURE])
    return needed


def _importer_record(place: str, columns: Sequence[_Column], line: Line) -> tuple[int, Record]:
    """Return the number of a node or relationship, and what the line has.

    Under the header `key:ID(Person),:LABEL,age:int,number:IGNORE` the line `p1,Person;Old,36,7` has the number 7, the
    key "Person:p1" with the id space, the labels Person and Old, and the property {"age": 36}.
    """
    number = 0
    record = Record(place, {}, fixed={"label": []})
    for column, text in zip(columns, line, strict=True):
        if text is None:
            continue
        if column.type == "LABEL":
            record.fixed["label"].extend(label for label in text.split(LIST_DELIMITER) if label)
        elif column.type == "IGNORE":
            if column.name == NUMBER and text.isdecimal():
                number = int(text)
        elif column.type in _ROLES:
            record.fixed[_ROLES[column.type]] = f"{column.space}:{text}" if column.space else text
            # The column `name:ID` is a property too, as in Neo4j.
            if column.type == "ID" and column.name not in ("", KEY):
                record.fields[column.name] = _value(place, column, text)
        else:
            record.fields[column.name] = _value(place, column, text)
    return number, record


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
_NULLS = {"na", "n/a", "#n/a", "<na>", "nan", "null", "none", r"\n"}
"""Words for a missing value among numbers and dates, in lower case."""


def _has_relationships(file: _File, options: FileOptions) -> bool:
    """Return True if a plain file has relationships: by its name, else by a pair of columns for the ends."""
    if file.stem.lower() in _EDGE_FILES:
        return True
    if file.stem.lower() in _NODE_FILES:
        return False
    pair = end_fields(file.columns, options)
    if pair is None or pair[0] == options.source_from:
        return pair is not None

    # name,start,end  Tern,1990,2001
    if pair[0].lower() in _MAY_BE_TIMES and (key_field(file.columns) or name_field(file.columns)):
        fields: list[str] = []
        for name in pair:
            place = file.header.index(name)
            fields.extend(line[place] or "" for _, line in file.lines)
        if all(field[:1].isdecimal() for field in fields):
            raise ValueError(
                f"{file.name}: {pair[0]} and {pair[1]} may be the ends of relationships, or times of things; "
                f"choose with --source-from and --target-from, or call the file nodes.csv or edges.csv"
            )
    return True


def _plain_table(file: _File, options: FileOptions, *, are_edges: bool) -> Table:
    """Return the table of a plain file: ends, keys, labels and types are text, other columns have a type."""
    names = [composed(column or f"column_{place}") for place, column in enumerate(file.header, 1)]
    _check_names(names)
    text_columns: set[str | None]
    if are_edges:
        pair = end_fields(names, options)
        if pair is None:
            raise no_relationships(f"{file.name}: ", file.columns)
        text_columns = {options.type_from}
        text_columns.update(pair)
        text_columns.update(usual_fields(names, TYPES))
    else:
        text_columns = {key_field(names) or name_field(names), options.key_from, options.label_from}
        text_columns.update(usual_fields(names, LABELS))

    types = []
    records = [Record(f"{file.name}, line {number}", {}) for number, _ in file.lines]
    for place, name in enumerate(names):
        texts = [line[place] or None for _, line in file.lines]
        values: Sequence[Any] = texts
        if name.lower() == "labels":
            # Person;Captain
            values = [text.split(LIST_DELIMITER) if text else None for text in texts]
        elif name not in text_columns:
            type_, values = _typed(file, name, texts)
            types.append(f"{name} {type_}")
        for record, value in zip(records, values, strict=True):
            if value is not None:
                record.fields[name] = value

    default = file.own_name
    if default is None:
        default = "RELATED" if are_edges else "Node"
    table = Table(file.name, records, default, names)
    if types:
        table.columns = f"columns: {', '.join(types)}"
    return table


def _typed(file: _File, name: str, texts: Sequence[str | None]) -> tuple[str, Sequence[Any]]:
    """Return the type of a column and its values: the first type that can read all texts but words for missing.

    The texts 7, none, (empty) and 12 are the longs 7, None, None and 12; 7, none and seven stay as they are.
    """
    null_words: list[str] = []
    values: list[str | None] = []
    for text in texts:
        if text is not None and text.lower() in _NULLS:
            null_words.append(text)
            values.append(None)
        else:
            values.append(text)

    with_comma = [text for text in values if text and "," in text]
    # 1,5 in a file with another delimiter
    if with_comma and file.delimiter != "," and _all_match(_DECIMAL_COMMA, values):
        values = [text.replace(",", ".") if text else None for text in values]
        _note_cells(file, name, texts, with_comma, "with a decimal comma")

    has_values = any(text is not None for text in values)
    if not has_values:
        return "string", texts
    for type_, form in _FORMS.items():
        if not _all_match(form, values):
            continue
        try:
            typed_values = [read_value(type_, text) if text else None for text in values]
        except ValueError:  # 2001-02-30
            continue
        if null_words:
            _note_cells(file, name, texts, null_words, f"read as missing among those of type {type_}")
        return type_, typed_values

    if null_words:
        options = " ".join(f"--null '{word}'" for word in sorted(set(null_words)))
        _note_cells(file, name, texts, null_words, f"read as text; {options} reads them as missing")
    return "string", texts


def _all_match(form: str, texts: Sequence[str | None]) -> bool:
    """Return True if every text that is not missing has a form."""
    pattern = re.compile(form, re.ASCII)
    return all(pattern.fullmatch(text) for text in texts if text is not None)


def _note_cells(file: _File, name: str, texts: Sequence[str | None], cells: Sequence[str], what: str) -> None:
    """Note how many cells of a column are read in another way, and the first."""
    line, _ = file.lines[texts.index(cells[0])]
    note(f"{file.name}: {name}: {counted(len(cells), 'cell')} {what}; the first is {cells[0]!r} in line {line}")


def csv_text(field: str) -> str:
    """Return a field, quoted if necessary."""
    if _PLAIN.fullmatch(field):
        return field
    return '"' + field.replace('"', '""') + '"'


_PLAIN = re.compile(r"[^\s,\"'](?:[^\r\n,\"']*[^\s,\"'])?")


def write_csv_folder(graph: PropertyGraph, folder: Path) -> None:
    """Write deterministic files. Raise ConfigError if the folder is not empty, or cannot be written."""
    # All are made before the first is written: CSV may not hold the graph.
    files = dict(_files(graph))
    new_folder(folder)
    arguments = []
    for name, columns in files.items():
        write_lines(folder / name, _lines(columns))
        # --nodes=./nodes-Person.csv; the importer of 2026 needs the folder
        kind, _, _ = name.partition("-")
        arguments.append(f"--{kind}=./{name}")
    arguments.append("--multiline-fields=true")
    write_lines(folder / ARGUMENTS, arguments)


def _lines(columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield ",".join(csv_text(name) for name in columns)
    for fields in zip(*columns.values(), strict=True):
        yield ",".join(fields)


def _files(graph: PropertyGraph) -> Iterator[tuple[str, dict[str, Sequence[str]]]]:
    """Yield the name of a file for every table, and its fields by column, quoted."""
    names: set[str] = set()
    keys = [csv_text(key) for key in graph.keys]
    for nodes in sorted(graph.node_tables, key=lambda table: table.labels):
        numbers = nodes.numbers.tolist()
        labels = csv_text(_joined(nodes.labels)) if nodes.labels else ""
        structure = {
            "key:ID": [keys[number] for number in numbers],
            ":LABEL": [labels] * len(numbers),
            f"{NUMBER}:IGNORE": [str(number) for number in numbers],
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
    stem = re.sub(r"[^A-Za-z0-9-]+", "_", table)[:60].strip("_-")
    name = stem
    number = 1
    while name.lower() in names:
        number += 1
        name = f"{stem}-{number}"
    names.add(name.lower())
    return f"{name}.csv"


def _property_fields(file: str, columns: Mapping[str, PropertyColumn]) -> dict[str, Sequence[str]]:
    """Return the fields of each property. Raise ConfigError for one with values of two types."""
    fields: dict[str, Sequence[str]] = {}
    for name in sorted(columns):
        column = columns[name].canonical()
        if not column.pool:
            continue
        types = sorted({type_name(value) for value in column.pool})
        if len(types) > 1 or types[0].startswith("bytes"):
            what = f"the property {name!r} of {file} has values of the type {' and '.join(types)}"
            raise ConfigError(f"CSV cannot hold this graph: {what}", hint="save the graph as JSON")
        texts = [csv_text(_field(value)) for value in column.pool]
        fields[f"{name}:{types[0]}"] = ["" if code == MISSING else texts[code] for code in column.codes.tolist()]
    return fields


def _field(value: Value) -> str:
    if isinstance(value, tuple):
        return _joined(value)
    return value_text(value)


def _joined(items: Sequence[Value]) -> str:
    """Return labels or a list as one field. Raise ConfigError if it would be read as other items."""
    texts = [value_text(item) for item in items]
    # [""] would be read as [], and ["a;b"] as ["a", "b"].
    if texts == [""] or any(LIST_DELIMITER in text for text in texts):
        raise ConfigError(f"CSV cannot hold the list {brief(items)}", hint="save the graph as JSON")
    return LIST_DELIMITER.join(texts)

"""A graph as a folder of CSV files that Neo4j's importer takes, as it is, and that `csv_reader` reads back.

One file for nodes with the same labels, one for relationships of a type; two where a property has values of two types.
`import.yaml` says which is which, and `import.args` says it to the importer:

    cd FOLDER && neo4j-admin database import full neo4j @import.args
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from graphwalk.errors import ConfigError
from graphwalk.files import make_folder, write_whole
from graphwalk.graphs.files.csv_fields import csv_line, csv_text
from graphwalk.graphs.files.csv_layout import MANIFEST, NUMBER, CsvManifest, NodeFiles, RelationshipFiles
from graphwalk.graphs.files.csv_values import csv_field, csv_type, free_delimiter
from graphwalk.graphs.files.shared import header, write_lines
from graphwalk.types.graph import MISSING, Column, PropertyGraph

ARGUMENTS = "import.args"
CHUNK = 50_000
"""Rows that are text at a time."""
Rows = NDArray[np.intp]
"""Places in a table."""
Fields = tuple[NDArray[np.integer], Sequence[str]]
"""A column of a file: codes, and the text for each of them."""


@dataclass(frozen=True, slots=True)
class _Typed:
    """A property of a table: for every value of its pool that is used a type and a text."""

    name: str
    codes: NDArray[np.int32]
    types: Mapping[int, str]
    texts: Sequence[str]
    """The last is for MISSING."""

    @property
    def mixed(self) -> bool:
        return len(set(self.types.values())) > 1


def write_csv_folder(graph: PropertyGraph, folder: Path) -> None:
    """The same bytes for the same graph. ConfigError where the folder holds something else, or cannot be written.

    The manifest is written last: a folder without it was not finished.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MANIFEST).is_file():
        raise ConfigError(f"{folder} holds something else", hint="name a new folder, or an empty one")
    values = [value for columns in graph.all_columns() for column in columns.values() for value in column.pool]
    delimiter = free_delimiter(values, (label for table in graph.node_tables for label in table.labels))
    make_folder(folder, parents=False)
    (folder / MANIFEST).unlink(missing_ok=True)
    manifest = CsvManifest(array_delimiter=delimiter, made=header(graph))
    names: set[str] = set()
    keys = list(map(csv_text, graph.keys))
    for nodes in sorted(graph.node_tables, key=lambda table: table.labels):
        label = _constant(delimiter.join(nodes.labels), len(nodes.numbers))
        structure = {"key:ID": (nodes.numbers, keys), ":LABEL": label, f"{NUMBER}:IGNORE": (nodes.numbers, ())}
        for part in _written(folder, "nodes-" + "-".join(nodes.labels), names, structure, nodes.columns, delimiter):
            manifest.nodes.append(NodeFiles(files=[part]))
    for table in sorted(graph.relationship_tables, key=lambda table: table.type):
        type_ = _constant(table.type, len(table.sources))
        structure = {":START_ID": (table.sources, keys), ":END_ID": (table.targets, keys), ":TYPE": type_}
        for part in _written(folder, f"relationships-{table.type}", names, structure, table.columns, delimiter):
            manifest.relationships.append(RelationshipFiles(files=[part]))
    write_lines(folder / ARGUMENTS, _arguments(manifest))
    text = yaml.safe_dump(manifest.model_dump(exclude_defaults=True), allow_unicode=True, sort_keys=False)
    write_whole(folder / MANIFEST, [text])


def _constant(text: str, length: int) -> Fields:
    return np.zeros(length, dtype=np.int8), (csv_text(text) if text else "",)


def _written(
    folder: Path,
    name: str,
    names: set[str],
    structure: Mapping[str, Fields],
    columns: Mapping[str, Column],
    delimiter: str,
) -> Iterator[str]:
    """Write a table; the names of its files, of which there are several where a property has values of two types."""
    typed = [_typed(name, columns[name], delimiter) for name in sorted(columns)]
    for rows in _by_types(typed, len(next(iter(structure.values()))[0])):
        held = [(one, codes[codes != MISSING]) for one in typed for codes in [one.codes[rows]]]
        there = {f"{one.name}:{one.types[int(found[0])]}": (one.codes, one.texts) for one, found in held if len(found)}
        file = _free_name(name, names)
        write_whole(folder / file, _chunks({**structure, **there}, rows))
        yield file


def _typed(name: str, column: Column, delimiter: str) -> _Typed:
    used = set(np.unique(column.codes).tolist()) - {MISSING}
    texts = [csv_text(csv_field(value, delimiter)) if code in used else "" for code, value in enumerate(column.pool)]
    return _Typed(name, column.codes, {code: csv_type(column.pool[code]) for code in sorted(used)}, [*texts, ""])


def _by_types(typed: Sequence[_Typed], length: int) -> Iterator[Rows]:
    """The rows in groups in which every property has one type, in the order in which they begin."""
    mixed = [one for one in typed if one.mixed]
    if not length or not mixed:
        yield from [np.arange(length)][: length > 0]
        return
    kinds = []
    for one in mixed:
        order = sorted(set(one.types.values()))
        number = [order.index(one.types[code]) if code in one.types else MISSING for code in range(len(one.texts))]
        kinds.append(np.array(number)[one.codes])
    _, first, group = np.unique(np.stack(kinds), axis=1, return_index=True, return_inverse=True)
    for number in np.argsort(first, kind="stable").tolist():
        yield np.flatnonzero(group.ravel() == number)


def _chunks(columns: Mapping[str, Fields], rows: Rows) -> Iterator[str]:
    """The text of a file, some rows at a time."""
    yield csv_line(list(columns)) + "\n"
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        fields = [_texts(codes[part].tolist(), texts) for codes, texts in columns.values()]
        yield "\n".join(map(",".join, zip(*fields, strict=True))) + "\n"


def _texts(codes: list[int], texts: Sequence[str]) -> Iterator[str]:
    return map(texts.__getitem__, codes) if texts else map(str, codes)


def _free_name(name: str, names: set[str]) -> str:
    """A file name that is good on every system, and not taken whatever the case of its letters."""
    stem = re.sub(r"[^A-Za-z0-9-]+", "_", name)[:60].strip("_-")
    found, number = stem, 2
    while found.lower() in names:
        found, number = f"{stem}-{number}", number + 1
    names.add(found.lower())
    return f"{found}.csv"


def _arguments(manifest: CsvManifest) -> Iterator[str]:
    # The importer of Neo4j 2026 wants to be told of a folder.
    yield from (f"--nodes=./{files.files[0]}" for files in manifest.nodes)
    yield from (f"--relationships=./{files.files[0]}" for files in manifest.relationships)
    yield "--multiline-fields=true"
    if manifest.array_delimiter != ";":
        yield f"--array-delimiter=U+{ord(manifest.array_delimiter):04X}"

"""A graph as a folder of CSV files that Neo4j's importer takes, as it is, and that `csv_reader` reads back.

One file for nodes with the same labels, one for relationships of a type; two where a property has values of two types.
`import.yaml` says which is which, and `import.args` says it to the importer:

    cd FOLDER && neo4j-admin database import full neo4j @import.args
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import yaml

from graphwalk.errors import ConfigError
from graphwalk.files import make_folder, write_whole
from graphwalk.graphs.files.csv_fields import csv_line
from graphwalk.graphs.files.csv_layout import MANIFEST, NUMBER, CsvManifest, NodeFiles, RelationshipFiles
from graphwalk.graphs.files.csv_values import csv_field, csv_type, free_delimiter
from graphwalk.graphs.files.shared import header, write_lines
from graphwalk.types.graph import Column, PropertyGraph
from graphwalk.types.values import Value

ARGUMENTS = "import.args"
Line = tuple[list[str], Mapping[str, Value]]
"""Fields of the structure, and properties."""
Types = tuple[tuple[str, str], ...]
"""Property names with their types: the columns of a file behind those of the structure."""


def write_csv_folder(graph: PropertyGraph, folder: Path) -> None:
    """The same bytes for the same graph. ConfigError where the folder holds something else, or cannot be written.

    The manifest is written last: a folder without it was not finished.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MANIFEST).is_file():
        raise ConfigError(f"{folder} holds something else", hint="name a new folder, or an empty one")
    values = [value for table in _tables(graph) for column in table.values() for value in column.pool]
    delimiter = free_delimiter(values, (label for table in graph.node_tables for label in table.labels))
    make_folder(folder)
    (folder / MANIFEST).unlink(missing_ok=True)
    manifest = CsvManifest(array_delimiter=delimiter, made=header(graph))
    names: set[str] = set()
    for labels, nodes in sorted(_nodes(graph, delimiter).items()):
        for types, lines in _by_types(nodes):
            name = _free_name("nodes-" + "-".join(labels), names)
            _write(folder / name, ["key:ID", ":LABEL", f"{NUMBER}:IGNORE"], types, lines, delimiter)
            manifest.nodes.append(NodeFiles(files=[name]))
    for type_, relationships in sorted(_relationships(graph).items()):
        for types, lines in _by_types(relationships):
            name = _free_name(f"relationships-{type_}", names)
            _write(folder / name, [":START_ID", ":END_ID", ":TYPE"], types, lines, delimiter)
            manifest.relationships.append(RelationshipFiles(files=[name]))
    write_lines(folder / ARGUMENTS, _arguments(manifest))
    text = yaml.safe_dump(manifest.model_dump(exclude_defaults=True), allow_unicode=True, sort_keys=False)
    write_whole(folder / MANIFEST, [text])


def _tables(graph: PropertyGraph) -> Iterator[Mapping[str, Column]]:
    yield from (table.columns for table in graph.node_tables)
    yield from (table.columns for table in graph.relationship_tables)


def _nodes(graph: PropertyGraph, delimiter: str) -> dict[tuple[str, ...], list[Line]]:
    lines: defaultdict[tuple[str, ...], list[Line]] = defaultdict(list)
    for number, node in enumerate(graph.nodes()):
        lines[node.labels].append(([node.key, delimiter.join(node.labels), str(number)], node.properties))
    return lines


def _relationships(graph: PropertyGraph) -> dict[str, list[Line]]:
    lines: defaultdict[str, list[Line]] = defaultdict(list)
    for r in graph.relationships():
        lines[r.type].append(([r.source, r.target, r.type], r.properties))
    return lines


def _by_types(lines: list[Line]) -> Iterator[tuple[Types, list[Line]]]:
    """Lines in groups in which every property has one type, with the names and types of all properties of a group."""
    types_of: defaultdict[str, set[str]] = defaultdict(set)
    for _, properties in lines:
        for name, value in properties.items():
            types_of[name].add(csv_type(value))
    mixed = sorted(name for name, types in types_of.items() if len(types) > 1)
    groups: defaultdict[Types, list[Line]] = defaultdict(list)
    for line in lines:
        groups[tuple((name, csv_type(line[1][name])) for name in mixed if name in line[1])].append(line)
    for group in groups.values():
        yield tuple(sorted({(name, csv_type(v)) for _, properties in group for name, v in properties.items()})), group


def _write(path: Path, structure: list[str], types: Types, lines: Iterable[Line], delimiter: str) -> None:
    def texts() -> Iterator[str]:
        yield csv_line([*structure, *(f"{name}:{type_}" for name, type_ in types)])
        for fields, properties in lines:
            values = [csv_field(properties[n], delimiter) if n in properties else None for n, _ in types]
            yield csv_line([*(field or None for field in fields), *values])

    write_lines(path, texts())


def _free_name(name: str, names: set[str]) -> str:
    """A file name that is good on every system, and not taken whatever the case of its letters."""
    stem = re.sub(r"[^A-Za-z0-9-]+", "_", name)[:60].strip("_-")
    found, number = stem, 2
    while found.lower() in names:
        found, number = f"{stem}-{number}", number + 1
    names.add(found.lower())
    return f"{found}.csv"


def _arguments(manifest: CsvManifest) -> Iterator[str]:
    yield from (f"--nodes={files.files[0]}" for files in manifest.nodes)
    yield from (f"--relationships={files.files[0]}" for files in manifest.relationships)
    yield "--multiline-fields=true"
    if manifest.array_delimiter != ";":
        yield f"--array-delimiter=U+{ord(manifest.array_delimiter):04X}"

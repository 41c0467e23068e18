"""Which files of a folder hold nodes, and which relationships: by its manifest, else by their headers."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from graphwalk.config.yaml_files import YamlFile, validate
from graphwalk.errors import ConfigError
from graphwalk.files import check_link
from graphwalk.graphs.files.bounds import open_text, read_text, without_packing
from graphwalk.graphs.files.csv_fields import Record, csv_records
from graphwalk.graphs.files.csv_layout import MANIFEST, CsvManifest, NodeFiles, RelationshipFiles, read_column
from graphwalk.graphs.files.shared import reading

_HEADER_FILE = re.compile(r"(.+?)[-_.]?headers?", re.IGNORECASE)
_LONGEST_HEADER = 2**20
_LONGEST_MANIFEST = 2**20


def read_manifest(folder: Path) -> CsvManifest:
    """ConfigError where the folder or its manifest cannot be used."""
    if not folder.is_dir():
        reason = "it is not a folder" if folder.exists() else "No such file or directory"
        raise ConfigError(f"cannot read the graph {folder}: {reason}")
    path = folder / MANIFEST
    if path.exists():
        check_link(path, ConfigError)
        with reading(path):
            if path.stat().st_size > _LONGEST_MANIFEST:
                raise ValueError("it is too long for a list of files")
            read = YamlFile.read(path)
            return validate(CsvManifest, read.data, str(path), read.tree)
    return _by_headers(folder)


def records_of(folder: Path, names: list[str], manifest: CsvManifest) -> Iterator[tuple[Path, int, Record]]:
    """All lines of files that belong together, the header first, with the file and the number of the line."""
    for name in names:
        path = folder / name
        check_link(path, ConfigError)
        with reading(path):
            for number, record in csv_records(read_text(path), manifest.delimiter, manifest.quote):
                yield path, number, record


def _by_headers(folder: Path) -> CsvManifest:
    """Files `people-header.csv` and `people*.csv` belong together; any other file has a header of its own."""
    found = sorted(path.name for path in folder.iterdir() if without_packing(path).suffix.lower() == ".csv")
    if not found:
        raise ConfigError(
            f"cannot read the graph {folder}: no CSV file is in this folder",
            hint=f"give files in the layout of Neo4j's importer the suffix .csv, or list them in {MANIFEST}",
        )
    manifest = CsvManifest()
    for names in _grouped(found):
        with reading(folder / names[0]):
            columns = {read_column(field).type for field in _first_record(folder / names[0])}
            if columns & {"START_ID", "END_ID"}:
                manifest.relationships.append(RelationshipFiles(files=names))
            elif columns & {"ID", "LABEL"}:
                manifest.nodes.append(NodeFiles(files=names))
            else:
                raise ValueError("its first line has neither :ID nor :START_ID, as the layout of Neo4j's importer has")
    return manifest


def _grouped(names: list[str]) -> list[list[str]]:
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


def _first_record(path: Path) -> Record:
    check_link(path, ConfigError)
    with open_text(path) as file:
        start = file.read(_LONGEST_HEADER)
    return next((record for _, record in csv_records(start)), [])

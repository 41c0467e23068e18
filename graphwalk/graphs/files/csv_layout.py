"""The layout of Neo4j's importer: what the columns of a CSV file mean, and which files of a folder belong together.

nodes           key:ID,name:string,born:date,tags:string[],at:point,:LABEL
relationships   :START_ID,:END_ID,:TYPE,since:long
id spaces       :ID(Person)     :START_ID(Person)
import.yaml     nodes: [{files: [people-header.csv, people-1.csv], labels: [Person]}]
                relationships: [{files: [knows.csv], type: KNOWS}]
                delimiter: ","     array_delimiter: ";"     quote: '"'
"""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import Field, field_validator

from graphwalk.config.strict import Strict

MANIFEST = "import.yaml"
NUMBER = "number"
"""Name of a column that the importer ignores: the place of a node in the graph that was written."""
STRUCTURE = ("ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE")
_COLUMN = re.compile(
    r"(?s)(?P<name>.*):(?P<type>[A-Za-z_]+)(?P<list>\[\])?(?:\((?P<space>[^()]*)\))?(?P<options>\{[^{}]*\})?"
)


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """`type` is one of STRUCTURE, else a type of values in lower case."""

    name: str
    type: str = "string"
    is_list: bool = False
    space: str = ""
    options: tuple[tuple[str, str], ...] = ()


def read_column(text: str | None) -> CsvColumn:
    """The meaning of a field of a header. Without a type it is text; without anything, ignored."""
    if text is None:
        return CsvColumn("", "IGNORE")
    found = _COLUMN.fullmatch(text)
    if found is None:
        return CsvColumn(text)
    type_ = found["type"] if found["type"] in STRUCTURE else found["type"].lower()
    entries = (entry.partition(":") for entry in (found["options"] or "{}")[1:-1].split(",") if entry.strip())
    options = tuple((name.strip().lower(), value.strip()) for name, _, value in entries)
    return CsvColumn(found["name"], type_, bool(found["list"]), found["space"] or "", options)


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
    """`labels` are given to all nodes, besides those of the column :LABEL."""

    labels: list[str] = Field(default_factory=list)


class RelationshipFiles(_Files):
    """`type` is that of relationships for which the column :TYPE gives none."""

    type: str | None = None


class CsvManifest(Strict):
    """What `import.yaml` says about a folder; without that file the headers tell nodes from relationships."""

    nodes: list[NodeFiles] = Field(default_factory=list)
    relationships: list[RelationshipFiles] = Field(default_factory=list)
    delimiter: str = Field(",", min_length=1, max_length=1)
    array_delimiter: str = Field(";", min_length=1, max_length=1)
    quote: str = Field('"', min_length=1, max_length=1)
    made: dict[str, Any] = Field(default_factory=dict)
    """How GraphWalk made the graph: version, seed and spec."""

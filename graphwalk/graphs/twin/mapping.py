"""What stands for what in a twin, as a file of its own: whoever has it can undo the twin."""

import json
from pathlib import Path
from typing import Any

from graphwalk.files import write_whole
from graphwalk.graphs.twin.making import Twin, values_of
from graphwalk.types.values import shown


def mapping_of(twin: Twin) -> dict[str, Any]:
    """Names and keys of the original → those of the twin, and by property pairs of values, as they are shown."""
    return {
        "original": twin.original.digest,
        "twin": twin.graph.digest,
        "labels": dict(twin.labels),
        "relationship_types": dict(twin.relationship_types),
        "properties": dict(twin.properties),
        "keys": dict(twin.keys),
        "values": {
            name: [[shown(value), shown(twin.values.of(name, value))] for value in values]
            for name, values in sorted(values_of(twin.original).items())
        },
    }


def save_mapping(twin: Twin, path: Path) -> None:
    """Write the mapping so that only its owner may read it. ConfigError where it cannot be written."""
    write_whole(path, [json.dumps(mapping_of(twin), ensure_ascii=False, indent=1), "\n"], private=True)

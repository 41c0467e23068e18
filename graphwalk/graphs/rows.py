"""Graphs in files, JSON Lines or Parquet: a row for each, with what its JSON file would hold."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from graphwalk.bulk import Rows, in_ranges
from graphwalk.graphs.formats.json import json_document
from graphwalk.graphs.generate import GraphSpec, generate_graph

_COLUMNS: dict[str, type] = {"schema_version": int, "seed": int, "spec": dict, "nodes": list, "relationships": list}
_NODES = 20_000
"""Of the graphs of a part, together."""


def graph_rows(spec: GraphSpec, seed: int, first: int, count: int) -> Rows:
    """Return `count` graphs of a series, from number `first` on; the count of `spec` is ignored."""
    return Rows(
        name="graphs",
        of=partial(_graphs, spec, seed),
        jobs=partial(in_ranges, first, count, max(1, _NODES // spec.nodes)),
        columns=_COLUMNS,
        about={"graphs": spec.model_dump(mode="json", exclude={"count"}), "seed": seed, "index": first, "count": count},
        total=count,
    )


def _graphs(spec: GraphSpec, seed: int, indexes: tuple[int, int]) -> Iterator[dict[str, Any]]:
    for index in range(*indexes):
        yield json_document(generate_graph(spec, seed, index))

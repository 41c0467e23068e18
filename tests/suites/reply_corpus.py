"""Count how the replies of `tests/data/replies.yaml` are read.

An entry whose `says` is its target is right, any other one a trap: it is wrong, ambiguous or no answer, and a
misreading of it would score as correct.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from graphwalk.suites import extraction as reading
from graphwalk.suites.extraction import Extraction
from graphwalk.suites.magma.answers import read_states, score_states
from graphwalk.suites.mazes.suite import extract_path
from graphwalk.suites.rows import compare_rows, row_form

FILE = Path(__file__).parents[1] / "data" / "replies.yaml"
FIELDS = {
    "keys": ("node_key",),
    "count": ("count",),
    "value": ("value",),
    "pairs": ("source_key", "target_key"),
    "top": ("node_key", "rel_count"),
}
ALGORITHMS = {"bfs": "bfs", "dfs": "dfs", "dijkstra": "dijkstra", "mst": "mst_prim"}


class Reading(NamedTuple):
    """`right`: the reply gives the target. `correct`: what was read scores as correct."""

    part: str
    entry: dict[str, Any]
    extraction: Extraction
    right: bool
    correct: bool


def readings() -> Iterator[Reading]:
    for part, entries in yaml.safe_load(FILE.read_text(encoding="utf-8")).items():
        for entry in entries:
            extraction = extract(entry["kind"], entry["reply"])
            target = entry.get("misread", entry["says"])
            correct = scores(entry["kind"], extraction.answer, target)
            yield Reading(part, entry, extraction, "misread" not in entry, correct)


def extract(kind: str, reply: str) -> Extraction:
    if kind in FIELDS:
        return reading.extract(reply, row_form(FIELDS[kind]))
    return extract_path(reply) if kind == "maze" else read_states(ALGORITHMS[kind], reply)


def scores(kind: str, answer: Any, target: list[Any]) -> bool:
    """Return True if an answer scores as correct."""
    if kind == "maze":
        return bool(answer == target)
    if kind in ALGORITHMS:
        return answer is not None and bool(score_states(ALGORITHMS[kind], Extraction(answer), target).correct)
    fields = FIELDS[kind]
    rows = [dict(zip(fields, row if len(fields) > 1 else [row], strict=True)) for row in target]
    return compare_rows(answer, rows, fields).correct


def counts(read: list[Reading]) -> Counter[str]:
    traps = [reading for reading in read if not reading.right and reading.correct]
    return Counter(
        {
            "replies": len(read),
            "right, read right": sum(reading.right and reading.correct for reading in read),
            "wrong, read right, not lossy": sum(not reading.extraction.lossy for reading in traps),
            "right, read right, lossy": sum(r.right and r.correct and r.extraction.lossy for r in read),
        }
    )

"""The chats of `walk_or_read`: walker and reader learn from the same graphs."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.runs.experiment import load_experiment
from training import chats


def specs_of(fields: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Return nodes, first graph and number of graphs of each kind."""
    return [(spec["nodes"], spec["offset"], spec["count"]) for spec in fields["suite.graphs"]]


@pytest.mark.parametrize("graphs", [None, 3, 25, 60])
def test_the_parts_of_the_reader_are_together_the_graphs_of_the_walker(graphs: int | None) -> None:
    parts = chats.reading_parts(graphs)
    wanted = load_experiment(str(chats.TRAIN), graphs=graphs).suite.graphs
    for kind, spec in enumerate(wanted):
        numbers = list[int]()
        for part in parts:
            nodes, offset, count = specs_of(part)[kind]
            assert nodes == spec.nodes
            numbers.extend(range(offset, offset + count))
        assert numbers == list(range(spec.count))


@pytest.mark.extended
def test_reader_and_walker_get_the_same_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two parts of one graph each make what one part of two graphs makes, and what the walker is asked."""
    monkeypatch.setattr(chats, "_PART", 1)
    read = [line for part in chats.reading_parts(2) for line in asyncio.run(chats._read_lines(part))]
    tasks = {json.loads(line)["task_id"] for line in read}
    train = chats.walking_chats(tmp_path, 2)
    walked = {json.loads(line)["task_id"] for line in train.read_text(encoding="utf-8").splitlines()}
    assert tasks == walked
    assert len(tasks) == len(read) == 20

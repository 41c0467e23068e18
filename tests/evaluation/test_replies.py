"""The corpus of replies in `data/replies`: what each must be read as."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from graphwalk.evaluation.extraction import Extraction, extract
from graphwalk.evaluation.rows import row_shapes
from graphwalk.suites.magma.answers import read_answer
from graphwalk.suites.mazes.score import extract_path

FOLDER = Path(__file__).parent.parent / "data" / "replies"
FILES: dict[str, dict[str, Any]] = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(FOLDER.iterdir())}
REPLIES = [(name, number) for name, file in FILES.items() for number in range(len(file["replies"]))]


def reading(file: dict[str, Any], reply: str) -> Extraction:
    if file["suite"] == "questions":
        return extract(reply, *row_shapes(file["fields"]))
    return extract_path(reply) if file["suite"] == "mazes" else read_answer(file["algorithm"], reply)


@pytest.mark.parametrize(("name", "number"), REPLIES)
def test_each_reply_is_read_as_it_must_be(name: str, number: int) -> None:
    entry = FILES[name]["replies"][number]
    expected = Extraction(entry["answer"], entry["stage"], entry.get("lossy", False))
    assert reading(FILES[name], entry["reply"]) == expected, entry["why"]


def test_the_corpus_is_wide() -> None:
    entries = [(file["suite"], entry["reply"]) for file in FILES.values() for entry in file["replies"]]
    assert len(set(entries)) >= 300
    assert {suite for suite, _ in entries} == {"questions", "mazes", "magma"}

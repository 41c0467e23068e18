"""Rows of a file: JSON lines that are written, JSON lines and Parquet that are read."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars
import pytest

from graphwalk.errors import ConfigError
from graphwalk.files.bulk import usable_rows, write_rows


def test_rows_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"number": number, "text": "é", "parts": [number**2, {"a": None}]} for number in range(40)]
    assert write_rows(rows, path) == 40
    assert [json.loads(line) for line in path.read_text().splitlines()] == rows
    before = path.read_bytes()

    def broken() -> Iterator[dict[str, Any]]:
        yield rows[0]
        raise ConfigError("33 is wrong")

    with pytest.raises(ConfigError, match="33 is wrong"):
        write_rows(broken(), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with pytest.raises(ConfigError, match=r"rows.parquet: expected a .jsonl file"):
        write_rows(rows, tmp_path / "rows.parquet")


def test_both_forms_are_read_alike(tmp_path: Path) -> None:
    rows = [{"number": number, "text": "é" if number % 3 else None} for number in range(140)]
    write_rows(rows, tmp_path / "rows.jsonl")
    polars.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    for ending in ("jsonl", "parquet"):
        path = tmp_path / f"rows.{ending}"
        assert list(usable_rows(path, ["number"], lambda row, _: row["number"])) == list(range(140))


def test_rows_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f'{{"a": {number}}}\n' for number in range(60)) + "[]\n")

    def read(row: Any, number: int) -> int | None:
        if row["a"] % 2:
            raise ValueError(f"{row['a']} is odd")
        return int(row["a"]) if row["a"] > 50 else None

    with pytest.raises(ConfigError, match=r"row 2: 1 is odd"):
        list(usable_rows(path, ["a"], read))
    path.write_text("".join(f'{{"a": {number}}}\n' for number in range(0, 60, 2)))
    assert list(usable_rows(path, ["a"], read)) == [52, 54, 56, 58]
    polars.DataFrame({"number": [1, 2, 3]}).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(
        ConfigError, match=r'rows.parquet cannot be read .*: unable to find column "a"; valid columns: '
    ):
        list(usable_rows(tmp_path / "rows.parquet", ["a"], read))
    with pytest.raises(ConfigError, match=r"rows.csv: expected a .jsonl or .parquet file"):
        list(usable_rows(tmp_path / "rows.csv", ["a"], read))

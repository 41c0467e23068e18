"""Rows of a file: the same bytes from any number of processes."""

import json
from pathlib import Path
from typing import Any

import pytest
from polars import read_parquet

from graphwalk.errors import ConfigError
from graphwalk.files.bulk import usable_rows, write_rows
from tests.number_rows import COLUMNS, number_rows, rows_of_numbers


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_any_number_of_processes_writes_the_same_bytes(tmp_path: Path, ending: str) -> None:
    one, two = tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"
    for path, workers in ((one, 1), (two, 2)):
        assert write_rows(number_rows(95).in_order(workers), path, COLUMNS) == 95
    assert one.read_bytes() == two.read_bytes()
    with pytest.raises(ConfigError, match="33 is wrong"):
        write_rows(number_rows(50, wrong=33).in_order(2), one, COLUMNS)
    assert one.read_bytes() == two.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([one.name, two.name])


def test_both_forms_hold_the_same_and_are_read_as_they_were_written(tmp_path: Path) -> None:
    for ending in ("jsonl", "parquet"):
        path = tmp_path / f"rows.{ending}"
        assert write_rows(rows_of_numbers(range(40)), path, COLUMNS) == 40
        assert list(usable_rows(path, ["number"], lambda row, _: row["number"])) == list(range(40))
    lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    rows = read_parquet(tmp_path / "rows.parquet").to_dicts()
    assert [{**row, "parts": json.loads(row["parts"])} for row in rows] == lines


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
    write_rows(rows_of_numbers(range(3)), tmp_path / "rows.parquet", COLUMNS)
    with pytest.raises(
        ConfigError, match=r'rows.parquet cannot be read .*: unable to find column "a"; valid columns: '
    ):
        list(usable_rows(tmp_path / "rows.parquet", ["a"], read))
    with pytest.raises(ConfigError, match=r"rows.csv: expected a .jsonl or .parquet file"):
        list(usable_rows(tmp_path / "rows.csv", ["a"], read))

"""Rows by the million: in constant memory, and the same bytes from any number of processes."""

import json
import tracemalloc
from pathlib import Path

import pytest
from pyarrow.parquet import read_table

from graphwalk.errors import ConfigError
from graphwalk.files.bulk import write_in_parallel, write_rows
from tests.squares import COLUMNS, rows_of, squares


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_any_number_of_processes_writes_the_same_bytes(tmp_path: Path, ending: str) -> None:
    one, two = tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"
    assert write_in_parallel(squares(95), one, 1) == 95
    assert write_in_parallel(squares(95), two, 2) == 95
    assert one.read_bytes() == two.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([one.name, two.name])


def test_both_forms_hold_the_same(tmp_path: Path) -> None:
    for ending in ("jsonl", "parquet"):
        assert write_rows(rows_of(range(25)), tmp_path / f"rows.{ending}", COLUMNS) == 25
    lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    rows = read_table(tmp_path / "rows.parquet").to_pylist()
    assert [{**row, "parts": json.loads(row["parts"])} for row in rows] == lines
    assert [line["number"] for line in lines] == list(range(25))


def test_a_row_that_cannot_be_made_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="33 is wrong") as caught:
        write_in_parallel(squares(50, wrong=33), tmp_path / "rows.jsonl", 2)
    assert caught.value.hint == "another one"
    assert not list(tmp_path.iterdir())


def test_missing_folder_is_an_error_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        write_in_parallel(squares(50, wrong=0), tmp_path / "no" / "rows.jsonl", 1)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_memory_does_not_grow_with_the_rows(tmp_path: Path, ending: str) -> None:
    write_rows(rows_of(range(100)), tmp_path / f"first.{ending}", COLUMNS)

    def peak(count: int) -> int:
        tracemalloc.start()
        try:
            write_rows(rows_of(range(count)), tmp_path / f"{count}.{ending}", COLUMNS)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # The end of a Parquet file tells some 500 bytes of each group of rows; the rows themselves are megabytes.
    assert peak(40_000) < 1.1 * peak(4_000) + 60_000

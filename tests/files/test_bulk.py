"""Rows by the million: in constant memory; in parts the same bytes from any number of processes, after a kill too."""

import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet
import pytest
from pyarrow.parquet import read_table

from graphwalk.errors import ConfigError
from graphwalk.files import bulk
from graphwalk.files.bulk import read_rows, usable_rows, write_in_parts, write_rows
from tests.squares import COLUMNS, rows_of, squares


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_any_number_of_processes_writes_the_same_bytes(tmp_path: Path, ending: str) -> None:
    one, two = tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"
    assert write_in_parts(squares(95), one, 1) == 95
    assert write_in_parts(squares(95), two, 2) == 95
    assert one.read_bytes() == two.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([one.name, two.name])


def test_both_forms_hold_the_same_and_are_read_as_they_were_written(tmp_path: Path) -> None:
    for ending in ("jsonl", "parquet"):
        path = tmp_path / f"rows.{ending}"
        assert write_rows(rows_of(range(40)), path, COLUMNS) == 40
        numbers = [row["number"] for _, row in read_rows(path, ["number"]) if not isinstance(row, str)]
        assert numbers == list(range(40))
    lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    rows = read_table(tmp_path / "rows.parquet").to_pylist()
    assert [{**row, "parts": json.loads(row["parts"])} for row in rows] == lines


def test_bad_lines_are_read_as_reasons(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"b": 1}\n\n[]\n{"a"\n')
    row, *reasons = read_rows(path, ["a"])
    assert row == (1, {"a": 1})
    assert [(n, str(reason)[:8]) for n, reason in reasons] == [(2, "missing "), (4, "not a JS"), (5, "not JSON")]


def test_lists_and_csv_are_read_by_their_endings(tmp_path: Path) -> None:
    csv, listed = tmp_path / "rows.csv", tmp_path / "rows.json"
    csv.write_text('\ufeffa,b\n1,"two\nlines"\n2,x,y\n', encoding="utf-8")
    assert list(read_rows(csv, endings=(".csv",))) == [
        (3, {"a": "1", "b": "two\nlines"}),
        (4, {"a": "2", "b": "x", "(a cell without a column)": ["y"]}),
    ]
    for text, rows in (
        ('[{"a": 1}, 3]', [(1, {"a": 1}), (2, "not a JSON object")]),
        ('{"a": 1}', [(1, {"a": 1})]),
        ('[{"a": 1}', [(1, "not JSON: Expecting ',' delimiter: column 10 (char 9)")]),
    ):
        listed.write_text(text)
        assert list(read_rows(listed, endings=(".json",))) == rows
    csv.write_bytes(b"a\n\xff\n")
    for path in (csv, tmp_path / "absent.csv"):
        with pytest.raises(ConfigError, match="cannot be read"):
            list(read_rows(path, endings=(".csv",)))


def test_rows_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f'{{"a": {number}}}\n' for number in range(60)) + "[]\n")

    def read(row: Any, number: int) -> int | None:
        if row["a"] % 2:
            raise ValueError(f"{row['a']} is odd")
        return int(row["a"]) if row["a"] > 50 else None

    with pytest.raises(ConfigError, match=r"31 rows cannot be used:\n  row 2: 1 is odd\n(.*\n){19}  … and 11 more"):
        usable_rows(path, ["a"], read)
    path.write_text("".join(f'{{"a": {number}}}\n' for number in range(0, 60, 2)))
    assert list(usable_rows(path, ["a"], read)) == [52, 54, 56, 58]
    with pytest.raises(ConfigError, match=r"rows.csv: expected a .jsonl or .parquet file"):
        list(read_rows(tmp_path / "rows.csv", ["a"]))


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv", ".parquet"])
def test_fifo_is_refused_instead_of_waited_for(tmp_path: Path, ending: str) -> None:
    os.mkfifo(path := tmp_path / f"rows{ending}")
    with pytest.raises(ConfigError, match="is not a regular file"):
        next(read_rows(path, endings=(".jsonl", ".json", ".csv", ".parquet")))


def test_parquet_that_unpacks_into_gigabytes_is_read_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    value = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 16, pyarrow.int32()), ["x" * 40_000_000])
    pyarrow.parquet.write_table(pyarrow.table({"a": value}), path, compression="zstd")
    assert path.stat().st_size < 20_000
    tracemalloc.start()
    try:
        assert sum(len(row["a"]) for _, row in read_rows(path, ["a"]) if isinstance(row, dict)) == 640_000_000
        assert tracemalloc.get_traced_memory()[1] < 400_000_000
    finally:
        tracemalloc.stop()


def test_parquet_whose_row_group_needs_gigabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    lists = pyarrow.ListArray.from_arrays([0, 20_000_000], pyarrow.nulls(20_000_000, pyarrow.string()))
    pyarrow.parquet.write_table(pyarrow.table({"a": lists}), path)
    assert path.stat().st_size < 20_000
    with pytest.raises(ConfigError, match=r"a row group needs 1,280,.* bytes of memory") as caught:
        next(read_rows(path, ["a"]))
    assert "row_group_size" in caught.value.hint


@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_json_line_without_an_end_is_refused(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "_LONGEST_LINE", 1000)
    path = tmp_path / f"rows{ending}"
    path.write_text("[" + "1," * 1000)
    with pytest.raises(ConfigError, match="line 1: more than 1,000 characters"):
        list(read_rows(path, endings=(".jsonl", ".json")))


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for read_or_write in (lambda path: list(read_rows(path, [])), lambda path: write_rows([], path, COLUMNS)):
        with pytest.raises(ConfigError, match="Parquet needs pyarrow") as error:
            read_or_write(tmp_path / "rows.parquet")
        assert "'.[parquet]'" in error.value.hint


def test_parquet_without_a_column_or_that_is_none_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write_rows([{"b": 1}], path, {"b": int})
    with pytest.raises(ConfigError, match="missing columns a, c"):
        list(read_rows(path, ["a", "b", "c"]))
    path.write_text("text")
    with pytest.raises(ConfigError, match="cannot be read as Parquet"):
        list(read_rows(path, ["a"]))


@pytest.mark.parametrize(("ending", "workers"), [("jsonl", 1), ("parquet", 2)])
def test_the_parts_of_a_killed_process_are_continued_to_the_same_bytes(
    tmp_path: Path, ending: str, workers: int
) -> None:
    out, undisturbed = tmp_path / f"rows.{ending}", tmp_path / f"undisturbed.{ending}"
    parts = tmp_path / f"rows.{ending}.parts"
    process = subprocess.Popen([sys.executable, "-m", "tests.squares", str(out), str(workers)])
    try:
        until(lambda: len(list(parts.glob("0*.jsonl"))) >= 4, 240)
        children = psutil.Process(process.pid).children()
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    until(lambda: not any(map(alive, children)), 60)
    assert not out.exists()
    written = sorted(parts.glob("0*.jsonl"))
    assert 4 <= len(written) < 50
    assert write_in_parts(squares(400, wrong=7), out, 1) == 400  # in the first part, which is not made again
    write_in_parts(squares(400), undisturbed, 1)
    assert out.read_bytes() == undisturbed.read_bytes()
    assert not parts.exists()


def test_resume_with_other_settings_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    with pytest.raises(ConfigError, match="33 is wrong") as caught:
        write_in_parts(squares(50, wrong=33), out, 2)
    assert caught.value.hint == "another one"
    assert not out.exists()
    with pytest.raises(ConfigError, match="holds parts of a file with other inputs") as caught:
        write_in_parts(squares(60), out, 1)
    assert "rm -r" in caught.value.hint
    assert write_in_parts(squares(50), out, 1) == 50
    with pytest.raises(ConfigError, match="cannot be written"):  # before the work
        write_in_parts(squares(50, wrong=0), tmp_path / "no" / "rows.jsonl", 1)


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


def until(holds: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE

"""Runs as CSV, for spreadsheets and programs: `episodes.csv` and `calls.csv`."""

import csv
import io
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from graphwalk.exports.episodes import Episodes, new_folder
from graphwalk.exports.tables import cell, columns_of, rows_of
from graphwalk.files import new_file
from graphwalk.report.written import is_formula


def export_csv(episodes: Episodes, out: Path) -> None:
    """CSV: episodes.csv with a row for each episode, calls.csv with a row for each call, in a new folder.

    A text that a spreadsheet would run as a formula has an apostrophe in front.
    """
    folder, tables = new_folder(out), columns_of(episodes)
    with ExitStack() as stack:
        writers = {}
        for table, columns in tables.items():
            file = stack.enter_context(new_file(folder / f"{table}.csv"))
            text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
            stack.callback(text.detach)
            writers[table] = csv.writer(text, lineterminator="\n")
            writers[table].writerow(columns)
        for result in episodes:
            for table, rows in rows_of(result, episodes.suite.score_type).items():
                writers[table].writerows([_inert(row.get(name)) for name in tables[table]] for row in rows)


def _inert(value: Any) -> Any:
    plain = cell(value)
    if not isinstance(plain, str):
        return plain
    # Some programs end a text at a NUL, some refuse the file.
    plain = plain.replace("\0", "\\x00")
    return f"'{plain}" if is_formula(plain) else plain

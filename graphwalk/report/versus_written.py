"""A comparison of runs on a terminal, and as JSON, CSV and Markdown."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from graphwalk.console import counted
from graphwalk.report.terminal import rendered
from graphwalk.report.versus import Versus, versus_tables
from graphwalk.report.written import csv_cell, markdown_table, markdown_text

MOST_TASKS = 20
"""Tasks that changed sides in a terminal."""


class TerminalVersus:
    """Tables that fit themselves into the width. The `commands` are not among them, since they must stay whole."""

    def __init__(self, made: Versus, *, most_tasks: int | None = MOST_TASKS) -> None:
        """`most_tasks`: tasks that changed sides that are listed; None: all."""
        self.made = replace(made, changed=made.changed[:most_tasks])
        self.left_out = len(made.changed) - len(self.made.changed)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in versus_tables(self.made):
            yield from rendered(table, options.max_width)
        if self.left_out:
            yield Text(f"… and {counted(self.left_out, 'more task')}: --all, or --json\n")
        for note in self.made.notes:
            yield Text(note, style="dim")

    @property
    def commands(self) -> list[str]:
        """Those that show the tasks that are listed."""
        return list(dict.fromkeys(command for one in self.made.changed for command in one["commands"]))


def versus_json(made: Versus) -> str:
    return json.dumps(made.as_dict(), indent=2, allow_nan=False)


def versus_csv(made: Versus) -> str:
    """One line per pair and measure of every table, per task that changed sides (`table` is "changed"), and note."""
    lines = list(_lines(made))
    names = dict.fromkeys(name for line in lines for name in line)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: csv_cell(value) for name, value in line.items()} for line in lines)
    return stream.getvalue()


def versus_markdown(made: Versus) -> str:
    notes = (f"* {markdown_text(note)}" for note in made.notes)
    return "\n".join([*map(markdown_table, versus_tables(made)), *notes, ""])


def _lines(made: Versus) -> Iterator[dict[str, Any]]:
    for table, pairs in (("overall", made.overall), *made.groups.items()):
        for pair in pairs:
            names = {name: value for name, value in pair.items() if name not in ("measures", table)}
            for measure, found in pair["measures"].items():
                low, high = found["interval"] or (None, None)
                figures = {name: value for name, value in found.items() if name != "interval"}
                yield {"table": table, "group": pair.get(table, ""), **names, "measure": measure, **figures} | {
                    "difference_low": low,
                    "difference_high": high,
                }
    for one in made.changed:
        yield {**one, "table": "changed", "commands": "; ".join(one["commands"])}
    yield from ({"table": "note", "no_interval": note} for note in made.notes)

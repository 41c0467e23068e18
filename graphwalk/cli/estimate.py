"""Print the cost of a run, or check its setup, instead of running it (`--dry-run`, `--check-setup`)."""

import json
from typing import TYPE_CHECKING

from graphwalk.errors import counted
from graphwalk.terminal import data, progress_bar, run_async

if TYPE_CHECKING:
    from graphwalk.analysis.estimate import ModelEstimate, RunEstimate
    from graphwalk.runs.resolve import Experiment

_WIDTH = 80
_COLUMNS = {
    "episodes": "episodes",
    "model_calls": "calls",
    "tool_calls": "tool\ncalls",
    "new_tokens": "new\ninput",
    "repeated_tokens": "repeated\ninput",
    "output_tokens": "output\ntokens",
}
"""Field of an estimate → head in the table that a dry run prints."""


def print_setup(experiment: "Experiment", as_json: bool) -> None:
    """Print for each setting how many tasks the scripted expert solves under this setup."""
    from graphwalk.analysis.estimate import check_setup, window_notes
    from graphwalk.runs.resolve import context_windows

    windows = run_async(context_windows(experiment))
    with progress_bar("expert plays") as done:
        solved = run_async(check_setup(experiment, windows, done))
    if as_json:
        shares = {setting: share and share[0] / share[1] for setting, share in solved.items()}
        data(json.dumps({"experiment": experiment.config.name, "expert": shares}, indent=2))
        return
    for note in window_notes(windows):
        data(note)
    for setting, share in solved.items():
        words = "not known: no scripted agent plays it" if share is None else f"{share[0]} of {share[1]} tasks"
        data(f"Expert under this setup, {setting}: {words}")


def print_estimate(experiment: "Experiment", as_json: bool) -> None:
    """Print tasks, calls, tokens and cost of a run."""
    from graphwalk.analysis.estimate import estimate_run
    from graphwalk.runs.resolve import context_windows

    estimate = run_async(estimate_run(experiment, run_async(context_windows(experiment))))
    data(estimate.as_json() if as_json else dry_run_text(estimate))


def dry_run_text(estimate: "RunEstimate") -> str:
    """Return the text of a dry run: tasks, a table of models and settings, assumptions; at most 80 columns."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=_WIDTH, highlight=False, markup=False, emoji=False, color_system=None)
    table = Table(box=None, pad_edge=False)
    for title in ("model", "setting"):
        table.add_column(title, overflow="fold")
    for title in (*_COLUMNS.values(), "cost"):
        table.add_column(title, justify="right")
    lines = [(row.model, row.setting, [row]) for row in estimate.rows]
    if len(lines) > 1:
        lines.append(("all", "", [*estimate.rows]))
    for model, setting, rows in lines:
        sums = [_short(sum(row.as_dict()[field] for row in rows)) for field in _COLUMNS]
        table.add_row(Text(model), Text(setting), *sums, _cost(rows))
    tasks = ", ".join(f"{number} {template}" for template, number in estimate.tasks.items())
    notes = Table.grid(padding=(0, 1))
    for note in (*(f"Price of {model}: {price}." for model, price in estimate.prices.items()), *estimate.notes):
        notes.add_row("*", note)
    with console.capture() as printed:
        console.print(f"{estimate.experiment}: {counted(sum(estimate.tasks.values()), 'task')}: {tasks}\n")
        console.print(table, "", notes, sep="\n")
    return "\n".join(line.rstrip() for line in printed.get().splitlines())


def _cost(rows: "list[ModelEstimate]") -> str:
    costs = [row.usd for row in rows if row.usd is not None]
    if not costs:
        return "unknown"
    dollars = f"${sum(costs):,.2f}" if not 0 < sum(costs) < 0.1 else f"${sum(costs):.4f}"
    return dollars if len(costs) == len(rows) else f"> {dollars}"


def _short(number: int) -> str:
    """Return `1.23M` for 1234567."""
    if number < 100_000:
        return f"{number:,}"
    return f"{number / 1e3:.0f}k" if number < 1_000_000 else f"{number / 1e6:,.2f}M"

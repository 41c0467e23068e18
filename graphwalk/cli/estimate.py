"""Print the cost of a run, or check its setup, instead of running it (`--dry-run`, `--check-setup`)."""

import json
from typing import TYPE_CHECKING, Any

from graphwalk.errors import counted
from graphwalk.terminal import print_data, progress_bar, run_async, stdout

if TYPE_CHECKING:
    from graphwalk.runs.resolve import ResolvedExperiment


def print_setup(experiment: "ResolvedExperiment", as_json: bool) -> None:
    """Print for each setting how many tasks the scripted expert solves under this setup."""
    from graphwalk.analysis.estimate import check_setup, window_notes
    from graphwalk.runs.resolve import context_windows

    windows = run_async(context_windows(experiment))
    with progress_bar("expert plays") as done:
        solved = run_async(check_setup(experiment, windows, done))
    if as_json:
        # {"tools": 0.9583, "no_tools": null}
        shares: dict[str, float | None] = {}
        for setting, right_of_tasks in solved.items():
            shares[setting] = None
            if right_of_tasks is not None:
                right, tasks = right_of_tasks
                shares[setting] = right / tasks
        print_data(json.dumps({"experiment": experiment.config.name, "expert": shares}, indent=2))
        return
    for note in window_notes(windows):
        print_data(note)
    for setting, right_of_tasks in solved.items():
        words = "not known: no scripted agent plays it"
        if right_of_tasks is not None:
            right, tasks = right_of_tasks
            words = f"{right} of {tasks} tasks"
        print_data(f"Expert under this setup, {setting}: {words}")


def print_estimate(experiment: "ResolvedExperiment", as_json: bool) -> None:
    """Print tasks, calls, tokens and cost of a run."""
    from graphwalk.analysis.estimate import estimate_run
    from graphwalk.analysis.report.text_table import Column, TableRow, TextTable, dollars, rendered, short
    from graphwalk.runs.resolve import context_windows

    windows = run_async(context_windows(experiment))
    estimate = run_async(estimate_run(experiment, windows))
    if as_json:
        print_data(estimate.as_json())
        return
    columns = (
        Column("model", "model", name=True),
        Column("setting", "setting", name=True),
        Column("episodes", "episodes", short),
        Column("calls", "model_calls", short),
        Column("tool\ncalls", "tool_calls", short),
        Column("new\ninput", "new_tokens", short),
        Column("repeated\ninput", "repeated_tokens", short),
        Column("output\ntokens", "output_tokens", short),
        Column("cost", "usd", dollars),
    )
    rows = [TableRow(vars(row)) for row in estimate.rows]
    if len(rows) > 1:
        total: dict[str, Any] = {"model": "all", "setting": ""}
        for column in columns:
            figures = [row.values[column.field] for row in rows]
            # The cost of a model may be unknown, and so is that of all.
            if not column.name and None not in figures:
                total[column.field] = sum(figures)
        rows.append(TableRow(total))
    tasks = ", ".join(f"{number} {template}" for template, number in estimate.tasks.items())
    print_data(f"{estimate.experiment}: {counted(sum(estimate.tasks.values()), 'task')}: {tasks}\n")
    stdout().print(rendered(TextTable("", columns, rows), columns, stdout().width))
    for model, price in estimate.prices.items():
        print_data(f"* Price of {model}: {price}.")
    for note in estimate.notes:
        print_data(f"* {note}")

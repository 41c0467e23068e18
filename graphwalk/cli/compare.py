"""`graphwalk compare`: players against each other, within a run or across runs."""

from pathlib import Path
from typing import Annotated

import typer

from graphwalk.cli.options import run_folders
from graphwalk.cli.report import Format
from graphwalk.console import data, stdout


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Run folders or published runs, one or more.", autocompletion=run_folders
        ),
    ],
    model: Annotated[list[str] | None, typer.Option("--model", "-m", help="Only this model; repeatable.")] = None,
    setting: Annotated[list[str] | None, typer.Option(help="Only this setting; repeatable.")] = None,
    all: Annotated[bool, typer.Option("--all", help="List all tasks that changed sides.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    format: Annotated[Format, typer.Option(help="How to write it.")] = "terminal",
) -> None:
    """Compare models and settings on identical tasks.

    Differences with intervals and tests, overall and by group, and the tasks that changed sides. Runs that do not
    hold the same tasks, or were scored by different code, are refused.
    """
    from graphwalk.reports.formats import (
        MOST_TASKS,
        TerminalComparison,
        comparison_csv,
        comparison_json,
        comparison_markdown,
    )
    from graphwalk.runs.compare import compare_runs

    made = compare_runs(runs, models=model or (), settings=setting or ())
    form = "json" if json else format
    if form == "terminal":
        shown = TerminalComparison(made, most_tasks=None if all else MOST_TASKS)
        stdout().print(shown)
        if shown.commands:
            data(
                "\n".join(["", "To see the episodes of these tasks:", *(f"  {command}" for command in shown.commands)])
            )
    else:
        data({"json": comparison_json, "csv": comparison_csv, "markdown": comparison_markdown}[form](made).rstrip("\n"))

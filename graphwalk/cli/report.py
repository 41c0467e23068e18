"""`graphwalk report`, `graphwalk compare` and `graphwalk rescore`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphwalk.cli.options import Json, Models, Names, Run, RunOrFile, SettingNames, names_in
from graphwalk.errors import counted
from graphwalk.terminal import print_data, print_message, print_tables, progress_bar

if TYPE_CHECKING:
    from graphwalk.analysis.report.formats import Printed
    from graphwalk.runs.folder import RunFolder

OVERVIEW = 2
"""Tables printed at the end of a run: overall, and model against model or the first breakdown."""

Format = Literal["terminal", "csv", "markdown", "latex"]
Notes = Annotated[
    bool, typer.Option("--notes", help="Add notes on columns, intervals, tests and sources; not in JSON, CSV, LaTeX.")
]


def report(
    folder: RunOrFile,
    json: Json = False,
    format: Annotated[Format, typer.Option(help="Output format; graphwalk view writes a page.")] = "terminal",
    table: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Print only this LaTeX table: by-size, by-category, or another grouping."),
    ] = None,
    plots: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write plots as SVG and PNG, instead of tables."),
    ] = None,
    name: Names = None,
    with_notes: Notes = False,
) -> None:
    """Print the verdict on a run and its tables.

    They show scores with confidence intervals, by category and graph size, and the published results.
    """
    from graphwalk.analysis.report.formats import to_latex
    from graphwalk.analysis.report.report import origin_of, report_of
    from graphwalk.runs.folder import RunFolder

    if table and (json or plots or format != "latex"):
        raise typer.BadParameter("--table needs --format latex")
    run = RunFolder.open(folder)
    report = report_of(run, names=names_in(name))
    if plots is not None:
        from graphwalk.analysis.report.plot_files import save_plots
        from graphwalk.analysis.report.plots import plots_of

        written = save_plots(plots_of(report), plots)
        for path in written:
            print_data(str(path))
        print_message(f"{counted(len(written), 'file')} written to {plots}")
    elif format == "latex" and not json:
        print_data(to_latex(report, origin_of(run), table))
    else:
        _print(report, "json" if json else format, with_notes=with_notes)


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN", help="Run folders or published runs."),
    ],
    model: Models = None,
    setting: SettingNames = None,
    by: Annotated[
        Literal["question", "calls"] | None,
        typer.Option(help="Split each difference by kind of question, or by the calls that the expert needs."),
    ] = None,
    name: Names = None,
    with_notes: Notes = False,
    json: Json = False,
) -> None:
    """Compare models and settings on identical tasks.

    A verdict in words comes first, then differences with intervals and tests. Runs with different tasks or scorers are
    refused. To see two models side by side on the same tasks: graphwalk view RUN RUN
    """
    from graphwalk.analysis.report.compare import compare_runs

    comparison = compare_runs(runs, models=model or (), settings=setting or (), by=by, names=names_in(name))
    _print(comparison, "json" if json else "terminal", with_notes=with_notes)


def rescore(folder: Run) -> None:
    """Score a run again from its log, without model calls.

    The current scorer is used. The old log is kept.
    """
    from graphwalk.analysis.rescore import rescore_run
    from graphwalk.runs.folder import RunFolder

    run = RunFolder.open(folder)
    with progress_bar("scoring", run.planned_episodes()) as done:
        changed, total = rescore_run(run, done)
    print_message(f"{counted(total, 'result')} rescored, {counted(changed, 'score')} changed")
    print_overview(run)


def print_overview(run: "RunFolder", *, json: bool = False) -> float | None:
    """Print the overview of a run, without explanations, which take longer, or its report as JSON.

    Return the lowest accuracy in percent, None if nothing is scored.
    """
    from graphwalk.analysis.report.report import report_of

    if json:
        report = report_of(run)
        _print(report, "json")
    else:
        # The results as they are logged have no explanations.
        report = report_of(run, run.records())
        _print(report, "terminal", tables=OVERVIEW)

    accuracies = []
    for row in report.rows:
        accuracy = row.figures.get("accuracy")
        if accuracy is not None:
            accuracies.append(accuracy)
    return min(accuracies, default=None)


def _print(report: "Printed", format: str, *, tables: int | None = None, with_notes: bool = False) -> None:
    from graphwalk.analysis.report.formats import OnTerminal, to_csv, to_json, to_markdown
    from graphwalk.analysis.report.report import Report

    if format == "terminal":
        print_tables(OnTerminal(report, tables, with_notes))
        return
    if format == "json":
        text = to_json(report)
    elif format == "markdown":
        text = to_markdown(report, with_notes=with_notes)
    else:
        assert isinstance(report, Report)  # a comparison is printed on the terminal or as JSON
        text = to_csv(report)
    print_data(text.rstrip("\n"))

"""Doing a run and what comes after it: what a person is told meanwhile, the report, and the exit code."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from graphwalk.asynchronous import Interrupted, run_async
from graphwalk.cli.report import OVERVIEW, print_report
from graphwalk.console import counted, say
from graphwalk.errors import ConfigError, GraphwalkError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

    from graphwalk.runs.progress import Progress
    from graphwalk.runs.run_folder import RunFolder
    from graphwalk.runs.worker_pool import RunSummary

    Work = Callable[[Progress], Coroutine[Any, Any, RunSummary]]


def finish(
    folder: "RunFolder",
    work: "Work",
    exporter: "SpanExporter | None",
    fail_under: float | None,
    json: bool,
    *,
    new: bool = False,
) -> None:
    """Do the work, which tells how it goes; then print the report, and exit with the code for how it went.

    A `new` run that does not get as far as a plan leaves nothing.
    """
    try:
        conclude(folder, _done(folder, work, exporter, new), fail_under, json)
    except Interrupted as interrupted:
        if not interrupted.announced:
            say(f"{interrupted}: {_stopping(folder)}")
        raise


def exporter_if(wanted: bool) -> "SpanExporter | None":
    """ConfigError where spans are wanted and the extra is missing, before anything is begun."""
    if not wanted:
        return None
    from graphwalk.runs.spans import otlp_exporter

    return otlp_exporter()


@contextmanager
def _progress(exporter: "SpanExporter | None") -> Iterator["Progress"]:
    """What a person is told, and what a collector of spans is sent."""
    from graphwalk.runs.progress import run_progress

    with run_progress() as progress:
        if exporter is None:
            yield progress
            return
        from graphwalk.runs.spans import traced

        with traced(progress, exporter) as both:
            yield both


def _done(folder: "RunFolder", work: "Work", exporter: "SpanExporter | None", new: bool) -> "RunSummary":
    try:
        with _progress(exporter) as progress:
            return run_async(work(progress), _stopping(folder))
    except GraphwalkError as error:
        # The configuration is stored in the run folder: if it is wrong, resuming would not help.
        wrong = isinstance(error, ConfigError)
        gone = not folder.manifest_path.exists() or (new and folder.discard_unused())
        if not wrong and not gone and folder.archive is None and folder.resume_command not in error.hint:
            error.hint = f"{error.hint}; then  {folder.resume_command}" if error.hint else folder.resume_command
        raise


def _stopping(folder: "RunFolder") -> str:
    return f"stopping; a second signal exits at once. Finished episodes are on disk; resume:  {folder.resume_command}"


def conclude(folder: "RunFolder", summary: "RunSummary", fail_under: float | None, json: bool) -> None:
    """Print the report of a run, and exit with the code for how it went."""
    lowest = print_report(folder.path, "json" if json else "terminal", tables=OVERVIEW)
    say(f"run folder: {folder.path}   (all tables: graphwalk report {folder.quoted})")
    if summary.budget_reached:
        say(f"the budget is spent; with a larger one:  {folder.resume_command} --budget-usd … | --budget-tokens …")
    if summary.finished < summary.episodes:
        missing = summary.episodes - summary.finished
        say(f"{counted(missing, 'episode')} without a score; try again:  {folder.resume_command}")
        raise typer.Exit(4)
    if fail_under is not None and lowest is not None and lowest < fail_under:
        say(f"the lowest accuracy is {lowest:.2f} %, below {fail_under} %")
        raise typer.Exit(5)

"""The commands, and the conversion of exceptions to messages and exit codes."""

import os
import sys
import traceback
from contextlib import suppress
from typing import Annotated, Any, ClassVar

import typer

from graphwalk.asynchronous import Interrupted, heed_signals
from graphwalk.cli import (
    ask,
    database,
    doctor,
    export,
    generate,
    init,
    lists,
    mcp,
    play,
    power,
    report,
    run,
    runs,
    show,
    view,
)
from graphwalk.cli.help import App, Group
from graphwalk.console import reader_gone, show_error, show_warnings_as_lines, write_what_can_be
from graphwalk.errors import GraphwalkError, StoreError
from graphwalk.files import FULL_DISK
from graphwalk.version import __version__

_DEBUG = "--debug"


class _Commands(Group):
    """All commands. A value that an option refuses is reported with the wording used for fields of an experiment."""

    panels: ClassVar = {
        "Run": ("run", "resume", "ask", "play", "merge"),
        "Results": ("report", "compare", "view", "show", "runs", "rescore", "verify", "export", "publish"),
        "Graphs and data": ("generate", "tasks", "convert", "export", "questions", "tools", "experiments"),
        "Neo4j and servers": ("db", "mcp"),
        "Set-up": ("init", "models", "doctor", "power"),
    }

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            wrong = getattr(error.__cause__, "errors", None)
            if wrong is not None:
                from graphwalk.config.yaml_files import in_words

                error.message = in_words(wrong()[0])
            raise


app = App(
    name="graphwalk",
    cls=_Commands,
    help="Let language models walk a graph instead of reading it, and measure how well they do.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.run)
app.command("resume")(run.resume)
app.command("ask")(ask.ask)
app.command("play", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(play.play)
app.command("merge")(runs.merge)
app.command("report")(report.report)
app.command("compare")(report.compare)
app.command("view")(view.view)
app.command("show")(show.show)
app.command("runs")(runs.runs)
app.command("rescore")(report.rescore)
app.command("verify")(runs.verify)
app.add_typer(export.app, name="export")
app.command("publish")(runs.publish)
app.add_typer(generate.app, name="generate")
app.command("tasks")(lists.tasks)
app.command("convert")(generate.convert)
app.command("questions")(lists.questions)
app.command("tools")(lists.tools)
app.command("experiments")(lists.experiments)
app.add_typer(database.app, name="db")
app.command("mcp")(mcp.mcp)
app.command("init")(init.init)
app.add_typer(lists.models, name="models")
app.command("doctor")(doctor.doctor)
app.command("power")(power.power)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"graphwalk {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks; place before the command.")] = False,
) -> None:
    """Options of every command."""


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 internal, 2 usage, 3 environment, 4 infrastructure, 5 below
    `--fail-under`, 128 + n on signal n.
    """
    write_what_can_be()
    show_warnings_as_lines()
    try:
        heed_signals()
        _run()
    except Interrupted as interrupted:
        # The run is saved. The interpreter's shutdown can take seconds and would ignore a second signal.
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(interrupted.exit_code)


def _run() -> None:
    try:
        app(prog_name="graphwalk")
    except SystemExit:
        if reader_gone():
            sys.exit(0)  # as other tools do in `| head`
        raise
    except Exception as error:
        shown = _as_graphwalk_error(error)
        show_error(shown)
        if _DEBUG in sys.argv:
            traceback.print_exc()
        if isinstance(error, OSError):
            # The buffer of stdout may not be writable either.
            with suppress(OSError):
                sys.stdout.close()
        sys.exit(shown.exit_code)


def _as_graphwalk_error(error: Exception) -> GraphwalkError:
    if isinstance(error, GraphwalkError):
        return error
    if isinstance(error, OSError) and error.errno in FULL_DISK:
        return StoreError(f"the output cannot be written: {error.strerror}", hint="free some space")
    cause = f"{type(error).__name__}: {error}"
    return GraphwalkError(f"internal: {cause}", hint=f"rerun as `graphwalk {_DEBUG} …` to see the traceback")

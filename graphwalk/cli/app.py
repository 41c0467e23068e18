"""The commands, and the one way in which errors become messages and exit codes."""

import os
import sys
import traceback
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

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
from graphwalk.console import reader_gone, show_error, show_warnings_as_lines, write_what_can_be
from graphwalk.errors import GraphwalkError, StoreError
from graphwalk.files import FULL_DISK
from graphwalk.version import __version__

_DEBUG = "--debug"


class _Commands(TyperGroup):
    """All commands. What cannot be a flag's value is said in the words that fields of an experiment are told in."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            wrong = getattr(error.__cause__, "errors", None)
            if wrong is not None:
                from graphwalk.config.yaml_files import in_words

                error.message = in_words(wrong()[0])
            raise


app = typer.Typer(
    name="graphwalk",
    cls=_Commands,
    help="Let language models walk a graph instead of reading it, and measure how well they do.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("init")(init.init)
app.command("run")(run.run)
app.command("ask")(ask.ask)
app.command("resume")(run.resume)
app.command("merge")(runs.merge)
app.command("runs")(runs.runs)
app.command("report")(report.report)
app.command("compare")(report.compare)
app.command("power")(power.power)
app.command("rescore")(report.rescore)
app.command("verify")(runs.verify)
app.add_typer(generate.app, name="generate")
app.command("play", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(play.play)
app.command("show")(show.show)
app.command("view")(view.view)
app.command("tasks")(lists.tasks)
app.command("mcp")(mcp.mcp)
app.add_typer(export.app, name="export")
app.command("publish")(runs.publish)
app.command("convert")(generate.convert)
app.add_typer(database.app, name="db")
app.command("doctor")(doctor.doctor)
app.add_typer(lists.models, name="models")
app.command("tools")(lists.tools)
app.command("questions")(lists.questions)
app.command("experiments")(lists.experiments)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"graphwalk {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from; before the command.")] = False,
) -> None:
    """What holds for every command."""


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
        # All is in order. Python's own end can take seconds, and has no handler for one more signal.
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(interrupted.exit_code)


def _run() -> None:
    try:
        app(prog_name="graphwalk")
    except SystemExit:
        if reader_gone():
            sys.exit(0)  # as other tools do whose output goes to `| head`
        raise
    except Exception as error:
        told = _in_words(error)
        show_error(told)
        if _DEBUG in sys.argv:
            traceback.print_exc()
        if isinstance(error, OSError):
            # What stdout still holds may not be writable either.
            with suppress(OSError):
                sys.stdout.close()
        sys.exit(told.exit_code)


def _in_words(error: Exception) -> GraphwalkError:
    """The one way from what was raised to what a person reads."""
    if isinstance(error, GraphwalkError):
        return error
    if isinstance(error, OSError) and error.errno in FULL_DISK:
        return StoreError(f"the output cannot be written: {error.strerror}", hint="free some space")
    cause = f"{type(error).__name__}: {error}"
    return GraphwalkError(f"internal: {cause}", hint=f"`graphwalk {_DEBUG} …`, the same command, shows where")

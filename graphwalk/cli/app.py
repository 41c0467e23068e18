"""The commands, and the one way in which errors become messages and exit codes."""

import sys
from contextlib import suppress
from typing import Annotated

import typer

from graphwalk.asynchronous import Interrupted
from graphwalk.cli import (
    compare,
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
    tasks,
    verify,
    view,
)
from graphwalk.console import show_error, show_warnings_as_lines
from graphwalk.errors import GraphwalkError, StoreError
from graphwalk.files import FULL_DISK
from graphwalk.version import __version__

app = typer.Typer(
    name="graphwalk",
    help="Let language models walk a graph instead of reading it, and measure how well they do.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("init")(init.init)
app.command("run")(run.run)
app.command("resume")(run.resume)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("power")(power.power)
app.command("rescore")(report.rescore)
app.command("verify")(verify.verify)
app.add_typer(generate.app, name="generate")
app.command("play", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(play.play)
app.command("view")(view.view)
app.command("tasks")(tasks.tasks)
app.command("mcp")(mcp.mcp)
app.add_typer(export.app, name="export")
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
) -> None:
    """What holds for every command."""


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 internal, 2 usage, 3 environment, 4 infrastructure, 5 below
    `--fail-under`, 128 + n on signal n.
    """
    show_warnings_as_lines()
    try:
        app(prog_name="graphwalk")
    except GraphwalkError as error:
        show_error(error)
        sys.exit(error.exit_code)
    except Interrupted as interrupted:
        sys.exit(interrupted.exit_code)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); closing stderr keeps the interpreter from complaining.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise
        show_error(StoreError(f"the output cannot be written: {error.strerror}", hint="free some space"))
        # What stdout still holds cannot be written either.
        with suppress(OSError):
            sys.stdout.close()
        sys.exit(StoreError.exit_code)

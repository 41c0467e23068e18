"""The commands, and the conversion of exceptions to messages and exit codes."""

import gc
import logging
import os
import sys
import threading
import traceback
from contextlib import suppress
from typing import Annotated, Any

import typer

from graphwalk.cli import (
    ask,
    database,
    doctor,
    export,
    generate,
    init,
    lists,
    mcp,
    report,
    run,
    runs,
    show,
    tasks,
    view,
)
from graphwalk.errors import ConfigError, GraphwalkError, StoreError
from graphwalk.files.writing import FREE_SOME_SPACE, is_full_disk
from graphwalk.terminal import (
    Interrupted,
    RedactedFormatter,
    heed_signals,
    prepare_streams,
    print_message,
    show_error,
    show_warnings_as_lines,
    without_secrets,
)
from graphwalk.version import __version__

_DEBUG = "--debug"
_PATIENCE_SECONDS = 1.0
OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Rows of a graph are many and in no cycle: with Python's default, looking for cycles takes a quarter of the time."""

PANELS: dict[str, dict[str, Any]] = {
    "Run": {"run": run.run, "resume": run.resume, "ask": ask.ask},
    "Results": {
        "report": report.report,
        "compare": report.compare,
        "view": view.view,
        "show": show.show,
        "rescore": report.rescore,
        "verify": runs.verify,
        "export": export.app,
        "publish": runs.publish,
    },
    "Graphs and data": {"generate": generate.app, "tasks": tasks.tasks, "list": lists.app},
    "Neo4j and servers": {"db": database.app, "mcp": mcp.mcp},
    "Set-up": {"init": init.init, "doctor": doctor.doctor},
}
"""Title → command → its function or its group of commands."""

app = typer.Typer(
    name="graphwalk",
    help="Let language models walk a graph instead of reading it, and measure how well they do.",
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _title, _commands in PANELS.items():
    for _name, _command in _commands.items():
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, name=_name, rich_help_panel=_title)
        else:
            app.command(_name, rich_help_panel=_title)(_command)


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
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    prepare_streams()
    show_warnings_as_lines()
    # What libraries log, and a traceback that a command survives: in run.log during a run, else only with --debug.
    handler = logging.StreamHandler() if _DEBUG in sys.argv else logging.NullHandler()
    handler.setFormatter(RedactedFormatter())
    logging.getLogger().addHandler(handler)
    try:
        heed_signals()
        try:
            code = app(sys.argv[1:] or ["--help"], prog_name="graphwalk", standalone_mode=False)
            sys.stdout.flush()  # a full disk fails here, where it gets a message, and not at the interpreter's end
        finally:
            _say_if_langsmith_is_waited_for()
        sys.exit(code)
    except Interrupted as interrupted:
        # The run is saved. The interpreter's shutdown can take seconds and would ignore a second signal.
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(interrupted.exit_code)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            sys.exit(0)  # as other tools do in `| head`
        raise
    except BrokenPipeError:
        _drop_output()
        sys.exit(0)
    except Exception as error:
        reported = _as_graphwalk_error(error)
        if is_full_disk(error):
            _drop_output()
        show_error(reported)
        if _DEBUG in sys.argv:
            sys.stderr.write(without_secrets(traceback.format_exc()))
        sys.exit(reported.exit_code)


def _drop_output() -> None:
    """Send the rest of the output, which cannot be written, nowhere; the interpreter's end would fail by it."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_if_langsmith_is_waited_for() -> None:
    """Name the cause if the end of the command takes seconds: LangSmith's client tries to send its last traces."""
    langsmith = sys.modules.get("langsmith.utils")
    if langsmith is None or not langsmith.tracing_is_enabled():
        return
    text = "sending the last traces to LangSmith, which has not taken them yet; unset LANGSMITH_TRACING to go without"
    reminder = threading.Timer(_PATIENCE_SECONDS, print_message, [text])
    reminder.daemon = True
    reminder.start()


def _as_graphwalk_error(error: Exception) -> GraphwalkError:
    if isinstance(error, GraphwalkError):
        return error
    if isinstance(error, typer.TyperException):
        context = getattr(error, "ctx", None)
        return ConfigError(error.format_message(), hint="" if context is None else f"{context.command_path} --help")
    if is_full_disk(error):  # of a file of ours it is a StoreError
        return StoreError("the output cannot be written: the disk is full", hint=FREE_SOME_SPACE)
    cause = f"{type(error).__name__}: {error}"
    return GraphwalkError(f"internal: {cause}", hint=f"rerun as `graphwalk {_DEBUG} …` to see the traceback")

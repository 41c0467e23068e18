"""The commands, and the conversion of exceptions to messages and exit codes."""

import logging
import os
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

import typer

from graphwalk.cli.help import App, Group, as_command
from graphwalk.errors import GraphwalkError, StoreError
from graphwalk.files.writing import FULL_DISK
from graphwalk.terminal.console import reader_gone, show_error, show_warnings_as_lines, write_what_can_be
from graphwalk.terminal.signals import Interrupted, heed_signals
from graphwalk.version import __version__

_DEBUG = "--debug"


PANELS = {
    "Run": {
        "run": ("run:run", "Run an experiment: all models on identical tasks."),
        "resume": ("run:resume", "Continue an interrupted run."),
        "ask": ("ask:ask", "Ask a question about your own graph."),
        "merge": ("runs:merge", "Merge the shards of a run into one run folder."),
    },
    "Results": {
        "report": ("report:report", "Print the verdict on a run and its tables."),
        "compare": ("report:compare", "Compare models and settings on identical tasks."),
        "view": ("view:view", "Write tables, plots and episodes of runs to one HTML file, and open it."),
        "show": ("show:show", "Show an episode step by step, or list the episodes of a run."),
        "runs": ("runs:runs", "List the runs in a folder, oldest first."),
        "rescore": ("report:rescore", "Score a run again from its log, without model calls."),
        "verify": ("runs:verify", "Recompute a run, and compare it with its log."),
        "export": ("export:app", "Write runs in other programs' formats, or training data."),
        "publish": ("runs:publish", "Write a run as one file to share."),
    },
    "Graphs and data": {
        "generate": ("generate:app", "Generate property graphs, mazes and algorithm traces."),
        "tasks": ("lists:tasks", "Print questions on a graph and the size of their answers."),
        "convert": ("generate:convert", "Convert a graph to another format, or write a Neo4j database to a file."),
        "questions": ("lists:questions", "List the question kinds, or show one in full."),
        "tools": ("lists:tools", "List the tools, or show one in full."),
        "experiments": ("lists:experiments", "List the shipped experiments, or show one in full."),
    },
    "Neo4j and servers": {
        "db": ("database:app", "Start a local Neo4j, load graphs and remove them."),
        "mcp": ("mcp:mcp", "Serve the tools over a graph as an MCP server (read-only)."),
    },
    "Set-up": {
        "init": ("init:init", "Create a new experiment, or a model backend with --backend."),
        "models": ("lists:models", "List model providers, and check a model's capabilities."),
        "doctor": ("doctor:doctor", "Check the installation, and show how to fix problems."),
    },
}
"""Title → command → module and object, imported when the command is used, and its help in the list of commands."""
COMMANDS = {name: command for commands in PANELS.values() for name, command in commands.items()}


class _Commands(Group):
    """All commands. A value that an option refuses is reported with the wording used for fields of an experiment."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        return as_command(getattr(import_module(f"graphwalk.cli.{module}"), name), cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, COMMANDS))
        for title, commands in PANELS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, (_, text) in commands.items()])

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
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    # A traceback that a command survives: in run.log during a run, else only with --debug.
    logging.getLogger("graphwalk").addHandler(logging.StreamHandler() if _DEBUG in sys.argv else logging.NullHandler())
    try:
        heed_signals()
        app(prog_name="graphwalk")
    except Interrupted as interrupted:
        # The run is saved. The interpreter's shutdown can take seconds and would ignore a second signal.
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(interrupted.exit_code)
    except SystemExit:
        if reader_gone():
            sys.exit(0)  # as other tools do in `| head`
        raise
    except Exception as error:
        reported = _as_graphwalk_error(error)
        show_error(reported)
        if _DEBUG in sys.argv:
            traceback.print_exc()
        if isinstance(error, OSError):
            # The buffer of stdout may not be writable either.
            with suppress(OSError):
                sys.stdout.close()
        sys.exit(reported.exit_code)


def _as_graphwalk_error(error: Exception) -> GraphwalkError:
    if isinstance(error, GraphwalkError):
        return error
    if isinstance(error, OSError) and error.errno in FULL_DISK:
        return StoreError(f"the output cannot be written: {error.strerror}", hint="free some space")
    cause = f"{type(error).__name__}: {error}"
    return GraphwalkError(f"internal: {cause}", hint=f"rerun as `graphwalk {_DEBUG} …` to see the traceback")

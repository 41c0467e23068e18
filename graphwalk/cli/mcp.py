"""`graphwalk mcp`: the tools over a graph, for any client of the Model Context Protocol."""

import logging
from typing import Annotated, Literal

import typer

from graphwalk.asynchronous import run_async
from graphwalk.cli.options import DatabaseName, GraphFile, Labels, RelationshipTypes, chosen_source, part_of
from graphwalk.console import say
from graphwalk.errors import ConfigError
from graphwalk.settings import read_settings


def mcp(
    graph: GraphFile = None,
    database: DatabaseName = None,
    labels: Labels = None,
    relationship_types: RelationshipTypes = None,
    transport: Annotated[Literal["stdio", "http"], typer.Option(help="stdio: for a client that starts us.")] = "stdio",
    port: Annotated[int, typer.Option(min=0, max=65535, help="For http; 0: one that is free.")] = 8420,
    host: Annotated[str, typer.Option(help="For http: an address of this machine to listen at.")] = "127.0.0.1",
    tool: Annotated[
        list[str] | None, typer.Option(help="Offer this tool, by name or YAML file; repeatable. Default: the four.")
    ] = None,
    override: Annotated[
        list[str] | None,
        typer.Option("-o", metavar="KEY=VALUE", help="Limits and form of results: agent.result_budget=20; repeatable."),
    ] = None,
) -> None:
    """Serve the tools over a graph to any client of the Model Context Protocol.

    Nothing can be changed through it. Over http clients need a token: that in GRAPHWALK_MCP_TOKEN, else one that is
    made and shown once.
    """
    source = part_of(chosen_source(graph, database), labels, relationship_types)
    try:
        from graphwalk.serve.mcp import serve
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"`graphwalk mcp` needs a package that is not installed: {error.name}",
            hint="pip install 'graphwalk-agents[mcp]'",
        ) from error
    _log_as_lines()
    run_async(
        serve(
            source,
            read_settings(),
            say=say,
            transport=transport,
            host=host,
            port=port,
            tools=tool or None,
            overrides=override or (),
        )
    )


class _Lines(logging.Handler):
    """What libraries log is for people: one line on stderr each, without secrets and control characters."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            message = f"{message}: {record.exc_info[1]}"
        say(f"{record.levelname.lower()}: {read_settings().secrets.redact_error(' '.join(message.split()))}")


def _log_as_lines() -> None:
    logging.basicConfig(level=logging.WARNING, handlers=[_Lines()])

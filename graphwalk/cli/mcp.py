"""`graphwalk mcp`: the tools of a graph as a server of the Model Context Protocol."""

import logging
from typing import Annotated, Literal

import typer

from graphwalk.cli.options import (
    DatabaseName,
    Edges,
    GraphFile,
    KeyProperty,
    Labels,
    RelationshipTypes,
    Undirected,
    chosen_source,
)
from graphwalk.errors import ConfigError, install_hint
from graphwalk.terminal import run_async, say
from graphwalk.variables import read_variables


def mcp(
    graph: GraphFile = None,
    database: DatabaseName = None,
    labels: Labels = None,
    relationship_types: RelationshipTypes = None,
    key: KeyProperty = None,
    edges: Edges = None,
    undirected: Undirected = None,
    transport: Annotated[
        Literal["stdio", "http"], typer.Option(help="stdio for clients that start the server, or http.")
    ] = "stdio",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for http; 0 for any free port.")] = 8420,
    host: Annotated[str, typer.Option(help="Address for http to listen at.")] = "127.0.0.1",
    tool: Annotated[
        list[str] | None,
        typer.Option(help="Tool to offer, by name or YAML file; repeatable. Default: the standard tools and search."),
    ] = None,
    override: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            metavar="KEY=VALUE",
            help="Override a limit, an encoding or the prompts: agent.result_tokens=2000; repeatable.",
        ),
    ] = None,
) -> None:
    """Serve the tools over a graph as an MCP server (read-only).

    Clients over http need a token: GRAPHWALK_MCP_TOKEN, or one that is generated and printed once.
    """
    source = chosen_source(graph, database, key, labels, relationship_types, edges=edges, undirected=undirected)
    try:
        from graphwalk.own_graph.mcp import serve
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"`graphwalk mcp` needs a package that is not installed: {error.name}",
            hint=install_hint("mcp"),
        ) from error
    logging.basicConfig(level=logging.WARNING, handlers=[_Lines()])
    run_async(
        serve(
            source,
            read_variables(),
            say=say,
            transport=transport,
            host=host,
            port=port,
            tools=tool or None,
            overrides=override or (),
        )
    )


class _Lines(logging.Handler):
    """A handler that writes each log record as one redacted line on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            message = f"{message}: {record.exc_info[1]}"
        say(f"{record.levelname.lower()}: {read_variables().secrets.redact_error(' '.join(message.split()))}")

"""`graphwalk mcp`: the tools of a graph as a server of the Model Context Protocol."""

import os
import signal
from typing import Annotated, Literal

import typer

from graphwalk.cli import options
from graphwalk.errors import ConfigError, install_hint
from graphwalk.terminal import SIGNALS, print_message
from graphwalk.variables import read_variables


@options.reads_files
def mcp(
    graph: options.GraphFile = None,
    database: options.DatabaseName = None,
    labels: options.Labels = None,
    relationship_types: options.RelationshipTypes = None,
    key: options.KeyProperty = None,
    reading: options.Reading | None = None,
    transport: Annotated[
        Literal["stdio", "http"], typer.Option(help="stdio for clients that start the server, or http.")
    ] = "stdio",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for http; 0 for any free port.")] = 8420,
    host: Annotated[str, typer.Option(help="Address for http to listen at.")] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Other name that clients over http reach it by, as that of a proxy; repeatable."
        ),
    ] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(help="Tool to offer, by name or YAML file; repeatable. Default: the standard tools and search."),
    ] = None,
    override: options.Override = None,
) -> None:
    """Serve the tools over a graph as an MCP server (read-only).

    Clients over http need a token: GRAPHWALK_MCP_TOKEN, or one that is generated and printed once.
    """
    source = options.chosen_source(graph, database, key, labels, relationship_types, reading)
    from asyncio import run

    try:
        from graphwalk.own_graph.mcp import serve
    except ModuleNotFoundError as error:
        what = f"`graphwalk mcp` needs a package that is not installed: {error.name}"
        raise ConfigError(what, hint=install_hint("mcp")) from error
    for signum in SIGNALS:  # the graph is only read: nothing has to be put in order
        signal.signal(signum, lambda number, frame: os._exit(128 + number))
    run(
        serve(
            source,
            read_variables(),
            say=print_message,
            transport=transport,
            host=host,
            port=port,
            allowed_hosts=allow_host or (),
            tools=tool or None,
            overrides=override or (),
        )
    )

"""`graphwalk db up | down | status | load | clean`: a local Neo4j, and the graphs in it."""

import re
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphwalk.cli.help import App
from graphwalk.errors import StoreError, counted
from graphwalk.terminal.console import data, say
from graphwalk.terminal.progress import progress_bar
from graphwalk.terminal.signals import run_async
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    from graphwalk.stores.neo4j.admin import Load

app = App(help="Start a local Neo4j, load graphs and remove them.")


def _memory(heap: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]{0,9}[kKmMgG]", heap):
        raise typer.BadParameter(f"{heap!r} is not a memory size. Examples: 768m, 2g")
    return heap


@app.command("up")
def up(
    release: Annotated[
        Literal["5.26", "2026"], typer.Option(help="Neo4j release: 5.26 (LTS) or 2026 (current).")
    ] = "5.26",
    with_: Annotated[
        Literal["auto", "docker", "jars"],
        typer.Option("--with", help="How to start it. auto: Docker if it is running, else jars."),
    ] = "auto",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Bolt port on 127.0.0.1.")] = 7687,
    heap: Annotated[str, typer.Option(callback=_memory, help="Java heap size, for example 768m.")] = "1g",
) -> None:
    """Start Neo4j on this machine. Later commands find it."""
    import graphwalk.database as database

    variables = read_variables()
    server = database.up(
        variables, with_=with_, release=release, port=port, heap=heap, tell=lambda step: say(f"{step} …")
    )
    data(f"Neo4j {server.version} is running at {server.uri} ({server.how})")
    say(f"user: neo4j; password file: {server.folder / 'password'}")
    if variables.neo4j_uri:
        elsewhere = variables.secrets.redact(variables.neo4j_uri)
        say(f"NEO4J_URI is set to {elsewhere} and takes precedence; unset it to use this server")
    say("try it:  graphwalk run quickstart --store neo4j")


@app.command("down")
def down(
    delete: Annotated[bool, typer.Option("--delete", help="Also delete its data.")] = False,
) -> None:
    """Stop the server started by `db up`, and keep its data."""
    import graphwalk.database as database

    server = database.down(read_variables(), delete=delete)
    if server is None:
        data("No server started by `graphwalk db up` is running")
    else:
        data(f"Neo4j {server.version} stopped; data " + ("deleted" if delete else "kept"))
    if delete and (folder := database.cache_folder()).exists():
        say(f"Downloads are kept. Remove them with:  rm -r {shlex.quote(str(folder))}")


@app.command("status")
def status() -> None:
    """Show which Neo4j is used, and list the graphs in it.

    The order is NEO4J_URI, the server started by `db up`, and docker-compose.yml.
    """
    import graphwalk.database as database
    from graphwalk.stores.neo4j.local_server import compose_server

    variables = read_variables()
    current = database.status(variables)
    composed = None if variables.neo4j_uri or current.running else compose_server(variables)
    if variables.neo4j_uri:
        data(f"NEO4J_URI      {variables.secrets.redact(variables.neo4j_uri)}")
    if composed is not None:
        data(f"docker compose {composed[0]}")
    elif current.server is None and not variables.neo4j_uri:
        data("started here   nothing (graphwalk db up)")
    elif current.server is not None:
        state = "answers" if current.answers else "runs, but does not answer" if current.running else "is gone"
        data(f"started here   Neo4j {current.server.version} at {current.server.uri}, by {current.server.how}: {state}")
    if not (variables.neo4j_uri or composed or current.answers):
        raise typer.Exit(3)
    content = run_async(database.contents(variables))
    data(f"graphs         {len(content.loads)}")
    for load in content.loads:
        data(f"  {_describe(load)}")
    if content.other_nodes:
        data(f"other nodes    {content.other_nodes:,}, which GraphWalk did not create: --database {content.database}")


@app.command("load")
def load(
    graph: Annotated[
        Path,
        typer.Argument(metavar="FILE", help='Graph file, folder of CSV, or "example".'),
    ],
) -> None:
    """Load a graph into Neo4j, and keep it there.

    Its nodes get an additional label; other data is not modified. Remove the graph with `graphwalk db clean --all`.
    """
    import graphwalk.database as database
    from graphwalk.graphs.files import load_graph

    variables = read_variables()
    with progress_bar(f"reading {graph}"):
        read = load_graph(graph)
    begun = time.perf_counter()
    with progress_bar(f"loading {counted(read.node_count, 'node')}"):
        loaded = run_async(database.load(variables, read))
    seconds = time.perf_counter() - begun
    loaded_now = f"{counted(loaded.nodes, 'node')} and {counted(loaded.relationships, 'relationship')}"
    data(f"{loaded_now} in {seconds:.1f} s")
    data(f"label          {loaded.scope}")
    say('ask about it:  graphwalk ask "…" --model openai/gpt-4.1-mini   (without a key: --model scripted/look)')


@app.command("clean")
def clean(
    all_: Annotated[bool, typer.Option("--all", help="Also remove graphs loaded or kept on purpose.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the graphs without removing them.")] = False,
) -> None:
    """Remove graphs left by killed runs.

    Graphs in use, and data not loaded by GraphWalk, are kept; with --all, graphs in use are an error. A killed run
    counts as running for five minutes.
    """
    import graphwalk.database as database

    variables = read_variables()
    loads = run_async(database.list_loads(variables))
    removed = [load for load in loads if load.is_unused(kept=all_)]
    if not dry_run:
        removed = run_async(database.clean(variables, kept=all_))
    for load in removed:
        data(_describe(load))
    data(f"{counted(len(removed), 'graph')} {'would be ' if dry_run else ''}removed")
    if in_use := len({load.scope for load in loads if load.in_use} - {load.scope for load in removed}):
        problem = f"{counted(in_use, 'graph')} in use, or left by a run killed less than five minutes ago"
        if all_ and not dry_run:
            raise StoreError(problem, hint="when the run has ended, or in five minutes: graphwalk db clean --all")
        say(problem)


def _describe(load: "Load") -> str:
    state = "in use" if load.in_use else "kept" if load.kept else "left by a killed run"
    size = f"{counted(load.nodes, 'node')}, {counted(load.relationships, 'relationship')}"
    return f"{load.scope}  {size}, run {load.run_id}, {load.created:%Y-%m-%d %H:%M}, {state}"

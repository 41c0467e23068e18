"""`graphwalk db up | down | load | clean`: a local Neo4j, and the graphs in it."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from graphwalk.cli import options
from graphwalk.errors import counted
from graphwalk.terminal import print_data, print_message, progress_bar, run_async
from graphwalk.variables import read_variables

app = typer.Typer(help="Start a local Neo4j, load graphs and remove them.")


@app.command("up")
def up(
    release: Annotated[
        Literal["5.26", "2026"], typer.Option(help="Neo4j release: 5.26 (LTS) or 2026 (current).")
    ] = "5.26",
    way: Annotated[
        Literal["docker", "jars"] | None,
        typer.Option(
            "--with", help="Default: what has its data, else Docker if it has or can pull the image, else the jars."
        ),
    ] = None,
) -> None:
    """Start Neo4j on this machine, with Docker or from its jars. Later commands find it.

    Each GRAPHWALK_HOME and each GRAPHWALK_NEO4J_PORT has a server of its own.
    """
    from graphwalk.stores.neo4j import server
    from graphwalk.stores.neo4j.local_server import local_port

    variables = read_variables()
    started = server.up(variables, release=release, way=way, tell=lambda step: print_message(f"{step} …"))
    print_data(f"Neo4j {started.version} is running at bolt://127.0.0.1:{local_port(variables)}")
    address = variables.get("NEO4J_URI")
    if address:
        # The address may contain a password: bolt://neo4j:secret@db.example.org
        elsewhere = variables.secrets.redact(address)
        print_message(f"NEO4J_URI is set to {elsewhere} and takes precedence; unset it to use this server")
    print_message("try it:  graphwalk run quickstart --store neo4j")
    if started.way is None:
        print_message("it was not started by `graphwalk db up`, which will not stop it")
        return
    line = f"it runs {server.IN_WORDS[started.way]}, with its data in {started.place}"
    if started.other_data:
        other, place = started.other_data
        line += f"; other data is in {place}:  graphwalk db down && graphwalk db up --with {other}"
    print_message(line)


@app.command("down")
def down(
    delete: Annotated[bool, typer.Option("--delete", help="Also delete its data.")] = False,
) -> None:
    """Stop the server that `db up` started with this GRAPHWALK_HOME and GRAPHWALK_NEO4J_PORT, and keep its data."""
    from graphwalk.stores.neo4j import server
    from graphwalk.stores.neo4j.local_server import answers_bolt, local_port

    variables = read_variables()
    done = server.down(variables, delete=delete)
    for line in done:
        print_data(line)
    if not done:
        print_data("nothing to stop: `graphwalk db up` has started no Neo4j here")
    port = local_port(variables)
    if answers_bolt(port):
        # One that the user started, for example: it is not ours to stop.
        print_message(f"a Neo4j still answers at bolt://127.0.0.1:{port}: `graphwalk db up` did not start it")


@app.command("load")
@options.reads_files
def load(
    graph: Annotated[
        Path,
        typer.Argument(metavar="FILE", help='Graph file, folder of CSV, or "example".'),
    ],
    reading: options.Reading | None = None,
) -> None:
    """Load a graph into Neo4j, and keep it there.

    Its nodes get an additional label; other data is not modified. Remove the graph with `graphwalk db clean`.
    """
    from graphwalk.graphs.files import load_graph
    from graphwalk.stores.neo4j.loaded import db_load

    variables = read_variables()
    with progress_bar(f"reading {graph}"):
        read = load_graph(graph, options.chosen_source(graph, reading=reading))
    with progress_bar(f"loading {counted(read.node_count, 'node')}"):
        loaded = run_async(db_load(variables, read))
    print_data(f"{counted(loaded.nodes, 'node')}, {counted(loaded.relationships, 'relationship')}")
    print_data(f"label  {loaded.scope}")
    print_message(
        'ask about it:  graphwalk ask "…" --model openai/gpt-4.1-mini   (without a key: --model scripted/look)'
    )


@app.command("clean")
def clean(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the graphs without removing them.")] = False,
) -> None:
    """Remove all graphs that GraphWalk loaded into Neo4j: those of `db load`, and those of runs.

    Data not loaded by GraphWalk is kept. Episodes of a run in progress end without a score if their graph is removed.
    """
    from graphwalk.stores.neo4j.loaded import db_clean, db_list

    variables = read_variables()
    removed = run_async(db_list(variables) if dry_run else db_clean(variables))
    for load in removed:
        print_data(f"{load.scope}  {counted(load.nodes, 'node')}, {counted(load.relationships, 'relationship')}")
    verb = "would be removed" if dry_run else "removed"
    print_data(f"{counted(len(removed), 'graph')} {verb}")

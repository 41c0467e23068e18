"""`graphwalk db up | down | purge | status | load | clean`: a local Neo4j, and the graphs that runs left in one."""

import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphwalk.asynchronous import run_async
from graphwalk.cli.generate import read_graph_or_spec
from graphwalk.console import counted, data, say
from graphwalk.errors import ConfigError, StoreError
from graphwalk.progress import progress_bar, steps
from graphwalk.settings import read_settings

if TYPE_CHECKING:
    from graphwalk.stores.neo4j.admin import Load

app = typer.Typer(help="Run a local Neo4j, and remove graphs that runs left in one.", no_args_is_help=True)


def _memory(heap: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]{0,9}[kKmMgG]", heap):
        raise typer.BadParameter(f"{heap!r} is no amount of memory; write it as 768m or 2g")
    return heap


@app.command("up")
def up(
    release: Annotated[Literal["5.26", "2026"], typer.Option(help="5.26 (long-term) or 2026 (current).")] = "5.26",
    with_: Annotated[
        Literal["auto", "docker", "jars"], typer.Option("--with", help="auto: Docker if it runs, else the jars.")
    ] = "auto",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Bolt port on 127.0.0.1.")] = 7687,
    heap: Annotated[str, typer.Option(callback=_memory, help="Memory of Java, for example 768m.")] = "1g",
) -> None:
    """Start Neo4j on this machine. Later commands find it automatically."""
    import graphwalk.database as database

    settings = read_settings()
    with steps() as tell:
        server = database.up(settings, with_=with_, release=release, port=port, heap=heap, tell=tell)
    data(f"Neo4j {server.version} answers at {server.uri} (by {server.how})")
    say(f"user neo4j; the password is in {server.folder / 'password'}")
    if settings.neo4j_uri:
        elsewhere = settings.secrets.redact(settings.neo4j_uri)
        say(f"NEO4J_URI is set to {elsewhere} and comes first; unset it to use this server")
    say("try it:  graphwalk run quickstart --store neo4j")


@app.command("down")
def down(
    delete: Annotated[bool, typer.Option("--delete", help="Remove its data as well.")] = False,
) -> None:
    """Stop the server that `db up` started. Its data stays unless --delete is given."""
    import graphwalk.database as database

    server = database.down(read_settings(), delete=delete)
    if server is None:
        data("nothing was running that `graphwalk db up` had started")
    else:
        data(f"Neo4j {server.version} is stopped" + (", its data is removed" if delete else "; its data is kept"))
    fetched = database.whole(database.cached())
    if delete and fetched.bytes:
        say(f"{fetched.megabytes} of fetched files stay in {fetched.path} for the next start: graphwalk db purge")


@app.command("purge")
def purge(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove the files of Neo4j that `db up` fetched, after asking. They are fetched again when they are needed.

    The data of the server is not among them: `graphwalk db down --delete` removes that.
    """
    import graphwalk.database as database

    found = database.cached()
    if not found:
        data(f"nothing was fetched: there is no {database.whole(found).path}")
        return
    server = database.status(read_settings())
    if server.server is not None and server.server.how == "jars" and server.running:
        raise StoreError("a server runs from these files", hint="graphwalk db down")
    for part in found:
        data(f"{part.megabytes:>9}  {part.path}")
    together = database.whole(found)
    if not yes:
        if not sys.stdin.isatty():
            raise ConfigError(
                f"this removes {together.megabytes}, and there is no terminal to ask at",
                hint="graphwalk db purge --yes",
            )
        if not typer.confirm(f"Remove {together.megabytes}?", err=True):
            raise typer.Exit(0)
    database.purge()
    data(f"{together.megabytes} removed")


@app.command("status")
def status() -> None:
    """Show which Neo4j is used, and what is in it.

    That is NEO4J_URI if set, else the server that `db up` started, else that of docker-compose.yml. Also lists the
    graphs that GraphWalk has there.
    """
    import graphwalk.database as database
    from graphwalk.stores.neo4j.local_server import compose_server

    settings = read_settings()
    found = database.status(settings)
    composed = None if settings.neo4j_uri or found.server else compose_server(settings)
    if settings.neo4j_uri:
        data(f"NEO4J_URI      {settings.secrets.redact(settings.neo4j_uri)}")
    if composed is not None:
        data(f"docker compose {composed[0]}")
    elif found.server is None:
        data("started here   nothing (graphwalk db up)")
    else:
        state = "answers" if found.answers else "runs, but does not answer" if found.running else "is gone"
        data(f"started here   Neo4j {found.server.version} at {found.server.uri}, by {found.server.how}: {state}")
    if not (settings.neo4j_uri or composed or found.answers):
        raise typer.Exit(3)
    loads = run_async(database.list_loads(settings))
    data(f"graphs         {len(loads)}")
    for load in loads:
        data(f"  {_described(load)}")


@app.command("load")
def load(
    graph: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|SPEC",
            help='A graph file, a folder of CSV, a Cypher script, "example"; or what to generate: a preset, or '
            "nodes=100000,mean_degree=5,seed=7 (the options of `generate graph`).",
        ),
    ],
    bulk: Annotated[
        bool, typer.Option("--bulk", help="By Neo4j's own importer, into the empty Neo4j of `db up --with jars`.")
    ] = False,
) -> None:
    """Load a graph and leave it there.

    Its nodes get a label of their own, and nothing else in the database is touched; `graphwalk db clean --all`
    removes it. For millions of nodes there is --bulk, which stops the server that `db up` started for as long as it
    takes, and refuses a database that holds anything.
    """

    import graphwalk.database as database

    settings = read_settings()
    with progress_bar(f"reading {graph}"):
        read = read_graph_or_spec(graph, settings)
    begun = time.perf_counter()
    if bulk:
        with steps() as tell:
            loaded = run_async(database.load_bulk(settings, read, tell=tell))
    else:
        with progress_bar(f"loading {counted(read.node_count, 'node')}"):
            loaded = run_async(database.load(settings, read))
    seconds = time.perf_counter() - begun
    loaded_now = f"{counted(loaded.nodes, 'node')} and {counted(loaded.relationships, 'relationship')}"
    data(f"{loaded_now} in {seconds:.1f} s")
    data(f"label          {loaded.scope}")
    say('ask it:  graphwalk ask "…" --model openai/gpt-4.1-mini   (without a key: --model scripted/look)')


@app.command("clean")
def clean(
    all_: Annotated[bool, typer.Option("--all", help="Also graphs that were left there on purpose.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
) -> None:
    """Remove graphs that killed runs left. Only GraphWalk's own graphs are touched, and none that is in use.

    A run that was killed less than five minutes ago counts as running.
    """
    import graphwalk.database as database

    settings = read_settings()
    loads = run_async(database.list_loads(settings))
    removed = [load for load in loads if load.is_left(kept=all_)]
    if not dry_run:
        removed = run_async(database.clean(settings, kept=all_))
    for load in removed:
        data(_described(load))
    data(f"{counted(len(removed), 'graph')} {'would be ' if dry_run else ''}removed")
    if in_use := sum(load.in_use for load in loads):
        say(f"{counted(in_use, 'graph')} in use, or left by a run that was killed less than five minutes ago")


def _described(load: "Load") -> str:
    state = "in use" if load.in_use else "kept" if load.kept else "left by a killed run"
    size = f"{counted(load.nodes, 'node')}, {counted(load.relationships, 'relationship')}"
    return f"{load.scope}  {size}, run {load.run_id}, {load.created:%Y-%m-%d %H:%M}, {state}"

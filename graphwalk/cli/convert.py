"""`graphwalk convert`: a graph from one format into another."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from graphwalk.asynchronous import run_async
from graphwalk.console import data, say
from graphwalk.environment import read_environment


def convert(
    source: Annotated[Path, typer.Argument(help='A graph file, a folder of CSV, a Cypher script, or "example".')],
    target: Annotated[Path, typer.Argument(help="FILE.json, .graphml, .cypher, or a folder for CSV.")],
    undirected: Annotated[
        Literal["refuse", "both"], typer.Option(help="both: read every undirected edge both ways.")
    ] = "refuse",
) -> None:
    """Read a graph in one format and write it in another.

    A Cypher script of somebody's own is run by a Neo4j that is started for it alone and is empty.
    """
    from graphwalk.database.files import read_any
    from graphwalk.graphs.files.formats import writable_format

    form = writable_format(target)
    graph = run_async(read_any(source, read_environment(), undirected))
    form.write(graph, target)
    data(f"nodes          {graph.node_count}")
    data(f"relationships  {graph.relationship_count}")
    say(f"written to {target}")

"""`graphwalk generate graph`, and the generators of the suites."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphwalk.asynchronous import run_async
from graphwalk.bulk.option import Workers
from graphwalk.cli.generate_traces import traces
from graphwalk.cli.naming import presets
from graphwalk.cli.own_graph import DatabaseName, GraphFile, chosen_source
from graphwalk.cli.suite_commands import suite_group
from graphwalk.console import data, say
from graphwalk.environment import read_environment
from graphwalk.long_work import long_work

if TYPE_CHECKING:
    from graphwalk.graphs.random.spec import GraphSpec

app = typer.Typer(
    cls=suite_group("GENERATE"), help="Generate property graphs, mazes and algorithm traces.", no_args_is_help=True
)

Seed = Annotated[int, typer.Option(help="Same seed, same bytes.")]
_ROWS = (".jsonl", ".parquet")


@app.callback()
def generate() -> None:
    """Generate property graphs, mazes and algorithm traces."""


@app.command("twin")
def twin(
    out: Annotated[Path, typer.Option(help="FILE.json, FILE.graphml or FILE.cypher: the twin.")],
    mapping: Annotated[Path, typer.Option(help="FILE.json: what stands for what. Only its owner may read it.")],
    graph: GraphFile = None,
    database: DatabaseName = None,
    seed: Seed = 0,
) -> None:
    """Make the anonymised twin of a graph: the same structure, and not one of its words."""
    from graphwalk.errors import ConfigError
    from graphwalk.graphs.files.formats import graph_format, save_graph
    from graphwalk.graphs.twin.making import make_twin
    from graphwalk.graphs.twin.mapping import save_mapping
    from graphwalk.stores.reading_out import read_source

    graph_format(out)
    if out.resolve() == mapping.resolve():
        raise ConfigError("--out and --mapping are one file", hint="keep the mapping apart from the twin")
    made = make_twin(run_async(read_source(chosen_source(graph, database), read_environment())), seed)
    save_mapping(made, mapping)
    save_graph(made.graph, out)
    data(f"nodes          {made.graph.node_count}")
    data(f"relationships  {made.graph.relationship_count}")
    data(f"digest         {made.graph.digest}")
    say(f"written to {out}; what stands for what: {mapping}, which undoes it, and only you can read")


@app.command("graph")
def graph(
    preset: Annotated[
        str | None, typer.Option(help="paper-100, paper-150, paper-200 or paper-500.", autocompletion=presets)
    ] = None,
    seed: Seed = 0,
    index: Annotated[int, typer.Option(min=0, help="Number in a series of graphs of one seed.")] = 0,
    nodes: Annotated[int | None, typer.Option(help="Number of nodes.")] = None,
    labels: Annotated[int | None, typer.Option(help="Number of node classes.")] = None,
    relationship_types: Annotated[int | None, typer.Option(help="Number of relationship classes.")] = None,
    properties: Annotated[float | None, typer.Option(help="Mean number of properties of a class.")] = None,
    values: Annotated[int | None, typer.Option(help="Values that a property can take.")] = None,
    mean_degree: Annotated[float | None, typer.Option(help="Mean number of outgoing relationships.")] = None,
    density: Annotated[float | None, typer.Option(help="Probability of a relationship, in place of a degree.")] = None,
    pair_fraction: Annotated[
        float | None, typer.Option(help="Share of all ordered pairs of labels that a relationship type spans.")
    ] = None,
    hops: Annotated[int | None, typer.Option(help="Longest walk that questions about it ask for: 2 or 3.")] = None,
    missing_rate: Annotated[float | None, typer.Option(help="Share of properties left out.")] = None,
    self_loops: Annotated[
        bool | None, typer.Option("--self-loops", help="Allow relationships from a node to itself.")
    ] = None,
    parallel: Annotated[bool | None, typer.Option("--parallel", help="Allow parallel relationships of a type.")] = None,
    short_names: Annotated[
        bool | None, typer.Option("--short-names", help="Words of three letters, and short keys: for small contexts.")
    ] = None,
    names: Annotated[str | None, typer.Option(help="any; or train and held_out: two pools that share no name.")] = None,
    count: Annotated[
        int, typer.Option(min=1, help="How many of the series, from --index on: rows of FILE.jsonl or FILE.parquet.")
    ] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            help="FILE.json, .graphml, .cypher, a folder for CSV; .jsonl, .parquet: rows. Default: only count."
        ),
    ] = None,
    workers: Workers = None,
) -> None:
    """Generate a property graph with meaningless names, or as many as are wanted."""
    from graphwalk.config.yaml_files import validate
    from graphwalk.graphs.files.formats import save_graph, writable_format
    from graphwalk.graphs.random.generate import generate_graph
    from graphwalk.graphs.random.spec import GraphSpec

    given: dict[str, Any] = {
        "preset": preset,
        "nodes": nodes,
        "labels": labels,
        "relationship_types": relationship_types,
        "properties": properties,
        "values": values,
        "mean_degree": mean_degree,
        "density": density,
        "pair_fraction": pair_fraction,
        "hops": hops,
        "missing_rate": missing_rate,
        "short_names": short_names,
        "names": names,
        "self_loops": self_loops,
        "parallel_relationships": parallel,
    }
    spec = validate(GraphSpec, {name: value for name, value in given.items() if value is not None}, "generate graph")
    if count > 1 or (out is not None and out.suffix.lower() in _ROWS):
        _write_rows(spec, seed, index, count, out, workers)
        return
    if out is not None:
        writable_format(out)
    begun = time.perf_counter()
    with long_work("generating"):
        made = generate_graph(spec, seed, index)
    seconds = time.perf_counter() - begun
    if out is not None:
        with long_work("writing"):
            save_graph(made, out)
        say(f"written to {out}")
    data(f"nodes          {made.node_count}")
    data(f"relationships  {made.relationship_count}")
    data(f"digest         {made.digest}")
    data(f"seconds        {seconds:.3f}")


def _write_rows(spec: "GraphSpec", seed: int, index: int, count: int, out: Path | None, workers: int | None) -> None:
    from graphwalk.bulk.writing import write_rows
    from graphwalk.errors import ConfigError
    from graphwalk.graphs.random.rows import graph_rows

    if out is None or out.suffix.lower() not in _ROWS:
        raise ConfigError("several graphs are written as rows of one file", hint="--out graphs.jsonl, or .parquet")
    say(f"{write_rows(graph_rows(spec, seed, index, count), out, workers)}, written to {out}")


app.command("traces")(traces)

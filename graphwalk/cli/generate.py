"""`graphwalk generate graph|maze|magma`."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(help="Generate property graphs, mazes and algorithm traces.", no_args_is_help=True)

Seed = Annotated[int, typer.Option(help="Same seed, same bytes.")]


@app.command("graph")
def graph(
    preset: Annotated[str | None, typer.Option(help="paper-100, paper-150, paper-200 or paper-500.")] = None,
    seed: Seed = 0,
    index: Annotated[int, typer.Option(min=0, help="Number in a series of graphs of one seed.")] = 0,
    nodes: Annotated[int | None, typer.Option(help="Number of nodes.")] = None,
    labels: Annotated[int | None, typer.Option(help="Number of node classes.")] = None,
    relationship_types: Annotated[int | None, typer.Option(help="Number of relationship classes.")] = None,
    properties: Annotated[float | None, typer.Option(help="Mean number of properties of a class.")] = None,
    values: Annotated[int | None, typer.Option(help="Values that a property can take.")] = None,
    mean_degree: Annotated[float | None, typer.Option(help="Mean number of outgoing relationships.")] = None,
    density: Annotated[float | None, typer.Option(help="Probability of a relationship, in place of a degree.")] = None,
    missing_rate: Annotated[float | None, typer.Option(help="Share of properties left out.")] = None,
    self_loops: Annotated[bool | None, typer.Option("--self-loops", help="Allow them.")] = None,
    parallel: Annotated[bool | None, typer.Option("--parallel", help="Allow parallel relationships of a type.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="FILE.json, FILE.graphml or FILE.cypher. None: only measure.")
    ] = None,
) -> None:
    """Generate a property graph with meaningless names."""
    from graphwalk.cli.console import data, say
    from graphwalk.config.loading import validate
    from graphwalk.config.specs import GraphSpec
    from graphwalk.generators.graph_formats import graph_format, save_graph
    from graphwalk.generators.property_graph import generate_graph

    given: dict[str, Any] = {
        "preset": preset,
        "nodes": nodes,
        "labels": labels,
        "relationship_types": relationship_types,
        "properties": properties,
        "values": values,
        "mean_degree": mean_degree,
        "density": density,
        "missing_rate": missing_rate,
        "self_loops": self_loops,
        "parallel_relationships": parallel,
    }
    spec = validate(GraphSpec, {name: value for name, value in given.items() if value is not None}, "generate graph")
    if out is not None:
        graph_format(out)
    begun = time.perf_counter()
    made = generate_graph(spec, seed, index)
    seconds = time.perf_counter() - begun
    data(f"nodes          {made.node_count}")
    data(f"relationships  {made.relationship_count}")
    data(f"digest         {made.digest}")
    data(f"seconds        {seconds:.3f}")
    if out is not None:
        save_graph(made, out)
        say(f"written to {out}")


@app.command("maze")
def maze(
    size: Annotated[int, typer.Option(help="Cells on a side.")] = 10,
    walls: Annotated[float, typer.Option(help="Share of the cells that are walls.")] = 0.5,
    min_path: Annotated[int, typer.Option(help="Steps from start to goal, at least.")] = 15,
    generator: Annotated[str, typer.Option(help="random, depth_first, kruskal, prim, wilson or rooms.")] = "random",
    count: Annotated[int, typer.Option(min=1, help="How many.")] = 1,
    seed: Seed = 0,
    index: Annotated[int, typer.Option(min=0, help="Number of the first maze in the series of a seed.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="FILE.jsonl, FILE.txt (drawings) or FILE.svg (one picture). None: draw them here."),
    ] = None,
) -> None:
    """Generate mazes, all of which can be solved.

    Each has exactly so many walls, and a start and a goal far enough apart.
    """
    from graphwalk.cli.console import data, say, stdout
    from graphwalk.config.loading import validate
    from graphwalk.config.specs import MazeSpec
    from graphwalk.generators.maze import generate_mazes
    from graphwalk.suites.mazes.drawing import draw
    from graphwalk.suites.mazes.files import caption, maze_format, save_mazes

    given = {"size": size, "walls": walls, "min_path": min_path, "generator": generator, "count": count}
    spec = validate(MazeSpec, {**given, "offset": index}, "generate maze")
    if out is not None:
        maze_format(out, spec.count)
    begun = time.perf_counter()
    made = list(generate_mazes(spec, seed))
    seconds = time.perf_counter() - begun
    if out is None:
        for one in made:
            data(caption(one))
            stdout().print(draw(one))
        return
    save_mazes(made, out)
    say(f"{len(made)} mazes in {seconds:.2f} s, written to {out}")


@app.command("magma")
def magma(
    algorithm: Annotated[
        list[str] | None,
        typer.Option(help="bfs, dfs, dijkstra, floyd_warshall or mst_prim; repeatable. Default: all five."),
    ] = None,
    nodes: Annotated[list[int] | None, typer.Option(help="Size of the graphs; repeatable. Default: 5.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Traces of each kind. Default: the paper's number.")] = None,
    seed: Seed = 0,
    p: Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of an edge.")] = 0.5,
    split: Annotated[str, typer.Option(help="train, validation or test; they never share a graph.")] = "train",
    out: Annotated[Path | None, typer.Option(help="FILE.jsonl, one trace a line. None: only measure.")] = None,
) -> None:
    """Generate traces of graph algorithms, step by step.

    Each final answer is checked against networkx.
    """
    from graphwalk.cli.console import data
    from graphwalk.cli.magma_specs import magma_specs
    from graphwalk.generators.magma_traces import make_traces, write_traces

    specs = magma_specs(algorithm, nodes, count, p, [split])
    begun = time.perf_counter()
    traces = (trace for spec in specs for trace in make_traces(spec, seed))
    made = sum(1 for _ in traces) if out is None else write_traces(traces, out)
    data(f"traces   {made}")
    data(f"seconds  {time.perf_counter() - begun:.3f}")

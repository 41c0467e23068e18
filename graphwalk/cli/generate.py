"""`graphwalk generate`: graphs, anonymised copies, mazes, algorithm traces, and training data."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from graphwalk.cli import options
from graphwalk.cli.export import print_size
from graphwalk.errors import counted
from graphwalk.files.bulk import Row, write_rows
from graphwalk.terminal import print_data, print_message, progress_bar, run_async
from graphwalk.variables import read_variables

app = typer.Typer(help="Generate property graphs, mazes and algorithm traces.")
RowsFile = Annotated[Path, typer.Option(help="FILE.jsonl.")]
LINES = ".jsonl"


@app.command("twin")
@options.reads_files
def twin(
    out: Annotated[Path, typer.Option(help="Copy: FILE.json or FILE.graphml.")],
    mapping: Annotated[Path, typer.Option(help="Mapping of names, as FILE.json readable by you alone.")],
    graph: options.GraphFile = None,
    database: options.DatabaseName = None,
    reading: options.Reading | None = None,
    seed: options.Seed = 0,
) -> None:
    """Write an anonymised copy of a graph: same structure, new names."""
    from graphwalk.graphs.anonymise import make_anonymised_copy, save_mapping
    from graphwalk.graphs.files import graph_format, save_graph
    from graphwalk.stores.open import graph_in_memory

    graph_format(out)  # a wrong ending is an error before the graph is read
    source = options.chosen_source(graph, database, reading=reading)
    copy = make_anonymised_copy(run_async(graph_in_memory(source, read_variables())), seed)
    # The mapping first: a copy without one cannot be mapped back, and would be of no use.
    save_mapping(copy, mapping)
    save_graph(copy.graph, out)
    print_size(copy.graph)
    print_data(f"digest         {copy.graph.digest}")
    print_message(f"written to {out}; mapping back to the original: {mapping} (readable by you alone)")


@app.command("graph")
def graph(
    preset: Annotated[str | None, typer.Option(help="Preset: paper-100, paper-150, paper-200 or paper-500.")] = None,
    seed: options.Seed = 0,
    index: Annotated[int, typer.Option(min=0, help="Index of the graph in the series of the seed.")] = 0,
    nodes: Annotated[int | None, typer.Option(help="Number of nodes.")] = None,
    labels: Annotated[int | None, typer.Option(help="Number of node labels.")] = None,
    relationship_types: Annotated[int | None, typer.Option(help="Number of relationship types.")] = None,
    properties: Annotated[float | None, typer.Option(help="Mean number of properties of a label.")] = None,
    values: Annotated[int | None, typer.Option(help="Number of values of a property.")] = None,
    mean_degree: Annotated[float | None, typer.Option(help="Mean number of outgoing relationships.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Number of graphs; several need a FILE.jsonl.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(help="FILE.json, .graphml, .jsonl, or a folder for CSV. Default: print counts only."),
    ] = None,
    override: options.Override = None,
) -> None:
    """Generate property graphs with meaningless names."""
    from graphwalk.config.strict import validate
    from graphwalk.graphs.files import graph_format, save_graph
    from graphwalk.graphs.formats.json import json_document
    from graphwalk.graphs.generate import GraphSpec, generate_graph
    from graphwalk.runs.experiment import parse_override

    options_of_spec = {
        "preset": preset,
        "nodes": nodes,
        "labels": labels,
        "relationship_types": relationship_types,
        "properties": properties,
        "values": values,
        "mean_degree": mean_degree,
    }
    # What is not given is left to the preset.
    fields: dict[str, Any] = {name: value for name, value in options_of_spec.items() if value is not None}
    for text in override or ():
        name, value = parse_override(text)  # -o density=0.2
        fields[name] = value
    spec = validate(GraphSpec, fields, "generate graph")
    if count > 1 or (out is not None and out.suffix.lower() == LINES):
        rows = (json_document(generate_graph(spec, seed, number)) for number in range(index, index + count))
        _write(rows, out or Path("graphs"), "graph", count)
        return
    if out is not None:
        graph_format(out)  # a wrong ending is an error now, not after a minute of generating
    with progress_bar("generating"):
        property_graph = generate_graph(spec, seed, index)
        if out is not None:
            save_graph(property_graph, out)
            print_message(f"written to {out}")
    print_size(property_graph)
    print_data(f"digest         {property_graph.digest}")


@app.command("maze")
def maze(
    out: RowsFile,
    size: Annotated[int, typer.Option(help="Cells per side.")] = 10,
    walls: Annotated[float, typer.Option(help="Share of cells that are walls.")] = 0.5,
    min_path: Annotated[int, typer.Option(help="Minimum steps from start to goal.")] = 15,
    count: Annotated[int, typer.Option(min=1, help="Number of mazes.")] = 1,
    seed: options.Seed = 0,
    index: Annotated[int, typer.Option(min=0, help="Index of the first maze for this seed.")] = 0,
) -> None:
    """Generate solvable mazes with an exact number of walls and a minimum path length."""
    from graphwalk.config.strict import validate
    from graphwalk.suites.mazes.generate import MazeSpec, generate_maze

    spec = validate(MazeSpec, {"size": size, "walls": walls, "min_path": min_path}, "generate maze")
    mazes = (generate_maze(spec, seed, number).as_json() for number in range(index, index + count))
    _write(mazes, out, "maze", count)


@app.command("magma")
def magma(
    out: RowsFile,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(help="Algorithm: bfs, dfs, dijkstra, floyd_warshall or mst_prim; repeatable. Default: all."),
    ] = None,
    nodes: Annotated[list[int] | None, typer.Option(help="Nodes per graph; repeatable. Default: 5.")] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="Traces per algorithm and size. Default: as in the paper.")
    ] = None,
    seed: options.Seed = 0,
    p: Annotated[float, typer.Option(min=0.0, max=1.0, help="Edge probability.")] = 0.5,
    split: Annotated[str, typer.Option(help="train, validation or test; splits never share a graph.")] = "train",
    strategy: Annotated[
        Literal["io", "io_reasoning", "is", "ish"] | None,
        typer.Option(help="Write chats in this strategy, shuffled. Default: traces."),
    ] = None,
    protocol: Annotated[str, typer.Option(help="Prompts and states of a run with this protocol.")] = "graphwalk",
) -> None:
    """Generate step-by-step traces of graph algorithms, checked against networkx."""
    from graphwalk.runs.experiment import load_experiment
    from graphwalk.seeds import stdlib_random
    from graphwalk.suites.magma.algorithms import ALGORITHMS
    from graphwalk.suites.magma.prompts import training_chat
    from graphwalk.suites.magma.suite import MagmaSuite

    grid = {"algorithm": algorithm or ALGORITHMS, "nodes": nodes or (5,), "count": count, "p": p, "split": split}
    suite = {"name": "magma", "traces": [grid]}
    experiment = load_experiment({"name": "traces", "suite": suite, "protocol": protocol})
    traces = (instance.source for instance in MagmaSuite().graphs(experiment.suite, seed))
    if strategy is None:
        _write((trace.as_json() for trace in traces), out, "trace", experiment.suite.graph_count)
        return
    explain = experiment.suite.explain
    chats = [training_chat(trace, strategy, experiment.agent, explain=explain) for trace in traces]
    stdlib_random(seed, "magma.export", split).shuffle(chats)
    rows = []
    for chat in chats:
        rows.append({"messages": [{"role": message.role, "content": message.content} for message in chat]})
    _write(rows, out, "chat", len(rows))


@app.command("traces")
def traces(
    experiment: Annotated[str, typer.Argument(help="Experiment name or YAML file.")],
    out: Annotated[Path, typer.Option(help="FILE.jsonl, described in FILE.manifest.json.")],
    model: Annotated[
        list[str] | None, typer.Option("--model", "-m", help="Scripted agent; repeatable. Default: scripted/expert.")
    ] = None,
    graphs: Annotated[
        int | None, typer.Option(min=1, help="Number of graphs, mazes or instances of each kind.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed. Default: the experiment's.")] = None,
    grounded: options.Grounded = False,
    protocol: options.Protocol = "native",
    not_in: options.Apart = None,
    override: options.Override = None,
) -> None:
    """Write correct solutions of scripted agents for fine-tuning.

    The lines are those that `graphwalk export traces --correct` writes after a run.
    """
    from graphwalk.runs.experiment import load_experiment
    from graphwalk.training.traces import TraceOptions, manifest_path, write_traces

    # An experiment that was written for a run may name a database, an extractor and a limit; none is of use here.
    fields: dict[str, Any] = {
        "models": model or ["scripted/expert"],
        "store": "embedded",
        "extractor": None,
        "limit": None,
    }
    if seed is not None:
        fields["seed"] = seed
    config = load_experiment(experiment, override or (), fields, graphs=graphs)
    number = write_traces(config, TraceOptions(True, grounded, (), protocol), out, not_in)
    print_message(f"{counted(number, 'row')} written to {out}, and {manifest_path(out)}")


def _write(rows: Iterable[Row], out: Path, name: str, total: int) -> None:
    """Write rows with progress, and print their number; `name` is what one row is."""
    with progress_bar(f"{name}s", total) as done:
        number = write_rows(done.each(rows), out)
    print_message(f"{counted(number, name)} written to {out}")

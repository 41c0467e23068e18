"""`graphwalk export`: runs, graphs and training data in the formats of other programs."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from graphwalk.cli import options
from graphwalk.errors import ConfigError, counted
from graphwalk.terminal import print_data, print_message, progress_bar, run_async
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    from graphwalk.graphs.graph import PropertyGraph


class _ExportGroup(TyperGroup):
    """The commands below, and one for each registered export format."""

    def list_commands(self, ctx: Any) -> list[str]:
        from graphwalk.analysis.exports.tables import EXPORTS

        return [*EXPORTS.names(), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        from graphwalk.analysis.exports.tables import EXPORTS

        if cmd_name in EXPORTS:
            exporter = EXPORTS.load(cmd_name)
            format_app = typer.Typer(add_completion=False)
            format_app.command(cmd_name, help=exporter.__doc__)(_command(exporter))
            return get_command(format_app)
        return super().get_command(ctx, cmd_name)


app = typer.Typer(cls=_ExportGroup, help="Write runs, graphs and training data in other programs' formats.")


def _command(exporter: Callable[..., None]) -> Callable[..., None]:
    def command(
        run: options.RunOrFile,
        out: Annotated[Path, typer.Option(help="Output file, or new folder.")],
        model: options.Models = None,
        setting: options.SettingNames = None,
        task: Annotated[list[str] | None, typer.Option(help="Only this task; repeatable.")] = None,
    ) -> None:
        from graphwalk.analysis.exports.tables import Episodes
        from graphwalk.runs.folder import RunFolder
        from graphwalk.runs.record import EpisodeFilter

        chosen = EpisodeFilter(model or None, setting or None, task or None)
        folder = RunFolder.open(run, conversations=True)
        number = len(Episodes(folder, chosen))
        with progress_bar("exporting", number) as done:
            exporter(Episodes(folder, chosen, done), out)
        print_message(f"{counted(number, 'episode')} written to {out}")

    return command


@app.command("traces")
def traces(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    out: Annotated[Path, typer.Option(help="FILE.jsonl; its contents are described in FILE.manifest.json.")],
    correct: Annotated[bool, typer.Option("--correct", help="Only correct answers.")] = False,
    grounded: options.Grounded = False,
    model: options.Models = None,
    protocol: options.Protocol = "native",
    not_in: options.Apart = None,
) -> None:
    """Write episodes of runs as chats for fine-tuning, one per line.

    Each line is readable by `datasets`, TRL and chat templates: {"messages", "tools", "task_id", …}.
    """
    from graphwalk.runs.folder import RunFolder
    from graphwalk.training.traces import TraceOptions, export_traces, manifest_path, read_run

    opened = [run_async(read_run(RunFolder.open(path), read_variables())) for path in runs]
    manifest = export_traces(opened, out, TraceOptions(correct, grounded, tuple(model or ()), protocol), not_in)
    for kind, number in manifest["kinds"].items():
        print_data(f"{kind:<40} {number}")
    for reason, number in manifest["left_out"].items():
        print_message(f"left out: {counted(number, 'episode')} {reason}")
    print_message(f"{counted(manifest['lines'], 'chat')} written to {out}, and {manifest_path(out)}")


@app.command("dataset")
def dataset(
    experiment: Annotated[str, typer.Argument(help="Experiment name or YAML file: the test split.")],
    out: Annotated[Path, typer.Option(help="New folder.")],
    train: Annotated[
        str | None, typer.Option(help="Experiment of a train split, which must share no graph with the test split.")
    ] = None,
    licence: Annotated[
        str | None, typer.Option(help="Licence of your own graph, for example cc-by-4.0. Generated graphs: mit.")
    ] = None,
    override: options.Override = None,
) -> None:
    """Write the tasks of an experiment as a data set for the Hugging Face hub.

    The folder has Parquet files of tasks and graphs, and a card; datasets.load_dataset reads it.
    """
    from graphwalk.analysis.exports.dataset import FIXED_FIELDS, TEST, TRAIN, export_dataset
    from graphwalk.runs.experiment import load_experiment

    experiments = {TEST: load_experiment(experiment, override or (), FIXED_FIELDS)}
    if train is not None:
        experiments[TRAIN] = load_experiment(train, override or (), FIXED_FIELDS)
    with progress_bar("making tasks"):
        tables = run_async(export_dataset(experiments, out, read_variables(), licence))
    for table in tables:
        print_data(f"{table.path:<30} {counted(table.rows, 'row'):>12}  sha256 {table.sha256}")
    print_message(f"written to {out}; the card is {out / 'README.md'}")


@app.command("graph")
@options.reads_files
def graph(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="[SOURCE] TARGET",
            help='SOURCE: graph file, folder of CSV, or "example"; default: Neo4j, as for `ask`. '
            "TARGET: FILE.json, .graphml, or a folder for CSV.",
        ),
    ],
    database: options.DatabaseName = None,
    labels: options.Labels = None,
    relationship_types: options.RelationshipTypes = None,
    reading: options.Reading | None = None,
) -> None:
    """Write a graph in another format, or a Neo4j database to a file.

    A database is only read, and held in memory.
    """
    from graphwalk.graphs.files import graph_format, load_graph
    from graphwalk.stores.open import graph_in_memory

    if len(paths) > 2:
        raise typer.BadParameter("expected SOURCE and TARGET, or TARGET")
    *sources, target = paths
    form, file = graph_format(target), sources[0] if sources else None
    source = options.chosen_source(file, database, None, labels, relationship_types, reading)
    if source.file and (labels or relationship_types):
        raise ConfigError("--labels and --relationship-types need --database", hint="--database NAME")
    with progress_bar(f"reading {source.name}"):
        # A file is written under its own names, which a graph that is walked may not keep.
        read = load_graph(source.file, source) if source.file else run_async(graph_in_memory(source, read_variables()))
    with progress_bar(f"writing {target}"):
        form.write(read, target)
    print_size(read)
    print_message(f"written to {target}")


def print_size(graph: "PropertyGraph") -> None:
    """Print the numbers of nodes and relationships."""
    print_data(f"nodes          {graph.node_count}")
    print_data(f"relationships  {graph.relationship_count}")

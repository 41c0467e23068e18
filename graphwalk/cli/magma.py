"""`graphwalk generate magma` and `graphwalk export magma`."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphwalk.cli.generate import write_generated
from graphwalk.cli.options import Seed
from graphwalk.errors import counted
from graphwalk.terminal.console import data

if TYPE_CHECKING:
    from graphwalk.suites.magma.config import MagmaSpec

_COLUMNS: dict[str, type] = {
    "algorithm": str,
    "n": int,
    "p": float,
    "seed": int,
    "split": str,
    "index": int,
    "trace_id": str,
    "edges": str,
    "weights": str,
    "source": int,
    "steps": str,
    "final": str,
}


def magma_specs(
    algorithms: Sequence[str] | None, nodes: Sequence[int] | None, count: int | None, p: float, splits: Sequence[str]
) -> "list[MagmaSpec]":
    """Return every combination, split by split. Raise ConfigError for an invalid value."""
    from graphwalk.config.yaml_files import validate
    from graphwalk.suites.magma.config import MagmaConfig
    from graphwalk.suites.magma.generate import ALGORITHMS

    grids = [
        {"algorithm": list(algorithms or ALGORITHMS), "nodes": list(nodes or [5]), "p": p, "split": split}
        | ({} if count is None else {"count": count})
        for split in splits
    ]
    return list(validate(MagmaConfig, {"traces": grids}, "magma").specs())


_Algorithms = Annotated[
    list[str] | None,
    typer.Option(help="Algorithm: bfs, dfs, dijkstra, floyd_warshall or mst_prim; repeatable. Default: all."),
]
_Nodes = Annotated[list[int] | None, typer.Option(help="Nodes per graph; repeatable. Default: 5.")]
_Count = Annotated[int | None, typer.Option(min=1, help="Traces per algorithm and size. Default: as in the paper.")]
_Probability = Annotated[float, typer.Option(min=0.0, max=1.0, help="Edge probability.")]


def generate_magma_command(
    out: Annotated[Path, typer.Option(help="Output file: .jsonl or .parquet.")],
    algorithm: _Algorithms = None,
    nodes: _Nodes = None,
    count: _Count = None,
    seed: Seed = 0,
    p: _Probability = 0.5,
    split: Annotated[str, typer.Option(help="train, validation or test; splits never share a graph.")] = "train",
) -> None:
    """Generate step-by-step traces of graph algorithms, checked against networkx."""
    from graphwalk.suites.magma.generate import make_traces

    # The upper bound of an experiment, which keeps all traces in memory, does not apply here.
    specs = magma_specs(algorithm, nodes, None if count is None else 1, p, [split])
    specs = specs if count is None else [spec.model_copy(update={"count": count}) for spec in specs]
    traces = chain.from_iterable(make_traces(spec, seed) for spec in specs)
    total = sum(spec.count for spec in specs)
    write_generated((trace.as_json() for trace in traces), out, _COLUMNS, "trace", total)


def export_magma_command(
    folder: Annotated[Path, typer.Argument(help="New folder.")],
    algorithm: _Algorithms = None,
    nodes: _Nodes = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="io (input–output), io_reasoning, is (intermediate steps) or ish (steps with hints); repeatable."
        ),
    ] = None,
    split: Annotated[list[str] | None, typer.Option(help="train, validation or test; repeatable.")] = None,
    count: _Count = None,
    seed: Seed = 0,
    p: _Probability = 0.5,
    mixed: Annotated[bool, typer.Option("--mixed", help="Write one shuffled file per split.")] = False,
    protocol: Annotated[
        str, typer.Option(help="graphwalk, or paper: the prompts and states of a run with this protocol.")
    ] = "graphwalk",
) -> None:
    """Export MAGMA as fine-tuning chats in the OpenAI format. No graph is in two splits."""
    from graphwalk.exports.magma import STRATEGIES, export_magma

    specs = magma_specs(algorithm, nodes, count, p, split or ("train", "validation", "test"))
    strategies = strategy or STRATEGIES
    manifest = export_magma(specs, folder, seed=seed, strategies=strategies, mixed=mixed, protocol=protocol)
    chats = sum(file["chats"] for file in manifest["files"])
    data(f"{counted(chats, 'chat')} in {counted(len(manifest['files']), 'file')} written to {folder}")

"""Traces in files, JSON Lines or Parquet: a row for each, however many there are.

Instances are drawn in one process, since no two may be alike; what takes long, the algorithm, its check and the
writing, is done in all of them.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphwalk.bulk import Job, Rows, Workers, write_rows
from graphwalk.console import counted, data, say
from graphwalk.progress import progress_bar
from graphwalk.suites.magma.config import MagmaSpec
from graphwalk.suites.magma.generate import Instance, instances, traces_of

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
    "edges": list,
    "weights": list,
    "source": int,
    "steps": list,
    "final": list,
}
_TOGETHER = 250
"""Traces of a part."""
_Batch = tuple[MagmaSpec, int, list[Instance]]
"""A spec, the index of the first one, and instances."""


def magma_rows(specs: Sequence[MagmaSpec], seed: int) -> Rows:
    """The traces of all specs, one spec after the other. ConfigError, as they are made, where a split has fewer."""
    return Rows(
        name="traces",
        of=partial(_traces, seed),
        jobs=partial(_jobs, specs, seed),
        columns=_COLUMNS,
        about={"traces": [spec.model_dump(mode="json") for spec in specs], "seed": seed},
        total=sum(spec.count for spec in specs),
    )


def _jobs(specs: Sequence[MagmaSpec], seed: int) -> Iterator[Job]:
    for spec in specs:
        drawn, index = instances(spec, seed), spec.offset
        while batch := list(islice(drawn, _TOGETHER)):
            yield Job((spec, index, batch), len(batch))
            index += len(batch)


def _traces(seed: int, batch: _Batch) -> Iterator[dict[str, Any]]:
    spec, index, drawn = batch
    for trace in traces_of(spec, seed, drawn, index):
        yield trace.as_json()


Seed = Annotated[int, typer.Option(help="Random seed.")]
_SPLITS = ("train", "validation", "test")
_DEFAULT_NODES = (5,)


def magma_specs(
    algorithms: Sequence[str] | None, nodes: Sequence[int] | None, count: int | None, p: float, splits: Sequence[str]
) -> "list[MagmaSpec]":
    """Every combination, split by split. ConfigError for a value that does not exist."""
    from graphwalk.config.yaml_files import validate
    from graphwalk.suites.magma.config import MagmaConfig
    from graphwalk.suites.magma.generate import ALGORITHMS

    grids = [
        {"algorithm": list(algorithms or ALGORITHMS), "nodes": list(nodes or _DEFAULT_NODES), "p": p, "split": split}
        | ({} if count is None else {"count": count})
        for split in splits
    ]
    return list(validate(MagmaConfig, {"traces": grids}, "magma").specs())


def generate_magma_command(
    algorithm: Annotated[
        list[str] | None,
        typer.Option(help="Algorithm: bfs, dfs, dijkstra, floyd_warshall or mst_prim; repeatable. Default: all."),
    ] = None,
    nodes: Annotated[list[int] | None, typer.Option(help="Number of nodes; repeatable. Default: 5.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Traces of each kind. Default: the paper's number.")] = None,
    seed: Seed = 0,
    p: Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of an edge.")] = 0.5,
    split: Annotated[str, typer.Option(help="Split: train, validation or test. Splits share no graph.")] = "train",
    out: Annotated[
        Path | None, typer.Option(help="FILE.jsonl or FILE.parquet. Default: measure the time only.")
    ] = None,
    workers: Workers = None,
) -> None:
    """Generate step-by-step traces of graph algorithms.

    Each final answer is checked against networkx.
    """
    from graphwalk.suites.magma.generate import make_traces

    # How many an experiment may have, which holds them all in memory, is no bound here.
    specs = magma_specs(algorithm, nodes, None if count is None else 1, p, [split])
    specs = specs if count is None else [spec.model_copy(update={"count": count}) for spec in specs]
    if out is not None:
        written = write_rows(magma_rows(specs, seed), out, workers)
        data(f"traces   {written.rows}")
        data(f"seconds  {written.seconds:.3f}")
        say(f"{written}, written to {out}")
        return
    begun, made = time.perf_counter(), 0
    with progress_bar("traces", sum(spec.count for spec in specs)) as done:
        for _ in chain.from_iterable(make_traces(spec, seed) for spec in specs):
            made += 1
            done()
    data(f"traces   {made}")
    data(f"seconds  {time.perf_counter() - begun:.3f}")


def export_magma_command(
    folder: Annotated[Path, typer.Argument(help="New folder; with --verify an exported one.")],
    algorithm: Annotated[list[str] | None, typer.Option(help="Algorithm; repeatable. Default: all.")] = None,
    nodes: Annotated[list[int] | None, typer.Option(help="Number of nodes; repeatable. Default: 5.")] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="Strategy: io (input–output), io_reasoning, is (intermediate steps), ish (is with hints); repeatable."
        ),
    ] = None,
    split: Annotated[list[str] | None, typer.Option(help="Split: train, validation or test; repeatable.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Traces of each kind. Default: the paper's number.")] = None,
    seed: Seed = 0,
    p: Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of an edge.")] = 0.5,
    mixed: Annotated[bool, typer.Option("--mixed", help="Write one shuffled file per split.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Check that the splits of an export are disjoint.")] = False,
) -> None:
    """Write MAGMA as chats for fine-tuning, or verify such a folder.

    The chat format is that of OpenAI, `datasets` and TRL.
    """
    from graphwalk.suites.magma.export import STRATEGIES, export_magma, verify_export

    if not verify:
        specs = magma_specs(algorithm, nodes, count, p, split or _SPLITS)
        manifest = export_magma(specs, folder, seed=seed, strategies=strategy or STRATEGIES, mixed=mixed)
        data(f"{counted(len(manifest['files']), 'file')} written to {folder}")
    proven = verify_export(folder)
    for name in proven.chats:
        chats, points = counted(proven.chats[name], "chat"), counted(proven.data_points[name], "data point")
        data(f"{name:<10} {chats}, {points}, {counted(proven.graphs[name], 'graph')}")
    data("verified: no graph is in two splits, no chat is repeated, and every file matches the manifest")


GENERATE: Mapping[str, Callable[..., None]] = {"magma": generate_magma_command}
EXPORT: Mapping[str, Callable[..., None]] = {"magma": export_magma_command}

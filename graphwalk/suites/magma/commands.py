"""`graphwalk generate magma` and `graphwalk export magma`.

One process draws instances, because all must differ. Worker processes run the algorithms, check and write.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any

import typer

from graphwalk.bulk import Job, Rows, Workers, write_rows
from graphwalk.console import counted, data, say
from graphwalk.progress import progress_bar
from graphwalk.suites.magma.config import MagmaConfig, MagmaSpec
from graphwalk.suites.magma.generate import ALGORITHMS, Instance, instances, make_traces, traces_of

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
"""Traces per batch."""
_Batch = tuple[MagmaSpec, int, list[Instance]]
"""Spec, index of the first instance, instances."""


def magma_rows(specs: Sequence[MagmaSpec], seed: int) -> Rows:
    """Return the traces of all specs as rows. Iterating raises ConfigError if a split has too few traces."""
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


_SPLITS = ("train", "validation", "test")
_DEFAULT_NODES = (5,)


def magma_specs(
    algorithms: Sequence[str] | None, nodes: Sequence[int] | None, count: int | None, p: float, splits: Sequence[str]
) -> list[MagmaSpec]:
    """Return every combination, split by split. Raise ConfigError for an invalid value."""
    from graphwalk.config.yaml_files import validate

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
    nodes: Annotated[list[int] | None, typer.Option(help="Nodes per graph; repeatable. Default: 5.")] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="Traces per algorithm and size. Default: as in the paper.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    p: Annotated[float, typer.Option(min=0.0, max=1.0, help="Edge probability.")] = 0.5,
    split: Annotated[str, typer.Option(help="train, validation or test; splits never share a graph.")] = "train",
    out: Annotated[
        Path | None, typer.Option(help="Output file: .jsonl or .parquet. Default: only measure the time.")
    ] = None,
    workers: Workers = None,
) -> None:
    """Generate step-by-step traces of graph algorithms, checked against networkx."""
    # The upper bound of an experiment, which keeps all traces in memory, does not apply here.
    specs = magma_specs(algorithm, nodes, None if count is None else 1, p, [split])
    specs = specs if count is None else [spec.model_copy(update={"count": count}) for spec in specs]
    if out is not None:
        written = write_rows(magma_rows(specs, seed), out, workers)
        data(f"traces   {written.rows}")
        data(f"seconds  {written.seconds:.3f}")
        say(f"{written} written to {out}")
        return
    started, trace_count = time.perf_counter(), 0
    with progress_bar("traces", sum(spec.count for spec in specs)) as done:
        for _ in chain.from_iterable(make_traces(spec, seed) for spec in specs):
            trace_count += 1
            done()
    data(f"traces   {trace_count}")
    data(f"seconds  {time.perf_counter() - started:.3f}")


def export_magma_command(
    folder: Annotated[Path, typer.Argument(help="New folder.")],
    algorithm: Annotated[list[str] | None, typer.Option(help="Algorithm; repeatable. Default: all.")] = None,
    nodes: Annotated[list[int] | None, typer.Option(help="Nodes per graph; repeatable. Default: 5.")] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="io (input–output), io_reasoning, is (intermediate steps) or ish (steps with hints); repeatable."
        ),
    ] = None,
    split: Annotated[list[str] | None, typer.Option(help="train, validation or test; repeatable.")] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="Traces per algorithm and size. Default: as in the paper.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    p: Annotated[float, typer.Option(min=0.0, max=1.0, help="Edge probability.")] = 0.5,
    mixed: Annotated[bool, typer.Option("--mixed", help="Write one shuffled file per split.")] = False,
) -> None:
    """Export MAGMA as fine-tuning chats in the OpenAI format. No graph is in two splits."""
    from graphwalk.suites.magma.export import STRATEGIES, export_magma

    specs = magma_specs(algorithm, nodes, count, p, split or _SPLITS)
    manifest = export_magma(specs, folder, seed=seed, strategies=strategy or STRATEGIES, mixed=mixed)
    chats = sum(file["chats"] for file in manifest["files"])
    data(f"{counted(chats, 'chat')} in {counted(len(manifest['files']), 'file')} written to {folder}")


GENERATE: Mapping[str, Callable[..., None]] = {"magma": generate_magma_command}
EXPORT: Mapping[str, Callable[..., None]] = {"magma": export_magma_command}

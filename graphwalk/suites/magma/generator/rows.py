"""Traces in files, JSON Lines or Parquet: a row for each, however many there are.

Instances are drawn in one process, since no two may be alike; what takes long, the algorithm, its check and the
writing, is done in all of them.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from graphwalk.bulk.rows import Job, Rows
from graphwalk.suites.magma.config import MagmaSpec
from graphwalk.suites.magma.generator.instances import Instance, instances
from graphwalk.suites.magma.generator.traces import traces_of

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

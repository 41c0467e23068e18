"""Compare logs of inspect_ai, schema 2: JSON files, or `.eval`, ZIP archives.

In an archive, ids, epochs and scores are in `summaries.json`; task, model and metrics in `header.json`.
"""

import json
import zlib
from collections.abc import Sequence
from copy import copy
from itertools import chain
from pathlib import Path
from typing import Any, Literal
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from pydantic import BaseModel, PositiveInt
from zstandard import ZstdDecompressor, ZstdError

from graphwalk.config.yaml_files import validate
from graphwalk.errors import ConfigError, RunLogError, counted
from graphwalk.reports.compare import RunComparison, compare_players
from graphwalk.reports.measures import count_if, scored
from graphwalk.reports.observations import Player, chosen, observe
from graphwalk.reports.suite_report import Measure, ResultRecord, SuiteReport
from graphwalk.runs.finished.compare_runs import MOST_DIFFERENCES, merged, short_names

_ZSTD = 93
"""A method of ZIP (APPNOTE.TXT, 4.4.5) that Python reads from 3.14 on."""
_DAMAGED = (BadZipFile, EOFError, KeyError, OSError, RuntimeError, TypeError, ValueError, ZstdError)
_HINT = "compare .eval or .json files of schema 2 (inspect_ai 0.3); of a run:  graphwalk export inspect RUN --out logs"
_MOST_BYTES = 2**30
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Numbers of inspect_ai for correct, partial, incorrect and no answer (its `value_to_float`)."""


class _Sample(BaseModel):
    id: int | str
    epoch: PositiveInt
    target: Any = None
    metadata: dict[str, Any] = {}
    scores: dict[str, dict[str, Any]] | None = None
    error: str | dict[str, Any] | None = None

    @property
    def numbers(self) -> dict[str, float]:
        """The numeric scores by name; of a score with several values, each by its own."""
        values: dict[str, Any] = {}
        for name, score in (self.scores or {}).items():
            value = score.get("value")
            values |= value if isinstance(value, dict) else {name: value}
        numbers = {name: _LETTERS.get(value) if isinstance(value, str) else value for name, value in values.items()}
        return {name: float(value) for name, value in numbers.items() if isinstance(value, int | float)}


class _Spec(BaseModel):
    task: str
    model: str


class _Log(BaseModel):
    version: Literal[2]
    eval: _Spec
    results: dict[str, Any] | None = None
    samples: list[_Sample]

    @property
    def player(self) -> Player:
        return Player(self.eval.model, self.eval.task.rpartition("/")[2])

    @property
    def cluster(self) -> str | None:
        """The field of the metadata that inspect_ai clustered a standard error by."""
        metrics = chain.from_iterable(one.get("metrics", {}).values() for one in (self.results or {}).get("scores", ()))
        return next(filter(None, (metric.get("params", {}).get("cluster") for metric in metrics)), None)

    def record(self, sample: _Sample, cluster: str | None) -> ResultRecord:
        """Return a sample with the fields of a result; without clusters all are on one graph."""
        if cluster and sample.metadata.get(cluster) is None:
            fields = f"fields there: {', '.join(sample.metadata) or 'none'}"
            raise ConfigError(f"--cluster: no {cluster!r} in the metadata of sample {sample.id}", hint=fields)
        return {
            **self.player._asdict(),
            **{"task_id": str(sample.id), "repeat": sample.epoch - 1, "score": sample.numbers or None, "usage": {}},
            "task": {"graph_digest": str(sample.metadata[cluster]) if cluster else ""},
            "exit_status": "model_error" if sample.error else "answered",
            "trajectory": {"error": sample.error and str(sample.error)},
        }


def compare_logs(
    paths: Sequence[Path],
    *,
    models: Sequence[str] = (),
    settings: Sequence[str] = (),
    score: str | None = None,
    cluster: str | None = None,
) -> RunComparison:
    """Compare all pairs of models and tasks in these logs on samples with the same id; epochs are averaged.

    `score`: the one to test (default: the first). `cluster`: the field of the metadata with a sample's cluster
    (default: as in inspect_ai). Raise RunLogError for damaged logs or different samples, ConfigError for unknown names.
    """
    names, logs = short_names(paths), [_read(path) for path in paths]
    for path, log in zip(paths[1:], logs[1:], strict=True):
        _check_samples(logs[0], log, f"{paths[0]} and {path}")
    field = cluster or next(filter(None, (log.cluster for log in logs)), None)
    records = [[log.record(sample, field) for sample in log.samples] for log in logs]
    declared = _declared(records, score)
    players = sorted({log.player for log in logs})
    if len(players) == len(logs):  # models and tasks tell them apart, without the names of files
        names, records = [""], [[*chain.from_iterable(records)]]
    observed = {name: observe(some, declared) for name, some in zip(names, records, strict=True)}
    notes = [f"Clusters: {field}." if field else "No clusters: --cluster FIELD names a field of the samples' metadata."]
    return compare_players(merged(observed, set(chosen(players, models, settings))), seed=0, notes=notes)


def _declared(records: Sequence[Sequence[ResultRecord]], score: str | None) -> SuiteReport:
    """Return the measures: scores that all logs have, `score` first."""
    by_log = [dict.fromkeys(chain.from_iterable(record["score"] or () for record in log)) for log in records]
    names = sorted((name for name in by_log[0] if all(name in log for log in by_log)), key=lambda name: name != score)
    if not names or score not in (None, *names):
        what = "no numeric score" if score is None else f"--score: no numeric score {score!r}"
        raise ConfigError(f"{what} in all logs", hint=f"numeric scores of all: {', '.join(names) or 'none'}")
    measures = [Measure(name, "mean", scored(name)) for name in names]
    failures = Measure("infrastructure_failures", "count", count_if(lambda record: record["score"] is None))
    return SuiteReport("inspect_ai", (*measures, failures), (), (), (), compared=tuple(names))


def _check_samples(first: _Log, second: _Log, names: str) -> None:
    """Raise RunLogError if two logs have no sample in common, or samples with other targets."""
    targets, others = ({str(sample.id): sample.target for sample in log.samples} for log in (first, second))
    common = sorted(targets.keys() & others.keys())
    changed = [name for name in common if targets[name] != others[name]]
    if changed or not common:
        some = ", ".join(changed[:MOST_DIFFERENCES])
        what = f"have other targets for {counted(len(changed), 'sample')}: {some}" if changed else "share no sample id"
        raise RunLogError(f"{names} {what}", hint="compare logs of the same task and data")


def _read(path: Path) -> _Log:
    """Read a log. Raise RunLogError if it is damaged, or with the mistakes in its fields."""
    try:
        if path.suffix == ".json":
            return validate(_Log, json.loads(path.read_bytes()), str(path))
        with ZipFile(path) as archive:
            header, samples = (json.loads(read_entry(archive, name)) for name in ("header.json", "summaries.json"))
        return validate(_Log, {**header, "samples": samples}, str(path))
    except ConfigError as error:
        raise RunLogError("\n".join(str(error).splitlines()[:MOST_DIFFERENCES]), hint=_HINT) from error
    except _DAMAGED as error:
        cause = error.strerror if isinstance(error, OSError) else error.args[0]
        raise RunLogError(f"{path} cannot be read as a finished log of inspect_ai: {cause}", hint=_HINT) from error


def read_entry(archive: ZipFile, name: str) -> bytes:
    """Return the content of an entry. Raise KeyError without it, BadZipFile or ValueError if it is damaged."""
    info = archive.getinfo(name)
    if info.file_size > _MOST_BYTES:
        raise ValueError(f"{name} has more than {_MOST_BYTES:,} bytes")
    if info.compress_type != _ZSTD:
        return archive.read(info)
    packed: Any = copy(info)
    packed.compress_type, packed.file_size, packed.CRC = ZIP_STORED, info.compress_size, None  # None: not checked
    content = ZstdDecompressor().stream_reader(archive.read(packed), read_across_frames=True).read(info.file_size + 1)
    if zlib.crc32(content) != info.CRC:
        raise BadZipFile(f"{name} is damaged")
    return content

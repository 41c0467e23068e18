"""Compare logs of inspect_ai: `.eval` files, ZIP archives of schema 2.

Ids, epochs and scores are in `summaries.json`; `header.json` has the task, the model, and the metrics. A log is not
trusted: what it unpacks to has a limit.
"""

import json
import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from graphwalk.errors import ConfigError, RunLogError, did_you_mean
from graphwalk.reports.compare import RunComparison, compare_players
from graphwalk.reports.measures import count_if
from graphwalk.reports.observations import Player, chosen, observe
from graphwalk.reports.suite_report import Measure, ResultRecord, SuiteReport
from graphwalk.runs.finished.compare_runs import MOST_DIFFERENCES, merged, short_names

_SUFFIX = ".eval"
_SCHEMA = 2
_ZSTD = 93
"""The method of compression in APPNOTE.TXT of ZIP, section 4.4.5, which Python's zipfile reads from 3.14 on."""
_LOCAL_HEADER = struct.Struct("<26xHH")
"""Lengths of name and extra field in the local header of an entry (APPNOTE.TXT, section 4.3.7)."""
_MOST_BYTES = 2**30
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Values of inspect_ai for correct, partial, incorrect and no answer (its `value_to_float`)."""


class _Score(BaseModel):
    value: Any


class _Sample(BaseModel):
    """The fields of an `EvalSampleSummary` that are compared."""

    id: int | str
    epoch: Annotated[int, Field(ge=1)]
    target: Any = None
    metadata: dict[str, Any] = {}
    scores: dict[str, _Score] | None = None
    error: str | None = None

    @property
    def numbers(self) -> dict[str, float]:
        """The numeric scores by name; of a score with several values, each by its own."""
        values: dict[str, Any] = {}
        for name, score in (self.scores or {}).items():
            values |= score.value if isinstance(score.value, dict) else {name: score.value}
        numbers = {
            name: _LETTERS.get(value, value) if isinstance(value, str) else value for name, value in values.items()
        }
        return {name: float(value) for name, value in numbers.items() if isinstance(value, int | float)}


class _Spec(BaseModel):
    task: str
    model: str


class _Header(BaseModel):
    eval: _Spec
    results: dict[str, Any] | None = None

    @property
    def cluster(self) -> str | None:
        """The field of the metadata that inspect_ai clustered a standard error by."""
        scores = (self.results or {}).get("scores") or ()
        params = (metric.get("params", {}) for score in scores for metric in score.get("metrics", {}).values())
        return next((one["cluster"] for one in params if one.get("cluster")), None)


class _Log(BaseModel):
    path: Path
    header: _Header
    samples: list[_Sample]

    @property
    def targets(self) -> dict[str, str]:
        return {str(sample.id): json.dumps(sample.target, sort_keys=True) for sample in self.samples}

    def records(self, cluster: str | None) -> Iterator[ResultRecord]:
        """Yield the samples with the fields of results; without clusters all are on one graph."""
        for sample in self.samples:
            numbers = sample.numbers
            yield {
                "model": self.header.eval.model,
                "setting": self.header.eval.task,
                "task_id": str(sample.id),
                "repeat": sample.epoch - 1,
                "task": {"graph_digest": str(sample.metadata[cluster]) if cluster else ""},
                "exit_status": "model_error" if sample.error else "answered",
                "trajectory": {"error": sample.error},
                "score": numbers or None,
                "usage": {},
            }


def all_logs(paths: Sequence[Path]) -> bool:
    """Return True for logs of inspect_ai. Raise ConfigError for logs among runs."""
    logs = [path for path in paths if path.suffix == _SUFFIX]
    if logs and len(logs) < len(paths):
        runs = ", ".join(str(path) for path in paths if path not in logs)
        raise ConfigError(
            f"logs of inspect_ai cannot be compared with runs: {', '.join(map(str, logs))} with {runs}",
            hint="export the run first:  graphwalk export inspect RUN --out logs",
        )
    return bool(logs)


def compare_logs(
    paths: Sequence[Path],
    *,
    models: Sequence[str] = (),
    settings: Sequence[str] = (),
    score: str | None = None,
    cluster: str | None = None,
) -> RunComparison:
    """Compare all pairs of models and tasks in these logs on samples with the same id, repeats by epoch.

    `score`: the one to test; default: the first numeric one. `cluster`: the field of the samples' metadata that names
    their cluster; default: the one that inspect_ai used.
    Raise RunLogError if a log cannot be read or the samples differ, ConfigError if a name is unknown.
    """
    names = short_names(paths)
    logs = {name: _read(path) for name, path in zip(names, paths, strict=True)}
    every = list(logs.values())
    for other in every[1:]:
        _check_samples(every[0], other)
    declared = _declared(every, score)
    field = cluster or next(filter(None, (log.header.cluster for log in every)), None)
    for log in every:
        _check_cluster(log, field)
    observed = {name: observe(log.records(field), declared) for name, log in logs.items()}
    players = sorted({Player(log.header.eval.model, log.header.eval.task) for log in every})
    notes = [f"Clusters: {field}." if field else "No clusters: --cluster FIELD names a field of the samples' metadata."]
    return compare_players(merged(observed, set(chosen(players, models, settings))), seed=0, notes=notes)


def _declared(logs: Sequence[_Log], score: str | None) -> SuiteReport:
    """Return the measures: the scores that all logs have. Those between 0 and 1 are shares."""
    by_log = [{name for sample in log.samples for name in sample.numbers} for log in logs]
    names = [
        name
        for name in dict.fromkeys(n for s in logs[0].samples for n in s.numbers)
        if all(name in of for of in by_log)
    ]
    if not names or score not in (None, *names):
        what = f"no numeric score {score!r}{did_you_mean(score, names)}" if score else "no numeric score"
        every = "; ".join(
            f"{log.path}: {', '.join(sorted(of)) or 'none'}" for log, of in zip(logs, by_log, strict=True)
        )
        raise ConfigError(f"{what} in all logs", hint=f"numeric scores: {every}")
    names.sort(key=lambda name: name != score)
    values = {name: [s.numbers.get(name, 0.0) for log in logs for s in log.samples] for name in names}
    measures = [
        Measure(name, "share" if all(0 <= v <= 1 or math.isnan(v) for v in values[name]) else "mean", _value_of(name))
        for name in names
    ]
    failures = Measure("infrastructure_failures", "count", count_if(lambda result: result["score"] is None))
    return SuiteReport("inspect_ai", (*measures, failures), (), (), (), compared=tuple(names))


def _value_of(name: str) -> Any:
    return lambda result: (result["score"] or {}).get(name)


def _check_samples(first: _Log, other: _Log) -> None:
    """Raise RunLogError if two logs have no sample in common, or samples with other targets."""
    targets, others = first.targets, other.targets
    common = targets.keys() & others.keys()
    if not common:
        raise RunLogError(
            f"{first.path} and {other.path} share no sample: {len(targets)} and {len(others)}, no id in both",
            hint="compare logs of the same task and data",
        )
    if changed := sorted(name for name in common if targets[name] != others[name]):
        more = f" and {len(changed) - MOST_DIFFERENCES} more" if len(changed) > MOST_DIFFERENCES else ""
        raise RunLogError(
            f"{first.path} and {other.path}: {len(changed)} samples with the same id have different targets:"
            f" {', '.join(changed[:MOST_DIFFERENCES])}{more}",
            hint="compare logs of the same task and data",
        )


def _check_cluster(log: _Log, field: str | None) -> None:
    without = [sample for sample in log.samples if field and sample.metadata.get(field) is None]
    if without:
        names = sorted({name for sample in log.samples for name in sample.metadata})
        raise ConfigError(
            f"{log.path}: {len(without)} of {len(log.samples)} samples have no {field!r} in their metadata,"
            f" the first is {without[0].id}",
            hint=f"--cluster FIELD; fields: {', '.join(names) or 'none'}",
        )


def _read(path: Path) -> _Log:
    """Read a log. Raise RunLogError with all mistakes."""
    try:
        with ZipFile(path) as archive:
            header = json.loads(read_entry(archive, "header.json"))
            version = header.get("version") if isinstance(header, dict) else None
            if version != _SCHEMA:
                raise RunLogError(
                    f"{path}: header.json: version: {version!r}; GraphWalk reads version {_SCHEMA}",
                    hint="write the log again with inspect_ai 0.3:  inspect log convert",
                )
            samples = json.loads(read_entry(archive, "summaries.json"))
    except FileNotFoundError as error:
        raise RunLogError(f"no file {path}", hint="inspect_ai writes logs to logs/") from error
    except KeyError as error:
        raise RunLogError(
            f"{path}: no {error.args[0]} in it", hint="wait for the end of the evaluation, or  inspect eval-retry"
        ) from error
    except (BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError, struct.error) as error:
        raise RunLogError(f"{path} cannot be read as a log of inspect_ai: {error}", hint="name a .eval file") from error
    return _Log(
        path=path,
        header=_validated(TypeAdapter(_Header), header, path, "header.json"),
        samples=_validated(TypeAdapter(list[_Sample]), samples, path, "summaries.json"),
    )


def _validated(kind: TypeAdapter[Any], data: Any, path: Path, file: str) -> Any:
    try:
        return kind.validate_python(data)
    except ValidationError as error:
        lines = [f"  {_place(one['loc'])}: {one['msg']}" for one in error.errors()]
        more = [f"  … and {len(lines) - MOST_DIFFERENCES} more"] if len(lines) > MOST_DIFFERENCES else []
        message = "\n".join([f"{path}: {file}:", *lines[:MOST_DIFFERENCES], *more])
        raise RunLogError(message, hint="compare logs that inspect_ai wrote") from error


def _place(loc: tuple[int | str, ...]) -> str:
    """Return where a mistake is; samples count from 1."""
    first, *names = loc or ("",)
    parts = [f"sample {first + 1}"] if isinstance(first, int) else [str(first)]
    return ": ".join([*parts, *dict.fromkeys(str(name) for name in names if name not in ("int", "str"))])


def read_entry(archive: ZipFile, name: str) -> bytes:
    """Return the content of an entry. Raise KeyError without it, BadZipFile or ValueError if it is damaged."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise KeyError(name) from None
    if info.file_size > _MOST_BYTES:
        raise ValueError(f"{name} has more than {_MOST_BYTES:,} bytes")
    if info.compress_type != _ZSTD:
        return archive.read(info)
    return _unpacked(archive, info)


def _unpacked(archive: ZipFile, info: ZipInfo) -> bytes:
    import zstandard

    file = archive.fp
    assert file is not None
    file.seek(info.header_offset)
    name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    file.seek(name + extra, 1)
    packed = file.read(info.compress_size)
    try:
        reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
        content: bytes = reader.read(info.file_size + 1)
    except zstandard.ZstdError as error:
        raise BadZipFile(f"{info.filename}: {error}") from error
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise BadZipFile(f"{info.filename} is damaged")
    return content

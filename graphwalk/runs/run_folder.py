"""The folder of one run: the experiment (`run.json`), its results (`results.jsonl`), replies already paid for.

Results of a run that is done are in `results.jsonl.gz`. Where both files are there, a process was killed between
writing one and removing the other: `results.jsonl` counts, and the other one holds the same or less."""

import fcntl
import json
import os
import secrets
import shlex
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphwalk.errors import RunLogError
from graphwalk.files import cannot_write, check_links, is_scratch, make_folder, write_whole
from graphwalk.graphs.formats.json import parse_json
from graphwalk.jsonlines import LineWriter, compressed, compressed_path, open_lines, read_lines
from graphwalk.runs.published import is_published, unpacked
from graphwalk.runs.result import RUN_VERSION
from graphwalk.types.episode import ExitStatus

_RESTORE = "nothing was changed; restore the file from a copy, or start a new run"
_MANIFEST: Mapping[str, tuple[type, ...]] = {
    "graphwalk_version": (str,),
    "run_id": (str,),
    "name": (str,),
    "created": (str,),
    "config": (dict,),
    "conditions": (str,),
    "fingerprint": (dict, type(None)),
}
_CONFIG: Mapping[str, tuple[type, ...]] = {"suite": (dict,), "models": (list,)}
_SETTLED: Mapping[str, tuple[type, ...]] = {"episodes": (int, type(None)), "graphs": (list,)}
_RESULT: Mapping[str, tuple[type, ...]] = {
    "task_id": (str,),
    "model": (str,),
    "setting": (str,),
    "repeat": (int,),
    "exit_status": (str,),
    "score": (dict, type(None)),
    "usage": (dict,),
    "seconds": (int, float),
    "task": (dict,),
    "graph": (dict,),
    "trajectory": (dict,),
}
_STATUS = frozenset(str(status) for status in ExitStatus)


class ForeignLinesWarning(UserWarning):
    """A log holds lines that are not of its run; they count for nothing."""


@dataclass(frozen=True)
class NewRun:
    """A run that is about to begin; `created` is the time in UTC."""

    folder: "RunFolder"
    run_id: str
    created: str

    @classmethod
    def make(cls, name: str, out: Path | None = None) -> "NewRun":
        """A new folder for the experiment `name`: `out`, else runs/TIME-NAME-ID. RunLogError as `RunFolder.create`."""
        now, run_id = datetime.now(UTC), secrets.token_hex(4)
        folder = RunFolder.create(out or Path("runs") / f"{now:%Y%m%d-%H%M%S}-{name}-{run_id}")
        return cls(folder, run_id, now.isoformat(timespec="seconds"))


def is_own(record: Mapping[str, Any], manifest: Mapping[str, Any]) -> bool:
    """Return True for a line that this run wrote with this configuration; others come from a copy or a slip."""
    return all(record.get(name) == manifest.get(name) for name in ("run_id", "conditions"))


def _no_run(path: Path) -> RunLogError:
    """Return the error for a path without a run; one that was killed in its first seconds leaves nothing to resume."""
    found = "has no run.json" if path.exists() else "does not exist"
    killed = not path.exists() or (path.is_dir() and all(map(_may_be_left, path.iterdir())))
    hint = "give the folder that `graphwalk run` named at its end; it is in runs/ unless --out was given"
    lost = "; a run that was killed in its first seconds lost nothing: start it again with `graphwalk run`"
    return RunLogError(f"{path} is not a run folder: it {found}", hint=hint + lost * killed)


def _may_be_left(entry: Path) -> bool:
    """Return True for what a run writes before its run.json."""
    return entry.name == "run.lock" or is_scratch(entry)


@dataclass(frozen=True)
class RunFolder:
    """Paths and files of one run."""

    path: Path
    archive: Path | None = None
    """The published run that was unpacked into `path`, which is only read."""

    @property
    def manifest_path(self) -> Path:
        return self.path / "run.json"

    @property
    def results_path(self) -> Path:
        """Where results are written; `compress_results` makes `results.jsonl.gz` of it when the run is done."""
        return self.path / "results.jsonl"

    @property
    def results_file(self) -> Path:
        """The file that the results are in now."""
        packed = compressed_path(self.results_path)
        return packed if packed.exists() and not self.results_path.exists() else self.results_path

    @property
    def replies_path(self) -> Path:
        """Replies of models, so that none is paid for twice."""
        return self.path / "replies.jsonl"

    @property
    def texts_path(self) -> Path:
        """What models read: prompts, tools, questions."""
        return self.path / "texts"

    @property
    def log_path(self) -> Path:
        """What happened when, for people."""
        return self.path / "run.log"

    @property
    def quoted(self) -> str:
        """The path as a word of a command line."""
        return shlex.quote(str(self.archive or self.path))

    @property
    def resume_command(self) -> str:
        """The command that continues the run."""
        return f"graphwalk resume {self.quoted}"

    @classmethod
    def create(cls, path: Path) -> "RunFolder":
        """A new, empty folder. RunLogError if there is something in it already."""
        folder = cls(path)
        try:
            taken = folder.manifest_path.exists()
        except OSError as error:
            raise cannot_write(path, error, RunLogError) from error
        if taken:
            raise RunLogError(f"{path} holds a run already", hint=f"{folder.resume_command}   (or another --out)")
        make_folder(path, error=RunLogError)
        if not all(map(_may_be_left, path.iterdir())):
            raise RunLogError(f"{path} is not empty", hint="choose another --out")
        return folder

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """The folder of an earlier run, or a published run. RunLogError if it is neither, or of another version."""
        folder = cls(unpacked(path), path) if is_published(path) else cls(path)
        if not folder.manifest_path.exists():
            raise _no_run(path)
        manifest = folder.read_manifest()
        version = manifest.get("schema_version")
        if version != RUN_VERSION:
            raise RunLogError(
                f"{folder.manifest_path} has schema version {version!r}; this GraphWalk reads {RUN_VERSION}",
                hint="use the version that wrote it (graphwalk_version in run.json)",
            )
        try:
            _check_manifest(manifest)
        except ValueError as error:
            raise RunLogError(f"{folder.manifest_path} is damaged: {error}", hint=_RESTORE) from error
        return folder

    def read_manifest(self) -> dict[str, Any]:
        try:
            manifest = parse_json(self.manifest_path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise RunLogError(f"{self.manifest_path} cannot be read: {error}") from error
        if not isinstance(manifest, dict):
            raise RunLogError(f"{self.manifest_path} is not a JSON object")
        return manifest

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Whole or not at all. RunLogError where it cannot be written."""
        write_whole(self.manifest_path, [json.dumps(manifest, indent=2), "\n"], error=RunLogError)

    def keep_texts(self, texts: Mapping[str, str]) -> None:
        """Keep texts by name ("prompts/graph_tools.j2"), in place of those of the same name."""
        for name, text in texts.items():
            path = self.texts_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def kept_text(self, name: str) -> str | None:
        """A text as the run began with it; None where it is not in the folder."""
        path = self.texts_path / name
        return path.read_text(encoding="utf-8") if path.is_file() else None

    def discard_unused(self) -> bool:
        """Remove the folder of a run that ended before it had a plan; True where that was so."""
        if self.results_file.exists() or self.read_manifest().get("fingerprint") is not None:
            return False
        self.remove()
        return True

    def remove(self) -> None:
        """Delete the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes out, until this one ends in any way.

        RunLogError if another is in, and for a link in the folder that leads out of it: what follows would read or
        write other files.
        """
        if self.archive is not None:
            raise RunLogError(
                f"{self.archive} is a published run, which is only read",
                hint=f"unzip {self.quoted} -d FOLDER, and take the folder",
            )
        check_links(self.path, RunLogError)
        path = self.path / "run.lock"
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise cannot_write(path, error, RunLogError) from error
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise RunLogError(
                    f"another process is working on {self.path}", hint="wait for it, or end it, then resume"
                ) from error
            yield
        finally:
            os.close(file)

    def records(self) -> Iterator[dict[str, Any]]:
        """The run's records in the order of the file; of an episode that appears twice, the last one counts.

        Lines of other runs are left out with a warning. RunLogError for one that is no result.
        """
        foreign, manifest = 0, self.read_manifest()
        for number, record in enumerate(read_lines(self.results_path), 1):
            if not is_own(record, manifest):
                foreign += 1
                continue
            try:
                _check_result(record)
            except ValueError as error:
                problem = f"{self.results_path}:{number}: not a result: {error}"
                raise RunLogError(problem, hint=_RESTORE) from error
            yield record
        if foreign:
            warnings.warn(
                f"{self.results_path}: {foreign} lines of another run or another configuration left out",
                ForeignLinesWarning,
                stacklevel=2,
            )

    def results_writer(self) -> LineWriter:
        """What adds results; compressed ones are expanded first."""
        packed = compressed_path(self.results_path)
        if self.results_file == packed:
            with open_lines(self.results_path) as lines:
                write_whole(self.results_path, lines, error=RunLogError)
        packed.unlink(missing_ok=True)
        return LineWriter(self.results_path)

    def compress_results(self) -> None:
        """Keep the results compressed: nothing will be added. Killed at any point, nothing is lost or there twice."""
        if self.results_file == self.results_path and self.results_path.exists():
            with self.results_path.open("rb") as lines:
                write_whole(compressed_path(self.results_path), compressed(lines), error=RunLogError)
            self.results_path.unlink()


def _check_manifest(manifest: Mapping[str, Any]) -> None:
    """Raise ValueError with the name of a field that is missing or of another type."""
    _check(manifest, _MANIFEST)
    _check(manifest["config"], _CONFIG, "config.")
    if not isinstance(manifest["config"]["suite"].get("name"), str):
        raise ValueError("config.suite.name is missing or of another type")
    if manifest["fingerprint"] is not None:
        _check(manifest["fingerprint"], _SETTLED, "fingerprint.")


def _check_result(record: Mapping[str, Any]) -> None:
    _check(record, _RESULT)
    if record["exit_status"] not in _STATUS:
        raise ValueError(f"exit_status {record['exit_status']!r} is not known")


def _check(fields: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]], where: str = "") -> None:
    for name, allowed in kinds.items():
        if name not in fields or not isinstance(fields[name], allowed):
            raise ValueError(f"{where}{name} is missing or of another type")


def own_episodes(manifest: Mapping[str, Any]) -> int | None:
    """Return the number of episodes of the run, of a shard its own, without human players; None before it is known."""
    planned: int | None = (manifest.get("fingerprint") or {}).get("episodes")
    return None if planned is None else manifest.get("shard_episodes", planned)


def shard_in_words(manifest: Mapping[str, Any]) -> str | None:
    """Return "shard 2 of 4"; None for a whole run."""
    shard = manifest.get("shard")
    return None if shard is None else f"shard {' of '.join(str(shard).split('/'))}"

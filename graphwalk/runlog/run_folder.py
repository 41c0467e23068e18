"""The folder of one run: what was asked for (`run.json`), what came out (`results.jsonl`), replies already paid for."""

import fcntl
import json
import os
import secrets
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphwalk.errors import RunLogError
from graphwalk.jsonlines import LineWriter, read_lines
from graphwalk.types.episode import SCHEMA_VERSION


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


@dataclass(frozen=True)
class RunFolder:
    """Paths and files of one run."""

    path: Path

    @property
    def manifest_path(self) -> Path:
        return self.path / "run.json"

    @property
    def results_path(self) -> Path:
        return self.path / "results.jsonl"

    @property
    def replies_path(self) -> Path:
        """Replies of models, so that none is paid for twice."""
        return self.path / "replies.jsonl"

    @property
    def quoted(self) -> str:
        """The path as a word of a command line."""
        return shlex.quote(str(self.path))

    @property
    def resume_command(self) -> str:
        """What to type to go on with the run."""
        return f"graphwalk resume {self.quoted}"

    @classmethod
    def create(cls, path: Path) -> "RunFolder":
        """A new, empty folder. RunLogError where there is something in it already."""
        folder = cls(path)
        if folder.manifest_path.exists():
            raise RunLogError(f"{path} holds a run already", hint=f"{folder.resume_command}   (or another --out)")
        try:
            path.mkdir(parents=True, exist_ok=True)
            occupied = any(entry.name != "run.lock" for entry in path.iterdir())
        except OSError as error:
            raise RunLogError(f"{path} cannot be used as a run folder: {error}", hint="choose another --out") from error
        if occupied:
            raise RunLogError(f"{path} is not empty", hint="choose another --out")
        return folder

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """The folder of an earlier run. RunLogError where it is none, or was written by another version."""
        folder = cls(path)
        if not folder.manifest_path.exists():
            raise RunLogError(
                f"{path} is not a run folder: it has no run.json",
                hint="give the folder that `graphwalk run` named at its end; it is in runs/ unless --out was given",
            )
        version = folder.read_manifest().get("schema_version")
        if version != SCHEMA_VERSION:
            raise RunLogError(
                f"{folder.manifest_path} has schema version {version!r}, this GraphWalk reads {SCHEMA_VERSION}",
                hint="use the GraphWalk that wrote it (see graphwalk_version in run.json)",
            )
        return folder

    def read_manifest(self) -> dict[str, Any]:
        try:
            manifest = json.loads(self.manifest_path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise RunLogError(f"{self.manifest_path} cannot be read: {error}") from error
        if not isinstance(manifest, dict):
            raise RunLogError(f"{self.manifest_path} is not a JSON object")
        return manifest

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Whole or not at all."""
        scratch = self.path / "run.json.new"
        with scratch.open("w", encoding="utf-8") as file:
            json.dump(manifest, file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(self.manifest_path)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes out; the lock goes with the process, however it ends."""
        file = os.open(self.path / "run.lock", os.O_RDWR | os.O_CREAT, 0o644)
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
        """All result records in the order of the file; one episode run twice appears twice, the last one counts."""
        yield from read_lines(self.results_path)

    def results_writer(self) -> LineWriter:
        return LineWriter(self.results_path)

"""The folder of one run: `run.json`, `results.jsonl`, the reply cache, texts and log."""

import hashlib
import json
import logging
import os
import secrets
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO
from zipfile import is_zipfile

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graphwalk.config.strict import in_words
from graphwalk.errors import GraphwalkError, RunLogError
from graphwalk.files.json_lines import RESTORE, checked_lines, read_lines
from graphwalk.files.writing import SCRATCH, cannot_write, make_folder, write_whole
from graphwalk.models.trajectory import ExitStatus
from graphwalk.runs.published import unpacked
from graphwalk.runs.record import RUN_VERSION, EpisodeKey, key_of
from graphwalk.sanitise import one_line
from graphwalk.suites.suite import Suite, suite_named

_LOGGER = logging.getLogger("graphwalk")
_LINE_CHARACTERS = 10_000
_FORMATTER = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")


class _LogFile(logging.FileHandler):
    """A log without secrets and control characters; records are left out while it cannot be written (a full disk)."""

    redact: Callable[[str], str]

    def format(self, record: logging.LogRecord) -> str:
        """Format a record on one line; only tracebacks have several."""
        record = copy(record)
        record.msg, record.args = one_line(self.redact(record.getMessage()), _LINE_CHARACTERS), ()
        return self.redact(_FORMATTER.format(record))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 -- the name is that of the library
        pass


@contextmanager
def run_log(path: Path, redact: Callable[[str], str]) -> Iterator[None]:
    """Log the block, and an error that ends it, without secrets (`redact`); go without a log that cannot be written."""
    try:
        handler = _LogFile(path, encoding="utf-8", errors="backslashreplace")
    except OSError:
        yield
        return
    handler.redact = redact
    level, propagated = _LOGGER.level, _LOGGER.propagate
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(logging.INFO)
    _LOGGER.propagate = False
    try:
        yield
    except BaseException as error:
        internal = isinstance(error, Exception) and not isinstance(error, GraphwalkError)
        _LOGGER.error("ended by %s: %s", type(error).__name__, error, exc_info=internal)
        raise
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(level)
        _LOGGER.propagate = propagated
        with suppress(OSError):
            handler.close()


ASK = "ask"
"""Name in the folder of a conversation, in place of an experiment and a suite."""


class _Checked(BaseModel):
    """The fields of run.json and of results that are checked when they are read; others are ignored."""

    model_config = ConfigDict(strict=True)


class _Suite(_Checked):
    name: str


class _Config(_Checked):
    suite: _Suite
    models: list[Any]
    names: dict[str, str]


class _Fingerprint(_Checked):
    episodes: int
    graphs: list[Any]


class _Manifest(_Checked):
    graphwalk_version: str
    run_id: str
    name: str
    created: str
    config: _Config
    fingerprint: _Fingerprint


class _Record(_Checked):
    task_id: str
    model: str
    setting: str
    repeat: int
    exit_status: Annotated[ExitStatus, Field(strict=False)]
    score: dict[str, Any] | None
    usage: dict[str, Any]
    seconds: float
    task: dict[str, Any]
    graph: dict[str, Any]
    trajectory: dict[str, Any]


_LOCK, _LOG = "run.lock", "run.log"


class RunFolder:
    """The folder of one run. `archive`: the published run that was unpacked into `path`, which is only read."""

    def __init__(self, path: Path, archive: Path | None = None) -> None:
        self.path, self.archive = path, archive
        self.manifest_path = path / "run.json"
        self.results_path = path / "results.jsonl"
        self.replies_path = path / "replies.jsonl"
        """The reply cache."""
        self.texts_path = path / "texts"
        """The folder of texts for models: prompts, tools, questions."""
        self.log_path = path / _LOG
        self._lock_path = path / _LOCK
        self._lock_file: BinaryIO | None = None
        """The open file of the lock, while this object holds it."""
        self.quoted = shlex.quote(str(archive or path))
        """The path, quoted for a command line."""
        self.resume_command = f"graphwalk resume {self.quoted}"

    @property
    def suite_name(self) -> str:
        return str(self.read_manifest()["config"]["suite"]["name"])

    @property
    def is_conversation(self) -> bool:
        """True for the folder of `graphwalk ask`, whose answers nothing scores."""
        return self.suite_name == ASK

    @property
    def suite(self) -> Suite[Any, Any]:
        """The suite of the run. Raise ConfigError if it is not installed."""
        return suite_named(self.suite_name)

    @classmethod
    def open(cls, path: Path, *, conversations: bool = False) -> "RunFolder":
        """Open the folder of a run or a published run, or if `conversations` that of `graphwalk ask`.

        Raise RunLogError for anything else, or another version.
        """
        if path.is_file() and is_zipfile(path):
            folder = cls(unpacked(path), path)
        else:
            folder = cls(path)
        if not folder.manifest_path.exists():
            missing = "has no run.json" if path.exists() else "does not exist"
            raise RunLogError(
                f"{path} is not a run folder: it {missing}",
                hint="list run folders with  graphwalk list runs   (of another folder:  graphwalk list runs FOLDER)",
            )
        manifest = folder.read_manifest()
        version = manifest.get("schema_version")
        if version != RUN_VERSION:
            raise RunLogError(
                f"{folder.manifest_path} has schema version {version!r}; this GraphWalk reads {RUN_VERSION}",
                hint="use the version that wrote it (graphwalk_version in run.json)",
            )
        _check(manifest, _Manifest, str(folder.manifest_path))
        if folder.is_conversation and not conversations:
            what = f"{path} has answers of `graphwalk ask`, which have no target"
            raise RunLogError(what, hint=f"graphwalk show {folder.quoted}, graphwalk view {folder.quoted}")
        return folder

    def read_manifest(self) -> dict[str, Any]:
        try:
            manifest = json.loads(self.manifest_path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise RunLogError(f"{self.manifest_path} cannot be read: {error}", hint=RESTORE) from error
        if not isinstance(manifest, dict):
            raise RunLogError(f"{self.manifest_path} is not a JSON object")
        return manifest

    def planned_episodes(self) -> int:
        """Return the number of planned episodes."""
        return int(self.read_manifest()["fingerprint"]["episodes"])

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write run.json atomically. Raise RunLogError if it cannot be written, and as `check_lock`."""
        if self._lock_file is not None:
            self.check_lock()
        write_whole(self.manifest_path, [json.dumps(manifest, indent=2), "\n"], error=RunLogError)

    def write_texts(self, texts: Mapping[str, str]) -> None:
        """Write texts by name ("prompts/graph_tools.j2") into the folder, except those that it holds already."""
        for name, text in texts.items():
            path = self.texts_path / name
            content = text.encode()
            if path.is_file() and path.read_bytes() == content:
                continue
            make_folder(path.parent, error=RunLogError)
            try:
                path.write_bytes(content)
            except OSError as error:
                raise cannot_write(path, error, RunLogError) from error

    def read_texts(self) -> dict[str, str]:
        """Return all texts by name."""
        texts = {}
        for path in sorted(self.texts_path.rglob("*")):
            if path.is_file():
                texts[path.relative_to(self.texts_path).as_posix()] = read_logged_text(path)
        return texts

    def read_text(self, name: str) -> str | None:
        """Return a text from the start of the run, None if it is not in the folder."""
        path = self.texts_path / name
        return read_logged_text(path) if path.is_file() else None

    def remove_unbegun(self) -> None:
        """Remove the files of a locked run without run.json, and its folder if it is empty then."""
        try:
            self.check_lock()
        except RunLogError:
            return  # at this path is the folder of another process
        shutil.rmtree(self.texts_path, ignore_errors=True)
        for path in (self.results_path, self.replies_path, self.log_path, self._lock_path):
            with suppress(OSError):  # Windows removes no open file
                path.unlink()
        with suppress(OSError):  # the user has put a file into it
            self.path.rmdir()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder until block or process end. Raise RunLogError if it is locked or published."""
        if self.archive is not None:
            raise RunLogError(
                f"{self.archive} is a published run, which is read-only",
                hint=f"unzip {self.quoted} -d FOLDER, and use the folder",
            )
        from filelock import FileLock, Timeout  # slow to import

        lock = FileLock(self._lock_path, thread_local=False)
        with ExitStack() as held:
            try:
                lock_file = held.enter_context(self._lock_path.open("ab"))
                lock.acquire(0)
            except Timeout:
                hint = "wait for it or stop it, then resume"
                raise RunLogError(f"another process is working on {self.path}", hint=hint) from None
            except OSError as error:
                raise cannot_write(self._lock_path, error, RunLogError) from error
            held.callback(lock.release)
            self._lock_file = lock_file
            try:
                self.check_lock()
                yield
            finally:
                self._lock_file = None

    def check_lock(self) -> None:
        """Raise RunLogError if the folder was removed, or replaced by another one, since this object locked it.

        The lock of a removed file keeps no other process out of the folder that is now at this path.
        """
        assert self._lock_file is not None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(self._lock_file.fileno()), self._lock_path.stat()):
                return
        raise RunLogError(
            f"{self.path} was removed or replaced while this process worked on it",
            hint="nothing was written to the new one; run the command again",
        )

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the records in the order of the file: failed tries of an episode, then at most one result of it.

        Raise RunLogError for a line that is no result, or that follows the result of its episode.
        """
        return (record for _, record in self.checked_records())

    def checked_records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the checksum and the record of each line, as `records`."""
        finished: dict[EpisodeKey, int] = {}
        for number, (checksum, record) in enumerate(checked_lines(self.results_path), 1):
            _check(record, _Record, f"{self.results_path}:{number}")
            key = key_of(record)
            if key in finished:
                raise RunLogError(
                    f"{self.results_path}:{number}: {key.in_words} has a result in line {finished[key]} already",
                    hint="nothing was changed; remove one of the two lines, or restore the file from a copy",
                )
            if not ExitStatus(record["exit_status"]).infrastructure:
                finished[key] = number
            yield checksum, record

    def results_digest(self) -> str:
        """Return the SHA-256 of key, exit status, answer and score of each episode."""
        last = {key_of(record): record for record in self.records()}  # of each episode, after tries that failed
        lines = []
        for key in sorted(last):
            record = last[key]
            values = [*key.as_dict().values(), record["exit_status"], record.get("answer"), record["score"]]
            lines.append(json.dumps(values, sort_keys=True))
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def replies(self) -> Iterator[dict[str, Any]]:
        """Yield the lines of the reply cache. Raise RunLogError for a damaged one."""
        return read_lines(self.replies_path)


@dataclass(frozen=True)
class NewRun:
    """The folder, id and creation time (UTC) of a new run. The folder is made when the run begins."""

    folder: RunFolder
    run_id: str
    created: str

    @classmethod
    def make(cls, name: str, out: Path | None = None) -> "NewRun":
        """Choose the folder of a run: `out`, else runs/TIME-NAME-ID. Raise RunLogError if it is not empty."""
        now = datetime.now(UTC)
        run_id = secrets.token_hex(4)
        path = out or Path("runs") / f"{now:%Y%m%d-%H%M%S}-{name}-{run_id}"
        new = cls(RunFolder(path), run_id, now.isoformat(timespec="seconds"))
        new.check_empty()
        return new

    @contextmanager
    def begin(self) -> Iterator[None]:
        """Make the folder, and lock it until the block ends; remove it then if this made it and it has no run.json.

        Raise RunLogError if it cannot be made, is not empty, or is locked by another process.
        """
        is_ours = make_folder(self.folder.path, error=RunLogError)
        with self.folder.lock():
            self.check_empty()  # again: a process that held the lock before may have written a run
            try:
                yield
            finally:
                if is_ours and not self.folder.manifest_path.exists():
                    self.folder.remove_unbegun()

    def check_empty(self) -> None:
        """Raise RunLogError if the folder holds more than a run leaves that is killed while it is planned."""
        path = self.folder.path
        try:
            if self.folder.manifest_path.exists():
                hint = f"{self.folder.resume_command}   (or another --out)"
                raise RunLogError(f"{path} already contains a run", hint=hint)
            names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
        except OSError as error:
            raise cannot_write(path, error, RunLogError) from error
        of_killed_start = {name for name in names if name.startswith("run.json") and name.endswith(SCRATCH)}
        if names - of_killed_start - {_LOCK, _LOG}:
            raise RunLogError(f"{path} is not empty", hint="choose another --out")


def _check(data: Mapping[str, Any], expected: type[_Checked], place: str) -> None:
    """Raise RunLogError if a field is missing or has a wrong type."""
    try:
        expected.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise RunLogError(f"{place}: {field}: {in_words(first)}", hint=RESTORE) from error


def read_logged_text(path: Path) -> str:
    """Return a text of a run folder. Raise RunLogError if it was cut off, as after a power cut."""
    try:
        return path.read_text(encoding="utf-8")
    except ValueError as error:
        raise RunLogError(f"{path} is damaged: {error}", hint="resume the run, which writes its texts again") from error

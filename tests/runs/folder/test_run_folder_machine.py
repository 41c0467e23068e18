"""Run folders under all that can happen to them, in any order: commands, kills, torn lines, full disks, failing syncs,
power cuts, repeated lines and second processes. No result is lost, doubled or changed, no reply is paid twice."""

import asyncio
import gzip
import json
import shutil
import tempfile
import threading
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import Phase
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from graphwalk.cli.app import _as_graphwalk_error
from graphwalk.errors import ModelError
from graphwalk.experiments.loading import load_experiment
from graphwalk.files import json_lines, writing
from graphwalk.models.wrappers import Guarded
from graphwalk.runs.episodes.resolve import resolve
from graphwalk.runs.finished.publishing import publish
from graphwalk.runs.finished.rescore import rescore_run
from graphwalk.runs.finished.verify import verify_run
from graphwalk.runs.folder.listing import list_runs
from graphwalk.runs.folder.result import EpisodeKey, key_of
from graphwalk.runs.folder.run_folder import NewRun, RunFolder
from graphwalk.runs.playing.execute import resume_run, start_run
from graphwalk.runs.playing.run_progress import Progress
from graphwalk.runs.playing.shards import Shard, merge_runs
from graphwalk.sanitise import Secrets
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec, Usage
from graphwalk.types.episode import ExitStatus
from graphwalk.variables import Variables
from tests.runs.disk import Disk, Fault, Killed
from tests.runs.runs import without_time

SETTINGS = Variables()
SHARDS = {"run": "1/1", "first": "1/2", "second": "2/2"}
FOLDERS = [*SHARDS, "merged"]
EPISODES = MOST = 3
"""Traces, and episodes at the same time."""
DONE, INTERNAL, REFUSED, FAILED, KILLED = 0, 1, 3, 4, "killed"
WORKING = "another process is working on"
EXPERIMENT = {
    "name": "tiny",
    "suite": {
        "name": "magma",
        "traces": [{"algorithm": ["bfs"], "nodes": [5], "count": EPISODES}],
        "free_running": True,
    },
    "models": ["mine/m"],
    "settings": ["is"],
}


@dataclass
class PaidModel:
    """A model whose every reply has the digest of its request, and that notes what it is asked."""

    asked: Callable[[str], None] = lambda digest: None
    fails: bool = False
    name: str = "mine/m"

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        digest = sha256(repr([(message.role, message.content) for message in messages]).encode()).hexdigest()
        if self.fails and int(digest, 16) % 3 == 0:
            raise ModelError("the provider is down")
        self.asked(digest)
        return Reply(Message("assistant", f"[{int(digest, 16) % 5}]", reasoning=digest), usage=Usage(10, 5))


def complete_lines(content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the records of a log, without what a kill or a power cut left of a line."""
    for line in content.split(b"\n")[:-1]:
        with suppress(ValueError):
            yield json.loads(line)


def results_in(content: bytes) -> Iterator[tuple[EpisodeKey, str]]:
    """Yield the episodes with a result, and the result without its run and times."""
    for record in complete_lines(content):
        if not ExitStatus(record["exit_status"]).infrastructure:
            yield key_of(record), without_time(record)


def replies_in(content: bytes) -> set[str]:
    """Return the digests of the requests with a reply."""
    return {record["reply"]["message"]["reasoning"] for record in complete_lines(content)}


def read(path: Path) -> bytes:
    """Return the content of a log, compressed or not."""
    if path.exists():
        return path.read_bytes()
    packed = path.with_name(f"{path.name}.gz")
    return gzip.decompress(packed.read_bytes()) if packed.exists() else b""


@cache
def undisturbed() -> dict[EpisodeKey, str]:
    """Return the results of a run that nothing happens to."""
    with tempfile.TemporaryDirectory() as folder:
        model, path = PaidModel(), Path(folder) / "run"
        experiment = resolve(
            load_experiment({**EXPERIMENT, "limits": {"max_concurrency": 1}}), SETTINGS, objects=opened(model)
        )
        asyncio.run(start_run(experiment, NewRun.make("tiny", path), Progress()))
        return dict(results_in(read(path / "results.jsonl")))


def opened(model: PaidModel) -> dict[str, Any]:
    return {model.name: Guarded(model, SETTINGS, model.name, lent=True)}


@dataclass
class Logged:
    """Results and replies in the files of a run, which it must not lose, and those of them that were synced."""

    results: dict[EpisodeKey, str] = field(default_factory=dict)
    replies: set[str] = field(default_factory=set)
    synced_results: set[EpisodeKey] = field(default_factory=set)
    synced_replies: set[str] = field(default_factory=set)
    repeated: bool = False
    texts: bool = False
    """The texts are complete: a resume writes them, and a power cut soon after may lose them."""


def faults(*targets: str, most: int = 4) -> "st.SearchStrategy[Fault | None]":
    """A fault at one of the first operations on one of these files, or none."""
    actions = st.sampled_from(["kill", "torn", "cut", "full", "sync error", "other"])
    fault = st.builds(Fault, actions, st.sampled_from(targets), st.integers(1, most))
    return st.one_of(fault, fault, fault, st.none())


LOGS = ("results.jsonl", "replies.jsonl", ".part", "run.json")
seeds = st.integers(0, 2**32)
names = st.sampled_from(["run", "run", "first", "second", "merged"])


def others(*commands: str) -> "st.SearchStrategy[str]":
    """The command of a second process."""
    return st.sampled_from(commands)


class RunFolderMachine(RuleBasedStateMachine):
    """Commands on a run, its shards and their merged run, each with a fault or none."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.home = self.root / "runs"
        self.home.mkdir()
        self.disk = Disk(self.home, self.second_process, self.synced)
        self.logged = {name: Logged() for name in FOLDERS}
        self.broken: list[str] = self.disk.broken
        self.second = ("list", "run")
        self.second_is_running = False
        self.error: Exception | None = None

    @initialize(
        seconds=st.sampled_from([0.0, 1e9]),
        first=st.sampled_from(["run", "shards"]),
        fault=st.one_of(faults(*LOGS, most=6), faults("", "texts", most=100)),
        seed=seeds,
    )
    def start(self, seconds: float, first: str, fault: Fault | None, seed: int) -> None:
        """Sync each line at once, or at the end of a process. Begin with a run or with its shards."""
        self.synced_at_once = seconds == 0
        self.patches = [patch.object(json_lines, "_SYNC_SECONDS", seconds), patch.object(writing, "_LOCK_SECONDS", 0)]
        for one in self.patches:
            one.start()
        for name in ("run",) if first == "run" else ("first", "second"):
            self.play(name, fault, False, "list", 1, seed)

    # Commands.

    @rule(
        name=names,
        fault=st.one_of(faults(*LOGS, most=6), faults("", "texts", most=100)),
        fails=st.sampled_from([False, False, True]),
        second=others("list", "play", "rescore", "publish", "verify"),
        concurrency=st.sampled_from([1, MOST]),
        seed=seeds,
    )
    def play(self, name: str, fault: Fault | None, fails: bool, second: str, concurrency: int, seed: int) -> None:
        """Start or resume a run."""
        name = "run" if name == "merged" and not self.exists(name) else name
        self.second = second, name
        end = self.command(lambda: self.played(name, fails, concurrency), fault, seed, writes=name)
        if fault is None:
            assert end in ((DONE, FAILED) if fails else (DONE,)), (end, self.error)
            self.logged[name].texts = True

    @precondition(lambda self: self.existing())
    @rule(name=names, fault=faults(*LOGS, ""), second=others("list", "play", "publish"), seed=seeds)
    def rescore(self, name: str, fault: Fault | None, second: str, seed: int) -> None:
        name = self.existing(name)
        self.second = second, name
        end = self.command(lambda: rescore_run(RunFolder.open(self.home / name)), fault, seed, writes=name)
        if fault is None:
            assert end == (DONE if self.has_lines(name) else REFUSED), (end, self.error)

    @precondition(lambda self: self.existing())
    @rule(name=names, fault=faults(".part", ".zip", "run.lock", most=9), second=others("list", "play"), seed=seeds)
    def publish(self, name: str, fault: Fault | None, second: str, seed: int) -> None:
        name = self.existing(name)
        self.second = second, name
        end = self.command(lambda: self.published(name), fault, seed)
        if fault is None:
            assert end == DONE or not self.logged[name].texts, (end, self.error)
        if end == DONE:
            published = RunFolder.open(self.home / f"{name}.zip").path / "results.jsonl"
            assert dict(results_in(read(published))) == self.logged[name].results

    @precondition(lambda self: self.exists("first") and self.exists("second"))
    @rule(fault=faults(*LOGS, "texts", "", most=6), second=others("list", "play"), seed=seeds)
    def merge(self, fault: Fault | None, second: str, seed: int) -> None:
        self.second = second, "first"
        if not self.exists("merged") and (self.home / "merged").exists():
            self.disk.remove(self.home / "merged")  # the next step that the error names
        whole = all(self.finished(name) for name in ("first", "second")) and not self.exists("merged")
        end = self.command(self.merged, fault, seed, writes="merged")
        if fault is None:
            assert end == DONE or (end == REFUSED and not whole), (end, self.error)
        if end == DONE:
            shards = self.logged["first"], self.logged["second"]
            self.logged["merged"].texts = all(one.texts for one in shards)
            assert self.logged["merged"].results == shards[0].results | shards[1].results
            assert self.logged["merged"].replies == shards[0].replies | shards[1].replies

    @precondition(lambda self: self.existing())
    @rule(name=names)
    def verify(self, name: str) -> None:
        """Verify a run, and list all of them."""
        name = self.existing(name)
        end = self.command(lambda: self.verified(name))
        assert end == DONE or not self.logged[name].texts, (end, self.error)
        assert self.command(lambda: [*list_runs(self.home)]) == DONE, self.error

    # What happens between commands.

    @precondition(lambda self: self.existing())
    @rule(seed=seeds)
    def cut_power(self, seed: int) -> None:
        self.after_cut(seed)

    @precondition(lambda self: self.existing())
    @rule(name=names, number=st.integers(0, 9))
    def repeat_line(self, name: str, number: int) -> None:
        name = self.existing(name)
        path = self.home / name / "results.jsonl"
        packed = path.with_name("results.jsonl.gz")
        lines = read(path).splitlines(keepends=True)
        if lines and lines[-1].endswith(b"\n"):
            lines.append(lines[number % len(lines)])
            if path.exists():
                self.disk.edit(path, b"".join(lines))
            else:
                self.disk.edit(packed, gzip.compress(b"".join(lines)))
            self.logged[name].repeated = True

    # The invariants.

    @invariant()
    def nothing_is_lost_doubled_or_changed(self) -> None:
        assert not self.broken, self.broken

    def teardown(self) -> None:
        """Resume every run to its end, which has the results of an undisturbed one."""
        try:
            for name in filter(self.exists, FOLDERS):
                assert self.command(partial(self.played, name, False, 1), writes=name) == DONE, self.error
                assert self.finished(name)
            assert not self.broken, self.broken
        finally:
            for one in self.patches:
                one.stop()
            shutil.rmtree(self.root)

    # Helpers.

    def existing(self, name: str = "run") -> str:
        """Return a run that exists, this one if possible; "" without runs."""
        return next(filter(self.exists, [name, *FOLDERS]), "")

    def exists(self, name: str) -> bool:
        return (self.home / name / "run.json").exists()

    def has_lines(self, name: str) -> bool:
        return self.exists(name) and bool([*complete_lines(read(self.home / name / "results.jsonl"))])

    def finished(self, name: str) -> bool:
        shard = Shard.parse(SHARDS.get(name, "1/1"))
        expected = [*undisturbed().items()][shard.number - 1 :: shard.of]
        return self.logged[name].results == dict(expected)

    def command(
        self, work: Callable[[], object], fault: Fault | None = None, seed: int = 0, *, writes: str = ""
    ) -> object:
        """Run a command as a process; return its exit code. A command that succeeds synced the run that it `writes`."""
        end: object = KILLED
        self.second_is_running = False
        with self.disk.process(fault), suppress(Killed):
            end = self.ended(work)
        self.look()
        if end == DONE and writes:
            self.logged[writes].synced_results |= self.logged[writes].results.keys()
        if self.disk.fired and fault is not None and fault.action == "cut":
            self.after_cut(seed)
        return end

    def ended(self, work: Callable[[], object]) -> int:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return FAILED if work() is FAILED else DONE
        except Exception as error:
            reported = self.error = _as_graphwalk_error(error)
            if reported.exit_code == INTERNAL:
                self.broken.append("".join(traceback.format_exception(error)))
            if WORKING in str(reported) and not self.second_is_running:
                self.broken.append(f"refused without another process: {reported}")
            return reported.exit_code

    def second_process(self) -> None:
        """Run the second process to its end, while the first one waits."""
        command, name = self.second
        works: dict[str, Callable[[], object]] = {
            "list": lambda: [*list_runs(self.home)],
            "play": lambda: self.played(name, False, 1),
            "rescore": lambda: rescore_run(RunFolder.open(self.home / name)),
            "publish": lambda: self.published(name),
            "verify": lambda: self.verified(name),
        }
        self.second_is_running = True
        thread = threading.Thread(target=lambda: self.ended(works[command]))
        thread.start()
        thread.join()

    def played(self, name: str, fails: bool, concurrency: int) -> object:
        folder = self.home / name

        def asked(digest: str) -> None:
            if self.disk.dead:
                raise Killed
            if digest in replies_in(read(folder / "replies.jsonl")) | self.logged[name].replies:
                self.broken.append(f"a reply of {name} was asked for again")

        models = opened(PaidModel(asked, fails))
        if name == "merged" or self.exists(name):
            limits = {"max_concurrency": concurrency}
            summary = asyncio.run(resume_run(RunFolder.open(folder), SETTINGS, Progress(), limits, models))
        else:
            config = load_experiment(EXPERIMENT, flags={"limits.max_concurrency": concurrency})
            new = NewRun.make("tiny", folder)
            shard = Shard.parse(SHARDS[name])
            summary = asyncio.run(start_run(resolve(config, SETTINGS, objects=models), new, Progress(), shard=shard))
        return FAILED if summary.failed else DONE

    def published(self, name: str) -> None:
        out = self.home / f"{name}.zip"
        publish(RunFolder.open(self.home / name), out, Secrets({}))

    def merged(self) -> None:
        folders = [RunFolder.open(self.home / name) for name in ("first", "second")]
        merge_runs(folders, NewRun.make("tiny", self.home / "merged"))

    def verified(self, name: str) -> None:
        verification = asyncio.run(verify_run(RunFolder.open(self.home / name), SETTINGS))
        if verification.error is not None and not self.logged[name].repeated:
            raise verification.error

    def synced(self, path: Path, content: bytes) -> None:
        """Note what is safe from a power cut from now on."""
        one = self.logged.get(path.parent.name, Logged())
        if path.name == "results.jsonl":
            one.synced_results |= {key for key, _ in results_in(content)}
        if path.name == "replies.jsonl":
            one.synced_replies |= replies_in(content)

    def look(self, lost: bool = False) -> None:
        """Compare the files with what was in them before; after a power cut (`lost`) with what was synced."""
        for name, one in self.logged.items():
            if name == "merged" and not self.exists(name):
                self.logged[name] = Logged()
                continue
            folder = self.home / name
            lines = [*results_in(read(folder / "results.jsonl"))]
            results, replies = dict(lines), replies_in(read(folder / "replies.jsonl"))
            times = Counter(key for key, _ in lines)
            expected = {key: one.results[key] for key in one.results if not lost or key in one.synced_results}
            for key, result in lines:
                if result != undisturbed()[key]:
                    self.broken.append(f"{name}: {key} has changed")
            if missing := expected.keys() - results.keys():
                self.broken.append(f"{name}: lost results: {missing}")
            if missing_replies := (one.synced_replies if lost else one.replies) - replies:
                self.broken.append(f"{name}: {len(missing_replies)} lost replies")
            if lost and self.synced_at_once and max(len(one.replies - replies), len(one.results) - len(results)) > MOST:
                self.broken.append(f"{name}: {len(one.replies - replies)} replies were lost that had time to be synced")
            if not one.repeated and max(times.values(), default=1) > 1:
                self.broken.append(f"{name}: doubled results: {times}")
            one.results, one.replies = results, replies
            one.synced_results &= results.keys()

    def after_cut(self, seed: int) -> None:
        self.disk.cut_power(Random(seed))
        for one in self.logged.values():
            one.texts = False
        self.look(lost=True)


def try_sequences(number: int, steps: int, **settings: Any) -> None:
    # The phase that explains a failure would trace every line of every sequence.
    phases = (Phase.reuse, Phase.generate, Phase.shrink)
    chosen = hypothesis_settings(max_examples=number, stateful_step_count=steps, phases=phases, **settings)
    run_state_machine_as_test(RunFolderMachine, settings=chosen)


@pytest.mark.timeout(1200)
def test_200_sequences_lose_double_and_change_nothing() -> None:
    try_sequences(200, 3)


@pytest.mark.slow
def test_10000_sequences_lose_double_and_change_nothing() -> None:
    try_sequences(10_000, 5, derandomize=False)

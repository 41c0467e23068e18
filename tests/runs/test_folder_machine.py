"""Run folders under commands, kills, torn lines, full disks and failing syncs, in any order.

No result is lost, doubled or changed, no reply is paid twice.
"""

import asyncio
import json
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
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

from graphwalk.analysis.rescore import rescore_run
from graphwalk.cli.app import _as_graphwalk_error
from graphwalk.errors import GraphwalkError, ModelError
from graphwalk.files import json_lines
from graphwalk.models.chat import CallOptions, Message, Reply, ToolSpec, Usage
from graphwalk.models.registry import Guarded
from graphwalk.models.trajectory import ExitStatus
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import NewRun, RunFolder
from graphwalk.runs.play import resume_run, start_run
from graphwalk.runs.progress import Progress
from graphwalk.runs.record import EpisodeKey, key_of
from graphwalk.runs.resolve import resolve
from graphwalk.variables import Variables
from tests.runs.disk import Disk, Fault, Killed
from tests.runs.runs import without_time

SETTINGS = Variables()
FOLDERS = ["run", "second"]
EPISODES = MOST = 3
"""Traces, and episodes at the same time."""
DONE, INTERNAL, REFUSED, FAILED, KILLED = 0, 1, 3, 4, "killed"
EXPERIMENT = {
    "name": "tiny",
    "suite": {"name": "magma", "traces": [{"algorithm": ["bfs"], "nodes": [5], "count": EPISODES}]},
    "models": ["mine/m"],
    "settings": ["io"],
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
    """Yield the records of a log, without what a kill left of a line."""
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
    """Return the content of a log."""
    return path.read_bytes() if path.exists() else b""


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
    """Results and replies in the files of a run, which it must not lose."""

    results: dict[EpisodeKey, str] = field(default_factory=dict)
    replies: set[str] = field(default_factory=set)


def faults(*targets: str, most: int = 4) -> "st.SearchStrategy[Fault | None]":
    """A fault at one of the first operations on one of these files, or none."""
    actions = st.sampled_from(["kill", "torn", "full", "sync error"])
    fault = st.builds(Fault, actions, st.sampled_from(targets), st.integers(1, most))
    return st.one_of(fault, fault, fault, st.none())


LOGS = ("results.jsonl", "replies.jsonl", ".part", "run.json")
names = st.sampled_from(["run", "run", "second"])


class RunFolderMachine(RuleBasedStateMachine):
    """Commands on two runs, each with a fault or none."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.home = self.root / "runs"
        self.home.mkdir()
        self.disk = Disk(self.home)
        self.logged = {name: Logged() for name in FOLDERS}
        self.broken: list[str] = self.disk.broken
        self.error: GraphwalkError | None = None

    @initialize(
        seconds=st.sampled_from([0.0, 1e9]),
        fault=st.one_of(faults(*LOGS, most=6), faults("", most=100)),
    )
    def start(self, seconds: float, fault: Fault | None) -> None:
        """Sync each line at once, or at the end of a process. Begin with a run."""
        self.seconds = patch.object(json_lines, "_SYNC_SECONDS", seconds)
        self.seconds.start()
        self.play("run", fault, False, 1)

    # Commands.

    @rule(
        name=names,
        fault=st.one_of(faults(*LOGS, most=6), faults("", most=100)),
        fails=st.sampled_from([False, False, True]),
        concurrency=st.sampled_from([1, MOST]),
    )
    def play(self, name: str, fault: Fault | None, fails: bool, concurrency: int) -> None:
        """Start or resume a run."""
        end = self.command(lambda: self.played(name, fails, concurrency), fault)
        if fault is None:
            assert end in ((DONE, FAILED) if fails else (DONE,)), (end, self.error)

    @precondition(lambda self: self.existing())
    @rule(name=names, fault=faults(*LOGS, ""))
    def rescore(self, name: str, fault: Fault | None) -> None:
        name = self.existing(name)
        end = self.command(lambda: rescore_run(RunFolder.open(self.home / name)), fault)
        if fault is None:
            assert end == (DONE if self.has_lines(name) else REFUSED), (end, self.error)

    # The invariants.

    @invariant()
    def nothing_is_lost_doubled_or_changed(self) -> None:
        assert not self.broken, self.broken

    def teardown(self) -> None:
        """Resume every run to its end, which has the results of an undisturbed one."""
        try:
            for name in filter(self.exists, FOLDERS):
                assert self.command(partial(self.played, name, False, 1)) == DONE, self.error
                assert self.finished(name)
            assert not self.broken, self.broken
        finally:
            self.seconds.stop()
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
        return self.logged[name].results == undisturbed()

    def command(self, work: Callable[[], object], fault: Fault | None = None) -> object:
        """Run a command as a process; return its exit code."""
        end: object = KILLED
        with self.disk.process(fault), suppress(Killed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                end = FAILED if work() is FAILED else DONE
            except Exception as error:
                self.error = _as_graphwalk_error(error)
                end = self.error.exit_code
                if end == INTERNAL:
                    self.broken.append("".join(traceback.format_exception(error)))
        self.look()
        return end

    def played(self, name: str, fails: bool, concurrency: int) -> object:
        folder = self.home / name

        def asked(digest: str) -> None:
            if self.disk.dead:
                raise Killed
            if digest in replies_in(read(folder / "replies.jsonl")) | self.logged[name].replies:
                self.broken.append(f"a reply of {name} was asked for again")

        models = opened(PaidModel(asked, fails))
        if self.exists(name):
            limits = {"max_concurrency": concurrency}
            summary = asyncio.run(resume_run(RunFolder.open(folder), SETTINGS, Progress(), limits, models))
        else:
            config = load_experiment(EXPERIMENT, flags={"limits.max_concurrency": concurrency})
            new = NewRun.make("tiny", folder)
            summary = asyncio.run(start_run(resolve(config, SETTINGS, objects=models), new, Progress()))
        return FAILED if summary.failed else DONE

    def look(self) -> None:
        """Compare the files with what was in them before."""
        for name, one in self.logged.items():
            folder = self.home / name
            lines = [*results_in(read(folder / "results.jsonl"))]
            results, replies = dict(lines), replies_in(read(folder / "replies.jsonl"))
            for key, result in lines:
                if result != undisturbed()[key]:
                    self.broken.append(f"{name}: {key} has changed")
            if not one.results.keys() <= results.keys() or not one.replies <= replies:
                self.broken.append(f"{name}: lost results or replies")
            if len(lines) > len(results):
                self.broken.append(f"{name}: doubled results")
            one.results, one.replies = results, replies


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("sequences", "steps"),
    [
        (8, 3),
        pytest.param(40, 4, marks=pytest.mark.extended),
        pytest.param(10_000, 5, marks=pytest.mark.slow),
    ],
)
def test_no_sequence_loses_doubles_or_changes_anything(sequences: int, steps: int) -> None:
    # The phase that explains a failure would trace every line of every sequence.
    phases = (Phase.reuse, Phase.generate, Phase.shrink)
    settings = hypothesis_settings(max_examples=sequences, stateful_step_count=steps, phases=phases)
    run_state_machine_as_test(RunFolderMachine, settings=settings)

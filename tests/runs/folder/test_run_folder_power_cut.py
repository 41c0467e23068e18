"""The power is cut after each operation on the files of a run; what was not synced is lost, cut or zeroed."""

from functools import partial

import pytest

from graphwalk.runs.finished.rescore import rescore_run
from graphwalk.runs.folder.run_folder import RunFolder
from tests.runs.disk import Fault
from tests.runs.folder.test_run_folder_machine import Logged, RunFolderMachine


def cut(command: str, number: int, seed: int) -> bool:
    """Cut the power at an operation of a command, and resume. Return False if the command has fewer operations."""
    runs = RunFolderMachine()
    runs.start(0.0 if seed % 2 else 1e9, "shards" if command == "merge" else "run", None, seed)
    work = {
        "run": partial(runs.played, "run", False, 1),
        "resume": partial(runs.played, "run", False, 1),
        "rescore": lambda: rescore_run(RunFolder.open(runs.home / "run")),
        "merge": runs.merged,
    }[command]
    if command in ("run", "resume"):
        runs.disk.remove(runs.home / "run")
        runs.logged["run"] = Logged()
    if command == "resume":
        runs.play("run", None, True, "list", 1, seed)
    runs.command(work, Fault("cut", "", number), seed)
    fired = runs.disk.fired
    if command == "merge":
        runs.merge(None, "list", seed)
    else:
        runs.play("run", None, False, "list", 1, seed)
        runs.verify("run")
    runs.teardown()
    return fired


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("command", ["run", "resume", "rescore", "merge"])
def test_a_resume_after_a_power_cut_has_all_that_was_synced(command: str, seed: int) -> None:
    number = 1
    while cut(command, number, seed):
        number += 1
    assert number > 1

"""From run folders to a comparison of what played in them."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from graphwalk.errors import ConfigError
from graphwalk.report.observations import Observations, Player, chosen, observe
from graphwalk.report.versus import Versus, in_run, merged, versus
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.same_tasks import RunFacts, TaskRecorder, what_differs
from graphwalk.suites.registry import suite_named


def compare_runs(paths: Sequence[Path], *, models: Sequence[str] = (), settings: Sequence[str] = ()) -> Versus:
    """All pairs of players in these runs; `models` and `settings`: only these.

    RunLogError where runs do not share identical tasks, ConfigError where there are no two players to compare.
    """
    folders = [RunFolder.open(path) for path in paths]
    names = _names(folders)
    manifests = [folder.read_manifest() for folder in folders]
    suites = {manifest["config"]["suite"]["name"] for manifest in manifests}
    if len(suites) > 1:
        raise ConfigError(f"these are runs of different suites: {', '.join(sorted(suites))}")
    declared = suite_named(suites.pop()).report()
    runs: dict[str, Observations] = {}
    facts: list[RunFacts] = []
    for name, folder, manifest in zip(names, folders, manifests, strict=True):
        recorder = TaskRecorder()
        runs[name] = observe(recorder.through(folder.records()), declared)
        facts.append(RunFacts(folder, manifest, recorder.tasks))
    notes = [line for other in facts[1:] for line in what_differs(facts[0], other)]

    everyone = sorted({player for observed in runs.values() for player in observed.players})
    asked = set(chosen(everyone, models, settings))
    everybody = merged(runs, asked.__contains__)
    if len(everybody.players) < 2:
        known = [f"{player.model} {player.setting}" for player in everyone]
        raise ConfigError("there are no two players to compare", hint=f"played: {', '.join(known) or 'nothing yet'}")
    show = _Commands(dict(zip(names, facts, strict=True)))
    return versus(everybody, show, seed=manifests[0]["config"].get("seed", 0), notes=notes)


class _Commands:
    """The commands that show the episodes of a task."""

    def __init__(self, runs: dict[str, RunFacts]) -> None:
        self._runs = runs

    def __call__(self, task: str, players: Sequence[Player]) -> list[str]:
        """One command for each run that one of the players took part in."""
        several = len(self._runs) > 1
        return [
            f"graphwalk show {run.folder.quoted} {shlex.quote(task)}"
            for name, run in self._runs.items()
            if not several or any(player == in_run(_bare(player, name), name) for player in players)
        ]


def _bare(player: Player, run: str) -> Player:
    return player._replace(model=player.model.removesuffix(f" @ {run}"))


def _names(folders: Sequence[RunFolder]) -> list[str]:
    """Names of the folders, whole paths where two have the same one. ConfigError where a run is given twice."""
    paths = [folder.path.resolve() for folder in folders]
    if len(set(paths)) < len(paths):
        raise ConfigError("a run is compared with itself", hint="name it once: its models and settings are compared")
    short = [path.name for path in paths]
    return short if len(set(short)) == len(short) else [str(path) for path in paths]

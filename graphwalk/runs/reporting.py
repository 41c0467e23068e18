"""From a run folder to its report, and to the spread between its players."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from graphwalk.console import counted
from graphwalk.errors import ConfigError, RunLogError
from graphwalk.evaluation.power import Design, Spread, measured_spread
from graphwalk.models.registry import is_person
from graphwalk.reports.compare import player_outcomes
from graphwalk.reports.observations import Observations, Player, chosen, observe
from graphwalk.reports.report import report_on
from graphwalk.reports.suite_report import Reference, Report, ResultRecord, SuiteReport
from graphwalk.runs.result import EpisodeKey, key_of
from graphwalk.runs.run_folder import RunFolder, own_episodes, shard_in_words
from graphwalk.suites.registry import suite_named


def report_of(folder: RunFolder) -> Report:
    """The report of a run, finished or not. RunLogError as `measured`."""
    return measured(folder)[0]


def measured(folder: RunFolder, records: Iterable[dict[str, Any]] | None = None) -> tuple[Report, Observations]:
    """The report of a run, and what it was made from.

    `records`: those of the run, where somebody else reads them in the same pass. RunLogError where what was logged has
    another form than the suite's.
    """
    try:
        return _measured(folder, folder.records() if records is None else records)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        cause = f"{type(error).__name__}: {error}"
        raise RunLogError(
            f"{folder.path}: what was logged has another form than the suite gives it ({cause})",
            hint=f"graphwalk verify {folder.quoted} finds the line",
        ) from error


def _measured(folder: RunFolder, records: Iterable[dict[str, Any]]) -> tuple[Report, Observations]:
    manifest = folder.read_manifest()
    config = manifest["config"]
    suite = suite_named(config["suite"]["name"])
    declared = suite.presentation.report(suite)
    reference, notes = _reference(declared, config.get("reference"))
    seen: set[EpisodeKey] = set()
    observed = observe(_seen(records, seen), declared)
    report = report_on(observed, reference=reference, seed=config.get("seed", 0))
    incomplete = _missing_part(manifest, sum(not is_person(key.model) for key in seen))
    first = [incomplete] if incomplete else []
    every = (*first, *report.notes, *notes, *_without_stage_2(manifest), *map(str, manifest.get("unplayed", ())))
    return replace(report, notes=every, incomplete=incomplete), observed


def planned_episodes(folder: RunFolder) -> int | None:
    """Episodes of programs that a run, or a shard of one, has when it is finished; None where it has no plan yet."""
    return own_episodes(folder.read_manifest())


def _seen(records: Iterable[dict[str, Any]], keys: set[EpisodeKey]) -> Iterator[ResultRecord]:
    for record in records:
        keys.add(key_of(record))
        yield record


def _reference(declared: SuiteReport, name: str | None) -> tuple[Reference | None, list[str]]:
    """The published rows; a note where there are none of that name any more, which is no reason to show nothing."""
    try:
        return (declared.reference(name) if name else None), []
    except ConfigError as error:
        return None, [f"Without published figures: {error}."]


def _missing_part(manifest: Mapping[str, Any], episodes: int) -> str | None:
    """What to say of a run that did not get to the end of its plan."""
    planned = (manifest.get("fingerprint") or {}).get("episodes")
    if planned is None and episodes:
        return f"NOT FINISHED: {counted(episodes, 'episode')} found; the run ended before its plan was whole."
    if planned is None:
        return "NOT BEGUN: the run ended before its plan was made."
    if shard := shard_in_words(manifest):
        return _of_shard(shard.replace("shard", "SHARD"), episodes, own_episodes(manifest) or 0, planned)
    if episodes < planned:
        return f"NOT FINISHED: {episodes} of {planned} planned episodes are here, and the figures are of these alone."
    return None


def _of_shard(shard: str, episodes: int, own: int, planned: int) -> str:
    whole = f"the whole run has {planned} (see graphwalk merge)"
    if episodes < own:
        return f"{shard}, NOT FINISHED: {episodes} of its {own} episodes are here; {whole}."
    return f"{shard}: complete, {counted(own, 'episode')}; {whole}."


def _without_stage_2(manifest: Mapping[str, Any]) -> Iterator[str]:
    named, settled = manifest["config"].get("extractor"), manifest.get("fingerprint") or {}
    if named and settled.get("stage_2", named) is None:
        yield f"Played without the extractor {named['model']}: replies that stage 1 cannot read whole count as read."


@dataclass(frozen=True)
class MeasuredPair:
    """Two players of a run: the spread of their difference in accuracy, and the design that it was measured with."""

    first: Player
    second: Player
    spread: Spread
    design: Design


def measured_pairs(path: Path, models: Sequence[str], settings: Sequence[str]) -> list[MeasuredPair]:
    """Measure all pairs of players of a run. ConfigError if no pair has two graphs, and two tasks on one of them."""
    folder = RunFolder.open(path)
    manifest = folder.read_manifest()
    suite = suite_named(manifest["config"]["suite"]["name"])
    observed = observe(folder.records(), suite.presentation.report(suite))
    players = chosen(observed.players, models, settings)
    outcomes = {player: player_outcomes(observed, observed.rows_of(player)) for player in players}
    found = []
    for first, second in combinations(players, 2):
        spread = measured_spread(outcomes[first], outcomes[second])
        if spread is not None:
            graphs = len(set(outcomes[first].graphs.tolist()))
            design = Design(max(1, round(len(outcomes[first].keys) / graphs)), observed.tries, observed.tries)
            found.append(MeasuredPair(first, second, spread, design))
    if not found:
        known = ", ".join(f"{player.model} {player.setting}" for player in observed.players)
        raise ConfigError(
            f"{path} shows no spread: that takes two players on two graphs, with two tasks on one of them",
            hint=f"played: {known or 'nothing yet'}; or assume accuracies: --first 40 --second 50",
        )
    return found

"""Refusing to go on with a run where something has changed that decides its results."""

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from graphwalk.errors import RunLogError
from graphwalk.runlog.result import Result, key_of
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.episode import judge
from graphwalk.runner.fingerprint import FORMAT, differences, fingerprint, shared_differences, texts_of
from graphwalk.runner.plan import Plan, PlannedEpisode
from graphwalk.runner.resolve import Experiment
from graphwalk.types.chat import Message

_MOST = 20
"""Differences, or lines of the difference between two texts, that are shown."""
_FILES = ("texts", "code", "scorer")
"""Parts of a fingerprint that hold one digest for each file."""


async def settle(
    folder: RunFolder, experiment: Experiment, plan: Plan, then: Mapping[str, Any] | None, *, whole: bool = True
) -> Any:
    """Today's fingerprint, with the texts kept in the folder. RunLogError where it is not that of the run so far.

    `then` is the fingerprint of the run so far, None for a new run. One that another version of GraphWalk took cannot
    be compared file by file; there, what was logged is made again and compared. `whole`: nothing will be added to the
    plan. Of a run that ended before its plan was whole, the graphs that it knew must be the first ones today.
    """
    now = _as_logged(fingerprint(experiment, plan, whole=whole))
    texts = {name: experiment.environment.redact_said(text) for name, text in texts_of(experiment).items()}
    if then is not None:
        known = plan.known_to(then)
        begun = now if known is plan else _as_logged(fingerprint(experiment, known, whole=False))
        if then.get("format") == FORMAT:
            _refuse_changes(folder, differences(then, begun), texts)
        else:
            await _refuse_other_outcome(folder, experiment, plan, then, begun)
    folder.keep_texts({**texts, "experiment.yaml": experiment.config.as_yaml()})
    return now


def _as_logged(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _refuse_changes(folder: RunFolder, changed: Mapping[str, tuple[Any, Any]], texts: Mapping[str, str]) -> None:
    if not changed:
        return
    shown = [line for key, values in changed.items() for line in _described(folder, key, values, texts)]
    if len(shown) > 2 * _MOST:
        shown = [*shown[: 2 * _MOST], "  …"]
    scorer_only = all(key.startswith("scorer.") for key in changed)
    raise RunLogError(
        f"{folder.path} was begun under other conditions, so that its results do not go with new ones:\n"
        + "\n".join(shown),
        hint=f"only the scorer has changed: graphwalk rescore {folder.quoted}"
        if scorer_only
        else "undo the change and resume; or start a new run; where only the scorer changed: graphwalk rescore",
    )


def _described(folder: RunFolder, key: str, values: tuple[Any, Any], texts: Mapping[str, str]) -> Iterator[str]:
    """A difference in words: of a value both values, of a file its name, of a text what has changed in it."""
    part, _, name = key.partition(".")
    if part not in _FILES:
        yield f"  {key}: {values[0]} → {values[1]}"
        return
    what = {values[0]: "new", values[1]: "gone"}.get("absent", "changed")
    yield f"  {part}: {name}: {what}"
    kept = folder.kept_text(name) if part == "texts" and what == "changed" else None
    if kept is not None:
        lines = difflib.unified_diff(kept.splitlines(), texts[name].splitlines(), "then", "now", n=1, lineterm="")
        yield from (f"    {line}" for line in list(lines)[:_MOST])


async def _refuse_other_outcome(
    folder: RunFolder, experiment: Experiment, plan: Plan, then: Mapping[str, Any], now: Mapping[str, Any]
) -> None:
    known = ("config", "graphs", "tasks", "episodes")
    reasons = list(shared_differences({part: then.get(part) for part in known}, {part: now[part] for part in known}))
    scores_only = not reasons
    if not reasons:
        planned = {episode.key: episode for episode in plan.episodes}
        for record in folder.records():
            episode, result = planned.get(key_of(record)), Result.from_dict(record)
            if episode is None or result.exit_status.infrastructure:
                continue
            if not await _same_prompt(experiment, episode, result):
                reasons.append(f"another prompt: {' '.join(map(str, result.key))}")
                scores_only = False
            elif not _same_score(experiment, episode, result):
                reasons.append(f"another score: {' '.join(map(str, result.key))}")
    if reasons:
        more = [f"  … and {len(reasons) - _MOST} more"] if len(reasons) > _MOST else []
        raise RunLogError(
            f"{folder.path} was begun by another version of GraphWalk, and what that one logged comes out differently "
            "today:\n" + "\n".join([*(f"  {reason}" for reason in reasons[:_MOST]), *more]),
            hint=f"graphwalk rescore {folder.quoted}"
            if scores_only
            else "go on with the version that began it (graphwalk_version and commit in run.json), or start a new run",
        )


async def _same_prompt(experiment: Experiment, episode: PlannedEpisode, result: Result) -> bool:
    opening = await episode.opening(experiment)

    def said(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
        return [(message.role, message.content or "") for message in messages]

    return said(opening.prompt) == said(result.trajectory.prompt)


def _same_score(experiment: Experiment, episode: PlannedEpisode, result: Result) -> bool:
    setting, trajectory = episode.key.setting, result.trajectory
    made = judge(experiment.suite, episode.task, setting, trajectory, result.extractor_reply)
    return bool(_as_logged(made) == [result.answer, result.score])

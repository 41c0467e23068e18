"""The results of a run joined with their explanations, which are kept in `analysis.jsonl` beside them.

Explanations are computed when someone reads them. The file may be deleted: it is made again. It is used if it is of
this run and of this version of its suite's explanations, and a line of it if it has the checksum of its result. What
could not be explained or computed, perhaps because a file is away, is not kept: it is tried again.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any
from warnings import catch_warnings

from pydantic import ValidationError

from graphwalk.analysis.suite_analysis import SuiteAnalysis, analysis_of
from graphwalk.background import run_in_background
from graphwalk.errors import GraphwalkError
from graphwalk.files.json_lines import encode_line, read_lines
from graphwalk.files.writing import write_whole
from graphwalk.models.trajectory import Trajectory
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.manifest import tasks_digest
from graphwalk.runs.plan import make_plan
from graphwalk.runs.record import Result, ResultRecord, key_of, with_short_reply
from graphwalk.runs.resolve import logged_experiment
from graphwalk.stores.open import OpenGraphs
from graphwalk.suites.extraction import TOO_LONG
from graphwalk.suites.suite import Task, suite_named
from graphwalk.terminal import progress_bar
from graphwalk.variables import Variables

_LOGGER = logging.getLogger("graphwalk")


def explain_episode(
    analysis: SuiteAnalysis[Any],
    task: Task,
    setting: str,
    trajectory: Trajectory,
    answer: Any,
    score: dict[str, Any],
    *,
    steps: bool = False,
) -> dict[str, Any]:
    """Return the explanation of a scored episode as JSON data; `steps`: with its potentials."""
    if score["extraction_stage"] == TOO_LONG:
        trajectory = with_short_reply(trajectory)
    explanation = analysis.explain(task, setting, trajectory, answer, score)
    potentials = analysis.potentials(task, trajectory) if steps else None
    return {**explanation.model_dump(mode="json"), "potentials": potentials}


def explain_result(result: Result, *, steps: bool = False) -> dict[str, Any]:
    """Return the explanation of a scored episode of any suite; none if its task has not the form of the suite."""
    analysis = _analysis(str(result.task["suite"]))
    assert result.score is not None
    try:
        task = analysis.suite.task_type.model_validate(result.task)
    except ValidationError:
        nothing = analysis.explanation_type(missing="evidence missing: the task cannot be read")
        return {**nothing.model_dump(mode="json"), "potentials": None}
    return explain_episode(
        analysis, task, result.key.setting.name, result.trajectory, result.answer, result.score, steps=steps
    )


def explained(folder: RunFolder) -> Iterator[dict[str, Any]]:
    """Yield the results of a run with explanations in their scores and the expert's figures in their tasks.

    New explanations are written to `analysis.jsonl`. A conversation has none. Raise RunLogError as `RunFolder.records`.
    """
    if folder.is_conversation:
        yield from folder.records()
        return
    explanations, references = _read_file(folder)
    is_new = False
    is_final = True
    if references is None:
        references, is_final = _reference_figures(folder)
        is_new = is_final
    lines = [encode_line({**_origin(folder), "references": references if is_final else None})]
    steps = bool(folder.read_manifest()["config"]["scoring"]["steps"])
    with progress_bar("explaining", folder.planned_episodes()) as done:
        for checksum, record in folder.checked_records():
            task = {**record["task"], **references.get(record["task_id"], {})}
            if record["score"] is None:
                yield {**record, "task": task}
                continue

            key = f"{key_of(record).text}\x1f{checksum}"
            explanation = explanations.pop(key, None)
            if explanation is None:
                explanation = explain_result(Result.from_dict(record), steps=steps)
                is_new |= not explanation["missing"]
                done()
            if not explanation["missing"]:
                lines.append(encode_line({"of": key, "explanation": explanation}))
            yield _joined(record, task, explanation)
    if is_new:
        # A folder may be one that is only read.
        with suppress(GraphwalkError, OSError):
            write_whole(folder.path / "analysis.jsonl", lines)


def _joined(record: ResultRecord, task: Mapping[str, Any], explanation: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result with its explanation in its score, and the potentials beside it."""
    score = dict(record["score"])
    score.update(explanation)
    potentials = score.pop("potentials")
    return {**record, "score": score, "potentials": potentials, "task": task}


def _origin(folder: RunFolder) -> dict[str, Any]:
    """Return the run and the version of its explanations, which a file of explanations begins with."""
    version = analysis_of(folder.suite).version
    return {"run_id": folder.read_manifest()["run_id"], "suite": folder.suite_name, "version": version}


def _read_file(folder: RunFolder) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return explanations by episode and checksum, and the expert's figures by task; None where they are not known.

    A file of another run or of another version has none of them.
    """
    explanations: dict[str, Any] = {}
    references = None
    with suppress(GraphwalkError, LookupError, TypeError), catch_warnings(action="ignore"):  # damaged: made again
        lines = read_lines(folder.path / "analysis.jsonl")
        head = next(lines, None)
        if head is not None and head.items() >= _origin(folder).items():
            references = head["references"]
            explanations = {line["of"]: line["explanation"] for line in lines}
    return explanations, references


@cache
def _analysis(suite: str) -> SuiteAnalysis[Any]:
    return analysis_of(suite_named(suite))


def _reference_figures(folder: RunFolder) -> tuple[dict[str, dict[str, int]], bool]:
    """Return task id → the figures of the scripted expert's walk, and whether they are final.

    Graphs are made again without a database. Where that fails, and where they give other tasks than the run had (a file
    was changed or is away), the figures are not final.
    """
    with suppress(GraphwalkError):
        return run_in_background(_walked_again(folder))
    return {}, False


async def _walked_again(folder: RunFolder) -> tuple[dict[str, dict[str, int]], bool]:
    experiment = logged_experiment(folder, Variables(), "embedded")
    analysis = analysis_of(experiment.suite)
    if analysis.expert is None:
        return {}, True
    async with OpenGraphs(Variables()) as graphs:
        plan = await make_plan(experiment, graphs, lambda number: None)
        figures: dict[str, dict[str, int]] = {}
        then = folder.read_manifest()["fingerprint"].get("tasks", {}).get("sha256")
        is_final = tasks_digest(task for task, _ in plan.tasks) == then
        for task, graph in plan.tasks:
            try:
                walk = await analysis.reference(task, graph.about, experiment.config.agent)
            except Exception:  # an expert of another package may raise anything
                _LOGGER.exception("the expert failed on %s", task.task_id)
                is_final = False
                continue
            if walk is not None:
                figures[task.task_id] = walk.figures
    return figures, is_final

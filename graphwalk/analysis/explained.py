"""The results of a run joined with their explanations, which are kept in `analysis.jsonl` beside them.

Explanations are computed when someone reads them. The file may be deleted: it is made again. A line of it is used if
it has the checksum of its result and the digest of the code that made it.
"""

import hashlib
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from multiprocessing import get_context
from typing import Any
from warnings import catch_warnings

from pydantic import ValidationError

from graphwalk.analysis.suite_analysis import SuiteAnalysis, analysis_of
from graphwalk.config.resources import PACKAGE
from graphwalk.errors import GraphwalkError
from graphwalk.files.bulk import cores
from graphwalk.files.json_lines import encode_line, read_lines
from graphwalk.files.writing import write_whole
from graphwalk.models.trajectory import Trajectory
from graphwalk.runs.background import run_in_background
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.plan import GraphSources, make_plan
from graphwalk.runs.record import Result, ResultRecord, key_of, with_short_reply
from graphwalk.runs.resolve import logged_experiment
from graphwalk.suites.extraction import TOO_LONG
from graphwalk.suites.suite import Task, setting_of, suite_named
from graphwalk.terminal import progress_bar
from graphwalk.variables import Variables

_LOGGER = logging.getLogger("graphwalk")
_BATCH = 1000
"""Results that are held in memory at once."""
_MANY = 200
"""Results of a batch from which several processes explain them."""


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
    explanation = analysis.explain(task, setting_of(setting), trajectory, answer, score)
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
        analysis, task, result.key.setting, result.trajectory, result.answer, result.score, steps=steps
    )


def explained(folder: RunFolder) -> Iterator[dict[str, Any]]:
    """Yield the results of a run with explanations in their scores and the expert's figures in their tasks.

    New explanations are written to `analysis.jsonl`. A conversation has none. Raise RunLogError as `RunFolder.records`.
    """
    if folder.is_conversation:
        yield from folder.records()
        return
    explanations, references = _read_file(folder)
    is_new = references is None
    references = _reference_figures(folder) if references is None else references
    lines = [encode_line({"code": code_digest(), "references": references})]
    steps = bool(folder.read_manifest()["config"]["scoring"]["steps"])
    results = ((f"{key_of(record).text}\x1f{crc}", record) for crc, record in folder.checked_records())
    with progress_bar("explaining", folder.planned_episodes()) as done:
        while batch := list(islice(results, _BATCH)):
            unexplained = {
                key: record for key, record in batch if record["score"] is not None and key not in explanations
            }
            is_new |= bool(unexplained)
            for key, explanation in zip(unexplained, _explanations(steps, list(unexplained.values())), strict=True):
                explanations[key] = explanation
                done()
            for key, record in batch:
                explanation = explanations.pop(key, None)
                if explanation is None:
                    yield record
                    continue
                lines.append(encode_line({"of": key, "explanation": explanation}))
                fields = {name: value for name, value in explanation.items() if name != "potentials"}
                score, task = {**record["score"], **fields}, {**record["task"], **references.get(record["task_id"], {})}
                yield {**record, "score": score, "potentials": explanation["potentials"], "task": task}
    if is_new:
        with suppress(GraphwalkError, OSError):  # a folder that is only read
            write_whole(folder.path / "analysis.jsonl", lines)


def _read_file(folder: RunFolder) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return explanations by episode and checksum, and the expert's figures by task; None of a file of other code."""
    explanations: dict[str, Any] = {}
    references = None
    with suppress(GraphwalkError, LookupError, TypeError), catch_warnings(action="ignore"):  # damaged: made again
        lines = read_lines(folder.path / "analysis.jsonl")
        head = next(lines, None)
        if head is not None and head["code"] == code_digest():
            references = head["references"]
            explanations = {line["of"]: line["explanation"] for line in lines}
    return explanations, references


def _explanations(steps: bool, records: Sequence[ResultRecord]) -> Iterator[dict[str, Any]]:
    """Yield the explanations of results, made by several processes if there are many."""
    explain = partial(_explanation, steps)
    if len(records) < _MANY or cores() == 1:
        yield from map(explain, records)
        return
    with ProcessPoolExecutor(cores(), get_context("spawn")) as pool:
        yield from pool.map(explain, records, chunksize=max(1, len(records) // (4 * cores())))


def _explanation(steps: bool, record: ResultRecord) -> dict[str, Any]:
    return explain_result(Result.from_dict(dict(record)), steps=steps)


@cache
def _analysis(suite: str) -> SuiteAnalysis[Any]:
    return analysis_of(suite_named(suite))


def _reference_figures(folder: RunFolder) -> dict[str, dict[str, int]]:
    """Return task id → the figures of the scripted expert's walk, where graphs can be made again without a database."""
    with suppress(GraphwalkError):
        return run_in_background(_walked_again(folder))
    return {}


async def _walked_again(folder: RunFolder) -> dict[str, dict[str, int]]:
    experiment = logged_experiment(folder, Variables())
    analysis, figures = analysis_of(experiment.suite), dict[str, dict[str, int]]()
    if analysis.expert is None:
        return {}
    async with GraphSources() as sources:
        plan = await make_plan(experiment, sources, lambda number: None)
        for task, graph in plan.tasks:
            try:
                walk = await analysis.reference(task, graph.about, experiment.agent)
            except Exception:  # an expert of another package may raise anything
                _LOGGER.exception("the expert failed on %s", task.task_id)
                continue
            if walk is not None:
                figures[task.task_id] = walk.figures
    return figures


@cache
def code_digest() -> str:
    """Return a digest of the package's sources: explanations of other code are made again."""
    sha = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        sha.update(path.read_bytes())
    return sha.hexdigest()[:16]

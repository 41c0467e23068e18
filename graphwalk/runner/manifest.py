"""`run.json`: everything that decides what a run measures, so that a resume can refuse to mix two different runs."""

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import graphwalk
from graphwalk.errors import RunLogError
from graphwalk.resources import data_digest
from graphwalk.runner.plan import Plan
from graphwalk.runner.resolve import Experiment
from graphwalk.types.episode import SCHEMA_VERSION

_LIBRARIES = ("langgraph", "openai", "neo4j", "kglite", "numpy", "pydantic")
_DATA = ("templates/questions", "templates/prompts", "tools")
_SCORERS = ("scoring", "suites")
_FREE = ("limits", "keep")
"""Fields of the configuration that change how fast a run goes or what stays behind, and nothing that it measures."""


def new_manifest(experiment: Experiment, run_id: str, created: str) -> dict[str, Any]:
    """The manifest before graphs and tasks are made. It holds no secret: keys never enter a configuration."""
    config = experiment.config
    return {
        "schema_version": SCHEMA_VERSION,
        "graphwalk_version": graphwalk.__version__,
        "run_id": run_id,
        "name": config.name,
        "created": created,
        "commit": _commit(),
        "python": platform.python_version(),
        "libraries": {name: metadata.version(name) for name in _LIBRARIES},
        "config": {**config.model_dump(mode="json"), "models": list(experiment.models)},
        "fingerprint": None,
    }


def fingerprint(experiment: Experiment, plan: Plan) -> dict[str, Any]:
    """What must be the same when a run goes on: configuration, data files, scorer, graphs, tasks."""
    frozen = {k: v for k, v in experiment.config.model_dump(mode="json").items() if k not in _FREE}
    tasks = "\n".join(task.model_dump_json() for task, _ in plan.tasks)
    return {
        "config": {**frozen, "models": list(experiment.models)},
        **({} if experiment.config.extractor is None else {"stage_2": experiment.extractor}),
        "data": data_digest(*_DATA),
        "scorer": scorer_digest(),
        "graphs": [loaded.facts for loaded in plan.worlds],
        "tasks": {"count": len(plan.tasks), "sha256": hashlib.sha256(tasks.encode()).hexdigest()},
        "episodes": len(plan.episodes),
    }


def refuse_drift(path: Path, then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """RunLogError with every difference between a run as it began and as it would go on."""
    before, after = dict(_flat(then)), dict(_flat(json.loads(json.dumps(now))))
    changed = [
        f"  {key}: {before.get(key, 'absent')} → {after.get(key, 'absent')}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]
    if changed:
        shown = "\n".join(changed[:20] + ([f"  … and {len(changed) - 20} more"] if len(changed) > 20 else []))
        raise RunLogError(
            f"{path} was begun under other conditions, so that its results do not go with new ones:\n{shown}",
            hint="undo the change and resume; or start a new run; where only the scorer changed: graphwalk rescore",
        )


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flat(item, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _flat(item, f"{prefix}.{index}")
    else:
        yield prefix, value


def scorer_digest() -> str:
    """SHA-256 of the code that scores."""
    root = Path(graphwalk.__file__).parent
    sha = hashlib.sha256()
    for folder in _SCORERS:
        for file in sorted((root / folder).rglob("*.py")):
            if folder == "scoring" or file.name == "scoring.py":
                sha.update(file.read_bytes())
    return sha.hexdigest()


def _commit() -> str | None:
    """The commit of the checkout that GraphWalk runs from; None for an installed package."""
    root = Path(graphwalk.__file__).parent.parent
    if not (root / ".git").exists():
        return None
    try:
        asked = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40"]
        return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=5).stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None

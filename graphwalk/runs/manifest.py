"""Identity of a run: `run.json`, and the run fingerprint, which must not change before the run is finished."""

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from typing import Any

from graphwalk.config.resources import PACKAGE
from graphwalk.errors import RunLogError
from graphwalk.models.registry import server_of
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.plan import Plan
from graphwalk.runs.record import RUN_VERSION
from graphwalk.runs.resolve import ResolvedExperiment
from graphwalk.suites.suite import Task
from graphwalk.version import __version__

_FREE = ("limits", "description", "names", "primary")
"""Fields of the configuration that do not affect results."""
_MEASURED_LIMITS = ("episode_seconds", "episode_tokens", "episode_usd", "store_seconds")
"""Limits that can end an episode or change the result of a tool call."""
_COUNTED = frozenset({"reference_input_tokens", "reference_output_tokens"})
"""Fields of a task that depend on the token counter and do not affect results."""
_LIBRARIES = ("langgraph", "openai", "aiohttp", "neo4j", "kglite", "numpy", "pydantic")
"""Libraries that can affect results."""
_MOST_DIFFERENCES = 40


def new_manifest(experiment: ResolvedExperiment, plan: Plan, run_id: str, created: str) -> dict[str, Any]:
    """Return `run.json` of a new run. It contains no secret."""
    config = experiment.config
    return {
        "schema_version": RUN_VERSION,
        "graphwalk_version": __version__,
        "run_id": run_id,
        "name": config.name,
        "created": created,
        "commit": commit(),
        "python": platform.python_version(),
        "libraries": {name: metadata.version(name) for name in _LIBRARIES},
        "config": {**config.model_dump(mode="json"), "models": list(experiment.models)},
        "prices": {model: price.model_dump(mode="json") for model, price in experiment.prices.items()},
        "fingerprint": fingerprint(experiment, plan),
    }


@cache
def commit() -> str | None:
    """Return the commit of the checkout, with "-dirty" if there are changes; None outside of a checkout."""
    root = PACKAGE.parent
    if not (root / ".git").exists():
        return None
    try:
        describe = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40"]
        return subprocess.run(describe, capture_output=True, text=True, check=True, timeout=5).stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None


def code_version() -> str:
    """Return the version of GraphWalk; in a checkout with uncommitted changes also the commit."""
    checkout = commit()
    return f"{__version__}, commit {checkout}" if checkout and checkout.endswith("-dirty") else __version__


def fingerprint(experiment: ResolvedExperiment, plan: Plan) -> dict[str, Any]:
    """Return the run fingerprint as JSON data."""
    config = {name: value for name, value in experiment.config.model_dump(mode="json").items() if name not in _FREE}
    config["models"] = list(experiment.models)

    servers = {}
    for model in experiment.called:
        server = server_of(model, experiment.variables)
        if server:
            servers[model] = server

    data = {
        "version": code_version(),
        "config": config,
        "limits": {name: getattr(experiment.config.limits, name) for name in _MEASURED_LIMITS},
        "servers": servers,
        "stage_2": experiment.extractor,
        "texts": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts_of(experiment).items()},
        "scorer": code_version(),
        "graphs": [loaded.facts for loaded in plan.graphs],
        "tasks": {"count": len(plan.tasks), "sha256": tasks_digest(task for task, _ in plan.tasks)},
        "episodes": len(plan.episodes),
    }
    return dict(json.loads(json.dumps(data)))


def texts_of(experiment: ResolvedExperiment) -> dict[str, str]:
    """Return name → text for all texts that models can read: prompts, tools, and those of the suite."""
    texts = {f"prompts/{name}": text for name, text in experiment.config.agent.texts.files.items()}
    for variant in experiment.variants.values():
        folder = variant.config.agent.prompts
        if folder is not None and folder != experiment.config.agent.prompts:
            # prompts: ./prompts/terse  →  variants/terse/graph_tools.j2
            folder_name = str(folder).rpartition("/")[2]
            for name, text in variant.config.agent.texts.files.items():
                texts[f"variants/{folder_name}/{name}"] = text
    for one in (*experiment.variants.values(), experiment):
        for tool in one.tools:
            texts[f"tools/{tool.name}.yaml"] = tool.file_text
    texts.update(experiment.config.suite.texts())
    return texts


def tasks_digest(tasks: Iterable[Task]) -> str:
    """Return the SHA-256 of the questions and targets of tasks; token counts are left out."""
    lines = [task.model_dump_json(exclude=set(_COUNTED)) for task in tasks]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def check_unchanged(folder: RunFolder, experiment: ResolvedExperiment, plan: Plan, then: Mapping[str, Any]) -> None:
    """Raise RunLogError if the fingerprint differs from `then`, the one at the start of the run."""
    changed = differences(then, fingerprint(experiment, plan))
    if not changed:
        return
    lines = [f"  {name}: {before} → {now}" for name, (before, now) in list(changed.items())[:_MOST_DIFFERENCES]]
    if any(name.startswith("texts.") for name in changed):
        lines.append(f"  the texts of the run are in {folder.texts_path}")
    lines.insert(0, f"{folder.path} was started with a different configuration; the results cannot be mixed:")
    if list(changed) == ["scorer"]:
        hint = f"only the scorer has changed: graphwalk rescore {folder.quoted}"
    else:
        hint = "undo the change and resume, or start a new run"
    raise RunLogError("\n".join(lines), hint=hint)


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return dotted name → (value then, value now) of all differences; a missing value is "absent"."""
    before = dict(_leaves(then))
    after = dict(_leaves(now))
    differing = {}
    for name in sorted(before.keys() | after.keys()):
        # A missing value is as good as null.
        if before.get(name) != after.get(name):
            differing[name] = (before.get(name, "absent"), after.get(name, "absent"))
    return differing


def _leaves(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted name → value, `config.suite.graphs.0.nodes` → 40; empty lists and mappings are values too."""
    if not value or not isinstance(value, dict | list):
        yield prefix, value
        return
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield from _leaves(item, f"{prefix}.{key}" if prefix else str(key))

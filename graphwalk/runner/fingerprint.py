"""What decides the results of a run: configuration, texts, code, graphs, tasks; and what of it has changed since."""

import hashlib
import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphwalk.models.openai_servers import server_of
from graphwalk.models.registry import is_person
from graphwalk.resources import PACKAGE
from graphwalk.runner.plan import Plan
from graphwalk.runner.resolve import Experiment
from graphwalk.suites.suite import Suite
from graphwalk.types.episode import Task
from graphwalk.version import __version__

FORMAT = 3
"""Version of the fingerprint; those of other versions are compared by what comes out (`outcome`)."""
_FREE = ("limits", "keep", "tags", "description")
"""Fields of the configuration that change how fast a run goes or what stays behind, and nothing that it measures."""
_MEASURED_LIMITS = ("episode_seconds", "episode_tokens", "episode_usd", "store_seconds")
"""Limits that decide how an episode ends, or what a tool says of a query that takes long."""
_COUNTED = frozenset({"par_input_tokens", "par_output_tokens"})
"""Fields of a task that depend on how tokens are counted, and decide nothing."""
_ONLY_SHOWN = ("__main__.py", "api", "cli", "console.py", "database", "mcp_server", "report", "runlog", "testing")
_APART = frozenset([*_ONLY_SHOWN, "scoring", "suites"])
"""Parts of the package that shape no episode; all others do, so that a new one cannot be forgotten. `scoring` and the
packages of the suites have a part of the fingerprint of their own: the scorer."""
_SHOWING = frozenset({"report", "pictures", "commands", "person"})
"""Parts of a suite that show results and shape none."""


def fingerprint(experiment: Experiment, plan: Plan, *, whole: bool = True) -> dict[str, Any]:
    """What must be the same when a run goes on. `scorer` is what `graphwalk rescore` may bring up to date.

    Of a plan that is not `whole` yet nobody knows how many episodes it will have.
    """
    return {
        **_conditions(experiment),
        "scorer": scorer_digests(experiment.suite),
        "graphs": [loaded.facts for loaded in plan.worlds],
        "tasks": {"count": len(plan.tasks), "sha256": tasks_digest(task for task, _ in plan.tasks)},
        "episodes": plan.due if whole else None,
    }


def conditions_digest(experiment: Experiment) -> str:
    """One digest of what an experiment is played under, for the lines of its log.

    It is known before anything is planned, since graphs and tasks follow from it. A run may be scored again, so that
    what scores is no part of it.
    """
    return _sha(json.dumps(_conditions(experiment), sort_keys=True).encode())[:16]


def _conditions(experiment: Experiment) -> dict[str, Any]:
    """What decides how episodes go, but for the plan."""
    frozen = {k: v for k, v in experiment.config.model_dump(mode="json").items() if k not in _FREE}
    return {
        "format": FORMAT,
        "version": __version__,
        "config": {**frozen, "models": [model for model in experiment.models if not is_person(model)]},
        "limits": {name: getattr(experiment.config.limits, name) for name in _MEASURED_LIMITS},
        "servers": {spec: server for spec in experiment.asked if (server := server_of(spec, experiment.environment))},
        **({} if experiment.config.extractor is None else {"stage_2": experiment.extractor}),
        "texts": {name: _sha(text.encode()) for name, text in texts_of(experiment).items()},
        "code": code_digests(),
    }


def tasks_digest(tasks: Iterable[Task]) -> str:
    """SHA-256 of what tasks ask and expect; par is a count, and not a part of either."""
    return _sha("\n".join(task.model_dump_json(exclude=set(_COUNTED)) for task in tasks).encode())


def texts_of(experiment: Experiment) -> dict[str, str]:
    """Name → text of all that models can read: prompts, tools, and what else the suite has."""
    return {
        **{f"prompts/{name}": text for name, text in experiment.agent.texts.files.items()},
        **{f"tools/{tool.name}.yaml": tool.file_text for tool in experiment.tools},
        **experiment.suite.texts(experiment.config.suite),
    }


def code_digests() -> dict[str, str]:
    """SHA-256 of the code that shapes episodes, by file."""
    parts = sorted(part for part in PACKAGE.iterdir() if part.name not in _APART)
    found = (file for part in (*parts, PACKAGE / "suites" / "suite.py") for file in _code(part, PACKAGE))
    return {name: _sha(path.read_bytes()) for name, path in found}


def scorer_digests(suite: Suite[Any, Any]) -> dict[str, str]:
    """SHA-256 of the code that scores, by file: what all suites share, and the whole package of the suite."""
    files = dict(_code(PACKAGE / "scoring", PACKAGE))
    for one in type(suite).__mro__:
        if issubclass(one, Suite) and one is not Suite:
            files |= _suite_files(one)
    return {name: _sha(path.read_bytes()) for name, path in sorted(files.items())}


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Dotted name → (value then, value now) of everything that is not the same; what is missing is "absent"."""
    before, after = dict(_flat(then)), dict(_flat(now))
    return {
        key: (before.get(key, "absent"), after.get(key, "absent"))
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    }


def shared_differences(then: Any, now: Any, name: str = "") -> Iterator[str]:
    """The same in words for two versions of GraphWalk: fields of a mapping that only one of them knows do not count."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in then.keys() & now.keys():
            yield from shared_differences(then[key], now[key], f"{name}.{key}")
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for number, (one, other) in enumerate(zip(then, now, strict=True)):
            yield from shared_differences(one, other, f"{name}.{number}")
    elif then != now:
        yield f"{name.removeprefix('.')}: {then} → {now}"


def _suite_files(suite: type[Suite[Any, Any]]) -> dict[str, Path]:
    """The code in the package of a suite; its own file where it stands alone."""
    file = Path(inspect.getfile(suite))
    package = getattr(inspect.getmodule(suite), "__package__", None)
    if not package:
        return {file.name: file}
    root = file.parent.parents[package.count(".")]
    root = PACKAGE if root == PACKAGE.parent else root
    found = _code(file.parent, root)
    return {name: path for name, path in found if Path(path.relative_to(file.parent).parts[0]).stem not in _SHOWING}


def _code(place: Path, root: Path) -> Iterator[tuple[str, Path]]:
    """Name below `root` and path of the Python files in a folder, or of one file."""
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [place] if place.suffix == ".py" else []:
        yield path.relative_to(root).as_posix(), path


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flat(item, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _flat(item, f"{prefix}.{index}")
    else:
        yield prefix, value


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

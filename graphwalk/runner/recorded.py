"""Episodes of an earlier run, which `replay/RUN` plays again."""

from collections.abc import Mapping
from pathlib import Path

from graphwalk.errors import ConfigError, RunLogError
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.types.episode import Trajectory
from graphwalk.types.wire import from_dict

ReplayKey = tuple[str, str, int]
"""Task, setting, repeat: an episode of the one model that is replayed."""


def recorded_episodes(spec: str) -> Mapping[ReplayKey, Trajectory]:
    """All trajectories of the one model that `replay/RUN` or `replay/RUN:MODEL` names."""
    try:
        folder, model = _recorded_run(spec.partition("/")[2])
    except RunLogError as error:
        raise ConfigError(f"{spec}: {error}", hint=error.hint) from error
    models = folder.read_manifest()["config"]["models"]
    if model is None and len(models) == 1:
        (model,) = models
    if model not in models:
        wrong = f"has no model {model}" if model else f"names none of the {len(models)} models of that run"
        raise ConfigError(f"{spec} {wrong}", hint=" | ".join(f"replay/{folder.path}:{known}" for known in models))
    return {
        (record["task_id"], record["setting"], record["repeat"]): from_dict(Trajectory, record["trajectory"])
        for record in folder.records()
        if record["model"] == model
    }


def _recorded_run(name: str) -> tuple[RunFolder, str | None]:
    """RUN and MODEL in RUN:MODEL, both of which may hold colons; the shortest RUN that is a folder."""
    parts = name.split(":")
    for number in range(1, len(parts)):
        path, model = Path(":".join(parts[:number])), ":".join(parts[number:])
        if RunFolder(path).manifest_path.exists() or path.is_file():
            return RunFolder.open(path), model
    return RunFolder.open(Path(name)), None

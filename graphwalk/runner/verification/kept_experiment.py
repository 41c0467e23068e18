"""The experiment of a run folder, with the texts that the run kept: it stands alone when the originals are gone."""

from pathlib import Path
from typing import Any

from graphwalk.config.prompts import shipped_prompts
from graphwalk.config.strict import is_path
from graphwalk.environment import Environment
from graphwalk.errors import RunLogError
from graphwalk.experiments.loading import experiment_from
from graphwalk.files import check_links
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.resolve import Experiment
from graphwalk.suites.registry import suite_named
from graphwalk.toolbox.tool import load_tools, tool_names
from graphwalk.types.chat import CallOptions


def kept_experiment(folder: RunFolder, environment: Environment, store: str | None = None) -> Experiment:
    """What was run. No model is looked up: verifying calls none. `store`: another one than that of the run.

    ConfigError where today's GraphWalk cannot read it; RunLogError for a link that leads out of the folder.
    """
    data = folder.read_manifest().get("config")
    if not isinstance(data, dict):
        raise RunLogError(f"{folder.manifest_path} holds no configuration")
    check_links(folder.path, RunLogError)
    texts = folder.texts_path.resolve()
    changed = {
        "suite": _kept_paths(data.get("suite"), texts),
        "agent": {**_kept_paths(data.get("agent", {}), texts), "prompts": _prompts(data.get("agent", {}), texts)},
        "store": data.get("store", "embedded") if store is None else store,
    }
    config = experiment_from({**data, **changed}, str(folder.manifest_path))
    suite = suite_named(config.suite.name)
    tools = suite.tools if config.agent.tools is None else config.agent.tools
    return Experiment(
        config=config,
        suite=suite,
        models=config.models,
        options=CallOptions(**config.options.model_dump(), parallel_tool_calls=config.agent.parallel_tool_calls),
        report=suite.report(),
        reference=None,
        environment=environment,
        tools=load_tools([_kept_tool(name, texts) for name in tools]),
    )


def _kept_paths(value: Any, texts: Path) -> Any:
    """Paths replaced by those of the texts that were kept under the same name, at whatever depth."""
    if isinstance(value, dict):
        return {name: _kept_paths(item, texts) for name, item in value.items()}
    if isinstance(value, list):
        return [_kept_paths(item, texts) for item in value]
    found = sorted(texts.glob(f"*/{Path(value).name}")) if isinstance(value, str) and is_path(value) else []
    return str(found[0]) if found else value


def _prompts(agent: dict[str, Any], texts: Path) -> str | None:
    """The folder of the kept prompts, where they are not those that ship."""
    folder = texts / "prompts"
    if not folder.is_dir():
        return agent.get("prompts")
    kept = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    return None if kept == dict(shipped_prompts().files) else str(folder)


def _kept_tool(name: str, texts: Path) -> str:
    """The kept file of a tool, where it is not the one that ships."""
    path = texts / "tools" / f"{Path(name).stem if is_path(name) else name}.yaml"
    if not path.is_file():
        return name
    shipped = load_tools([path.stem])[0].file_text if path.stem in tool_names() else None
    return path.stem if shipped == path.read_text(encoding="utf-8") else str(path)

"""Finding and reading experiments: a YAML file by name or path, overrides on top."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from graphwalk.config.graph_source import GraphSource
from graphwalk.config.strict import given
from graphwalk.config.yaml_files import YamlFile, parse_value, set_dotted, shown, validate
from graphwalk.errors import ConfigError
from graphwalk.experiments.config import AnyExperiment, experiment_type
from graphwalk.resources import data_path
from graphwalk.sanitise import shown_setting
from graphwalk.suites.registry import suite_class


def shipped_experiments() -> dict[str, Path]:
    """Name → file of the experiments that come with GraphWalk."""
    return {path.stem: path for path in sorted(data_path("templates").glob("experiments/*.yaml"))}


def find_experiment(name: str) -> Path:
    """The file of an experiment given by name or path. ConfigError lists what there is."""
    shipped = shipped_experiments()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    if path.suffix in (".yaml", ".yml") and path.is_file():
        return path
    if path.is_dir():
        raise ConfigError(f"{name} is a folder, not an experiment", hint=_experiments_in(path))
    missing = f"there is no file {name}" if path.suffix in (".yaml", ".yml") else f"there is no experiment {name!r}"
    raise ConfigError(missing, hint=f"known experiments: {', '.join(shipped)}; or give the path of a YAML file")


def _experiments_in(folder: Path) -> str:
    """The next thing to do for somebody who named a folder."""
    if (folder / "run.json").exists():
        return f"it is the folder of a run; go on with it: graphwalk resume {folder}"
    files = sorted(path.name for path in folder.glob("*.y*ml"))[:5]
    return f"name a file in it: {', '.join(files)}" if files else "give the path of a YAML file"


def load_experiment(
    source: str | Mapping[str, Any],
    overrides: Sequence[str] = (),
    flags: Mapping[str, Any] | None = None,
    *,
    graphs: int | None = None,
) -> AnyExperiment:
    """An experiment with `key=value` overrides (dotted keys, YAML values) and then `flags` (dotted keys) applied.

    `source` is a name, the path of a YAML file, or what would stand in one.
    In a dotted key `*` stands for every element of a list: `suite.graphs.*.count=3`. `graphs` sets the number of
    graphs, mazes or traces of each kind, whatever the suite calls them. Paths in a file are relative to it, those in
    overrides and flags to the working directory.
    ConfigError names the file and line of a mistake, or the override that brought it in.
    """
    said, data, folder, tree = _read(source)
    if not isinstance(data, dict):
        raise ConfigError(f"{said}: an experiment is a mapping of fields, this is {shown(data)}")
    origins: dict[str, str] = {}
    for override in overrides:
        key, value = parse_override(override)
        origins[key] = f"-o {shown_setting(key, value, override.partition('=')[2])}"
        set_dotted(data, key, given(value), origins[key])
    set_by_flag = dict(flags or {})
    if graphs is not None:
        set_by_flag[f"{_graphs_key(data, said)}.*.count"] = graphs
    for key, value in set_by_flag.items():
        origins[key] = shown_setting(key, value, value)
        set_dotted(data, key, given(value), key)
    return validate(_type(data, said), data, said, tree, origins, folder=folder)


def _read(source: str | Mapping[str, Any]) -> tuple[str, Any, Path, yaml.Node | None]:
    """What messages call an experiment, what it says, where its paths begin, and which line says what."""
    if isinstance(source, Mapping):
        return "the experiment", deepcopy(dict(source)), Path.cwd(), None
    path = find_experiment(source)
    file = YamlFile.read(path)
    return str(path), file.data, path.parent, file.tree


def experiment_from(data: Mapping[str, Any], source: str) -> AnyExperiment:
    """An experiment from data that was read elsewhere: a run folder, a notebook. ConfigError names `source`."""
    return validate(_type(data, source), data, source, folder=Path.cwd())


def own_graphs(source: str, graph: GraphSource) -> list[dict[str, Any]]:
    """`suite.graphs` of an experiment with somebody's own graph in place of those that it names.

    What it says of an own graph besides the place, such as `twin`, stays.
    """
    _, data, _, _ = _read(source)
    suite = data.get("suite") if isinstance(data, dict) else None
    listed = suite.get("graphs") if isinstance(suite, dict) else None
    place = graph.model_dump(mode="json", exclude_none=True)
    kept = [{k: v for k, v in one.items() if k == "twin"} for one in listed or () if isinstance(one, dict)]
    return [{**(kept[0] if kept else {}), **place}]


def parse_override(override: str, flag: str = "-o") -> tuple[str, Any]:
    """Key and value of `key=value`. ConfigError where it has another form."""
    key, sign, text = override.partition("=")
    if not sign or not key.strip():
        raise ConfigError(f"{flag} {override}: expected key=value, for example {flag} seed=7")
    return key.strip(), parse_value(text, f"{flag} {shown_setting(key, text, text)}")


def _type(data: Any, source: str) -> type[AnyExperiment]:
    try:
        return experiment_type(data)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}", hint=error.hint) from error


def _graphs_key(data: dict[str, Any], source: str) -> str:
    """Where the configuration lists what is generated; the suite's default is written out if the file has none."""
    config_type = _type(data, source).model_fields["suite"].annotation
    suite = suite_class(data["suite"]["name"])
    assert config_type is not None
    if suite.graphs_field not in data["suite"]:
        default = config_type.model_fields[suite.graphs_field].get_default(call_default_factory=True)
        data["suite"][suite.graphs_field] = [entry.model_dump(exclude_unset=True) for entry in default]
    return f"suite.{suite.graphs_field}"

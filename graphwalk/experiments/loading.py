"""Load experiments: a YAML file by name or path, with overrides."""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from graphwalk.config.graph_source import GraphSource
from graphwalk.config.strict import mark_given
from graphwalk.config.yaml_files import YamlFile, parse_value, set_dotted, shown, validate
from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.experiments.experiment import AnyExperiment, experiment_type
from graphwalk.experiments.protocols import apply_protocol
from graphwalk.files.resources import data_path


def shipped_experiments() -> dict[str, Path]:
    """Return name → file of the built-in experiments, in the order of their groups."""
    folder = data_path("templates") / "experiments"
    return {name: folder / f"{name}.yaml" for names in experiment_groups().values() for name in names}


def experiment_groups() -> dict[str, list[str]]:
    """Return title → names of the built-in experiments."""
    text = (data_path("templates") / "experiments" / "groups.json").read_text(encoding="utf-8")
    groups: dict[str, list[str]] = json.loads(text)
    return groups


def find_experiment(name: str) -> Path:
    """Return the file of an experiment by name or path. Raise ConfigError, with the known names, if there is none."""
    shipped = shipped_experiments()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    if path.suffix in (".yaml", ".yml") and path.is_file():
        return path
    missing = f"there is no file {name}" if path.suffix in (".yaml", ".yml") else f"there is no experiment {name!r}"
    missing += did_you_mean(name, shipped)
    raise ConfigError(missing, hint=f"known experiments: {', '.join(shipped)}; or give the path of a YAML file")


def load_experiment(
    source: str | Mapping[str, Any],
    overrides: Sequence[str] = (),
    flags: Mapping[str, Any] | None = None,
    *,
    graphs: int | None = None,
) -> AnyExperiment:
    """Load an experiment and apply `key=value` overrides, then `flags`; keys are dotted, values YAML.

    `source` is a name, the path of a YAML file, or the content of one. `*` in a dotted key is every element of a list:
    `suite.graphs.*.count=3`. `graphs` sets the number of graphs, mazes or traces of each kind. Paths in a file are
    relative to it, those in overrides and flags to the working directory.
    Raise ConfigError with the file and line of an error; only with the field, if an override or a flag set it.
    """
    name, data, folder, tree = _read(source)
    if not isinstance(data, dict):
        raise ConfigError(f"{name}: expected a mapping of fields, found {shown(data)}")
    fields = [parse_override(override) for override in overrides]
    for key, value in fields:
        set_dotted(data, key, mark_given(value), f"-o {key}")
    set_by_flag = dict(flags or {})
    if graphs is not None:
        set_by_flag[f"{_graphs_key(data, name)}.*.count"] = graphs
    for key, value in set_by_flag.items():
        set_dotted(data, key, mark_given(value), key)
    apply_protocol(data)
    overridden = [*(key for key, _ in fields), *set_by_flag]
    return validate(_type(data, name), data, name, tree, overridden, folder=folder)


def _read(source: str | Mapping[str, Any]) -> tuple[str, Any, Path, yaml.Node | None]:
    """Return the name of an experiment for messages, its data, the folder of its paths, and its YAML tree."""
    if isinstance(source, Mapping):
        return "the experiment", deepcopy(dict(source)), Path.cwd(), None
    path = find_experiment(source)
    file = YamlFile.read(path)
    return str(path), file.data, path.parent, file.tree


def experiment_from(data: Mapping[str, Any], source: str) -> AnyExperiment:
    """Return an experiment from data that was read elsewhere. Raise ConfigError with `source` if it is wrong."""
    return validate(_type(data, source), data, source, folder=Path.cwd())


def own_graphs(source: str, graph: GraphSource) -> list[dict[str, Any]]:
    """Return `suite.graphs` of an experiment with your own graph in place of its graphs; `twin` is kept."""
    _, data, _, _ = _read(source)
    suite = data.get("suite") if isinstance(data, dict) else None
    listed = suite.get("graphs") if isinstance(suite, dict) else None
    first = next((one for one in listed or () if isinstance(one, dict)), {})
    twin = {"twin": first["twin"]} if "twin" in first else {}
    return [{**twin, **graph.model_dump(mode="json", exclude_none=True)}]


def parse_override(override: str, flag: str = "-o") -> tuple[str, Any]:
    """Return key and value of `key=value`. Raise ConfigError if it has another form."""
    key, sign, text = override.partition("=")
    if not sign or not key.strip():
        raise ConfigError(f"{flag} {override}: expected NAME=VALUE, for example {flag} seed=7")
    return key.strip(), parse_value(text, f"{flag} {key.strip()}")


def _type(data: Any, source: str) -> type[AnyExperiment]:
    try:
        return experiment_type(data)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}", hint=error.hint) from error


def _graphs_key(data: dict[str, Any], source: str) -> str:
    """Return the dotted key of the list of generated graphs, and write the suite's default there if it is missing."""
    config_type = _type(data, source).model_fields["suite"].annotation
    assert config_type is not None
    field = config_type.graphs_field
    if field not in data["suite"]:
        default = config_type.model_fields[field].get_default(call_default_factory=True)
        data["suite"][field] = [entry.model_dump(exclude_unset=True) for entry in default]
    return f"suite.{field}"

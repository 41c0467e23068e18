"""The fields of a run that differ from its protocol, and from the run whose figures are published."""

from collections.abc import Mapping
from typing import Any

from graphwalk.config.yaml_files import YamlFile
from graphwalk.runs.experiment import (
    DEFAULT_PROTOCOL,
    apply_protocol,
    experiment_from,
    load_experiment,
    protocols,
    shipped_experiments,
)


def protocol_note(config: Mapping[str, Any]) -> str:
    """Return the line of a report on the run's protocol; `config` is the configuration as in run.json."""
    changed = deviations(config)
    differs = f" This run differs from it in {', '.join(changed)}." if changed else ""
    return f"Protocol: {config['protocol']}.{differs}"


def deviations(config: Mapping[str, Any]) -> list[str]:
    """Return the dotted fields of a run that are not those of its protocol. The protocol `graphwalk` sets none."""
    protocol, suite = config["protocol"], config["suite"]["name"]
    named = protocols()[protocol].get(suite)
    if named is None:
        return []
    plain: dict[str, Any] = {"name": protocol, "protocol": protocol, "suite": {"name": suite}}
    apply_protocol(plain)
    expected = experiment_from(plain, protocol).model_dump(mode="json")
    fields = {*named, "scoring.extraction", *(f"agent.{field}" for field in expected["agent"])}
    return [field for field in sorted(fields) if _value(config, field) != _value(expected, field)]


def published_differences(config: Mapping[str, Any]) -> list[str]:
    """Return the dotted fields in which a run differs from the published one whose figures its `reference` names.

    That is the nearest built-in experiment with this reference under the protocol `paper`. Models, seed, store and the
    numbers of graphs are free; a run may have a part of the settings, graphs and sizes.
    """
    if config["protocol"] == DEFAULT_PROTOCOL:
        return ["protocol"]
    files = shipped_experiments().items()
    same = [name for name, path in files if YamlFile.read(path).data.get("reference") == config["reference"]]
    published = [load_experiment(name, (), {"protocol": "paper"}).model_dump(mode="json") for name in same]
    return min((_differences(one, config) for one in published), key=len, default=[])


def _differences(published: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    fields = ["repeats", "limit", "settings", "extractor", "scoring.extraction"]
    fields += [f"{part}.{field}" for part in ("suite", "agent") for field in published[part]]
    return [field for field in fields if not _is_part(_value(config, field), _value(published, field))]


def _is_part(part: Any, whole: Any) -> bool:
    """Return True if each entry of a list is in the whole one; `count` in an entry is free."""
    if isinstance(part, list) and isinstance(whole, list):
        return all(any(_is_part(entry, other) for other in whole) for entry in part)
    if isinstance(part, dict) and isinstance(whole, dict):
        names = (part.keys() | whole.keys()) - {"count"}
        return all(_is_part(part.get(name), whole.get(name)) for name in names)
    return bool(part == whole)


def _value(config: Mapping[str, Any], field: str) -> Any:
    value: Any = config
    for name in field.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value

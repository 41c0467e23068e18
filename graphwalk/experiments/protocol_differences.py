"""The protocol of a run: fields that differ from it, and published figures that a report may show beside the run's."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphwalk.config.yaml_files import YamlFile
from graphwalk.experiments.loading import experiment_from, load_experiment, shipped_experiments
from graphwalk.experiments.protocols import DEFAULT_PROTOCOL, apply_protocol, protocols

_MOST_CHARACTERS = 80
Difference = tuple[str, Any, Any]
"""Dotted field, the expected value, and the value of the run."""


def protocol_note(config: Mapping[str, Any]) -> str:
    """Return the line of a report on the run's protocol; `config` is the configuration as in run.json."""
    protocol = config.get("protocol", DEFAULT_PROTOCOL)
    changed = deviations(config)
    return f"Protocol: {protocol}." + (f" This run differs from it: {in_words(changed)}." if changed else "")


def in_words(differences: Iterable[Difference]) -> str:
    """Return differences as text: "agent.encoding is csv, not json"."""
    return "; ".join(
        f"{field} is {_written(actual)}, not {_written(expected)}" for field, expected, actual in differences
    )


def _written(value: Any) -> str:
    text = value if isinstance(value, str) else "unset" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


def deviations(config: Mapping[str, Any]) -> list[Difference]:
    """Return the fields of a run that are not those of its protocol. The protocol `graphwalk` sets none."""
    protocol, suite = config.get("protocol", DEFAULT_PROTOCOL), config["suite"]["name"]
    named = protocols().get(protocol, {}).get(suite)
    if named is None:
        return []
    plain: dict[str, Any] = {"name": protocol, "protocol": protocol, "suite": {"name": suite}}
    apply_protocol(plain)
    expected = experiment_from(plain, protocol).model_dump(mode="json")
    fields = {*named, "scoring.extraction", *(f"agent.{field}" for field in expected["agent"])}
    fields |= {f"suite.{field}" for field in ("questions",) if field in expected["suite"]}
    pairs = (pair for field in sorted(fields) for pair in _values(field, named.get(field), expected, config))
    return [(field, value, actual) for field, value, actual in pairs if value != actual]


def published_differences(config: Mapping[str, Any]) -> list[Difference]:
    """Return the fields in which a run differs from the published one whose figures its `reference` names.

    That is the built-in experiment with this reference under the protocol `paper`; of several equally near ones, that
    with the most graphs. Models, seed and store are free; a run may have a part of the settings, graphs and sizes.
    """
    files = shipped_experiments().items()
    same = [name for name, path in files if YamlFile.read(path).data.get("reference") == config.get("reference")]
    published = (load_experiment(name, (), {"protocol": "paper"}).model_dump(mode="json") for name in same)
    return min((_differences(one, config) for one in published), key=_distance, default=[])


def fewer_graphs(difference: Difference) -> bool:
    """Return True if the run has fewer graphs, mazes or traces of a kind than the published one (None: all)."""
    field, published, count = difference
    return field.endswith(".count") and count is not None and (published is None or count < published)


def _distance(differences: Sequence[Difference]) -> tuple[int, int]:
    fewer = sum(map(fewer_graphs, differences))
    return len(differences) - fewer, -fewer


def _differences(published: Mapping[str, Any], config: Mapping[str, Any]) -> list[Difference]:
    fields = ["protocol", "repeats", "limit", "settings", "extractor", "scoring.extraction"]
    fields += [f"suite.{field}" for field in published["suite"]]
    fields += [f"agent.{field}" for field in published["agent"]]
    if config.get("protocol", DEFAULT_PROTOCOL) != published["protocol"]:
        # The protocol is the source of the fields that it sets.
        fields = [field for field in fields if field not in protocols()[published["protocol"]][config["suite"]["name"]]]
    pairs = (pair for field in fields for pair in _values(field, None, published, config))
    return [difference for pair in pairs for difference in _innermost(*pair)]


def _innermost(field: str, whole: Any, part: Any) -> Iterator[Difference]:
    """Yield the innermost fields that differ. An entry of a list is compared with the nearest one; a part is enough."""
    if isinstance(part, dict) and isinstance(whole, dict):
        for name in dict.fromkeys((*whole, *part)):
            yield from _innermost(f"{field}.{name}", whole.get(name), part.get(name))
    elif isinstance(part, list) and isinstance(whole, list) and all(isinstance(entry, dict) for entry in whole):
        for number, entry in enumerate(part):
            nearest = (list(_innermost(f"{field}.{number}", other, entry)) for other in whole)
            yield from min(nearest, key=_distance, default=[(f"{field}.{number}", None, entry)])
    elif isinstance(part, list) and isinstance(whole, list):
        yield from ((field, whole, entry) for entry in part if entry not in whole)
    elif part != whole:
        yield field, whole, part


def _values(field: str, of_entries: Any, first: Any, second: Any, place: str = "") -> Iterator[Difference]:
    """Yield a dotted field in both configurations; behind `*`, `of_entries` is expected of every entry of a list."""
    head, _, rest = field.partition(".")
    here = f"{place}.{head}" if place else head
    if head == "*":
        for number, entry in enumerate(second if isinstance(second, list) else ()):
            yield f"{place}.{number}.{rest}", of_entries, entry.get(rest)
    elif rest:
        yield from _values(rest, of_entries, first.get(head) or {}, second.get(head) or {}, here)
    else:
        yield here, first.get(head), second.get(head)

"""The protocol of a run: fields that differ from it, and published figures that a report may show beside the run's."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphwalk.config.loading import experiment_from, load_experiment, shipped_experiments
from graphwalk.config.protocols import OWN, apply_protocol, protocols
from graphwalk.config.yaml_files import YamlFile

_OF_NO_EPISODE = frozenset({"clock", "query_seconds", "query_rows"})
"""Fields of the agent that the protocols leave free."""
_LONGEST = 80
"""Characters of a value in a note."""
Difference = tuple[str, Any, Any]
"""Dotted field, the expected value, and the value of the run."""


def protocol_note(config: Mapping[str, Any]) -> str:
    """Return the line of a report on the run's protocol; `config` is the configuration as in run.json."""
    protocol = config.get("protocol", OWN)
    changed = deviations(config)
    return f"Protocol: {protocol}." + (f" This run differs from it: {in_words(changed)}." if changed else "")


def in_words(differences: Iterable[Difference]) -> str:
    """Return differences as text: "agent.encoding is csv, not json"."""
    return "; ".join(
        f"{field} is {_written(actual)}, not {_written(expected)}" for field, expected, actual in differences
    )


def _written(value: Any) -> str:
    text = value if isinstance(value, str) else "unset" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def deviations(config: Mapping[str, Any]) -> list[Difference]:
    """Return the fields of a run that are not those of its protocol. The protocol `graphwalk` sets none."""
    protocol, suite = config.get("protocol", OWN), config["suite"]["name"]
    named = protocols().get(protocol, {}).get(suite)
    if named is None:
        return []
    plain: dict[str, Any] = {"name": protocol, "protocol": protocol, "suite": {"name": suite}}
    apply_protocol(plain)
    expected = experiment_from(plain, protocol).model_dump(mode="json")
    fields = {*named, "scoring.extraction", *(f"agent.{field}" for field in expected["agent"].keys() - _OF_NO_EPISODE)}
    fields |= {f"suite.{field}" for field in ("questions",) if field in expected["suite"]}
    pairs = (pair for field in sorted(fields) for pair in _values(field, named.get(field), expected, config))
    return [(field, value, actual) for field, value, actual in pairs if value != actual]


def published_differences(config: Mapping[str, Any]) -> list[Difference]:
    """Return the fields in which a run differs from the published one whose figures its `reference` names.

    That is the built-in experiment with this reference under the protocol `paper`. Models, seed and store are free; a
    run may have a part of the settings, and of the graphs if their entries are the same.
    """
    files = shipped_experiments().items()
    same = [name for name, path in files if YamlFile.read(path).data.get("reference") == config.get("reference")]
    published = (load_experiment(name, (), {"protocol": "paper"}).model_dump(mode="json") for name in same)
    return min((_differences(one, config) for one in published), key=len, default=[])


def _differences(published: Mapping[str, Any], config: Mapping[str, Any]) -> list[Difference]:
    fields = ["protocol", "repeats", "limit", "settings", "extractor", "scoring.extraction"]
    fields += [f"suite.{field}" for field in published["suite"]]
    fields += [f"agent.{field}" for field in published["agent"].keys() - _OF_NO_EPISODE]
    if config.get("protocol", OWN) != published["protocol"]:
        # The protocol is the source of the fields that it sets.
        fields = [field for field in fields if field not in protocols()[published["protocol"]][config["suite"]["name"]]]
    pairs = (pair for field in fields for pair in _values(field, None, published, config))
    return [(field, value, actual) for field, value, actual in pairs if not _is_part(actual, value)]


def _is_part(part: Any, whole: Any) -> bool:
    """Return True for equal values, lists of a part of the entries, and mappings whose lists are such parts."""
    if isinstance(part, list) and isinstance(whole, list):
        return all(any(_is_part(entry, other) for other in whole) for entry in part)
    if isinstance(part, dict) and isinstance(whole, dict):
        return part.keys() == whole.keys() and all(_is_part(value, whole[name]) for name, value in part.items())
    return bool(part == whole)


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

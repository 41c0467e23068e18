"""Protocols: the fields of an experiment that follow the papers (templates/protocols/NAME.yaml, docs/protocol.md)."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from graphwalk.config.yaml_files import YamlFile, set_dotted
from graphwalk.files.resources import data_path

DEFAULT_PROTOCOL = "graphwalk"


@cache
def protocols() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return protocol → suite → dotted field → value. `graphwalk` sets no field."""
    files = sorted(data_path("templates").glob("protocols/*.yaml"))
    return {DEFAULT_PROTOCOL: {}, **{path.stem: YamlFile.read(path).data for path in files}}


def apply_protocol(data: dict[str, Any]) -> None:
    """Set the fields of the experiment's protocol that the experiment leaves open."""
    suite = data.get("suite")
    name = suite.get("name") if isinstance(suite, dict) else None
    for key, value in protocols().get(str(data.get("protocol", DEFAULT_PROTOCOL)), {}).get(str(name), {}).items():
        _set_open(data, key, value)


def _set_open(data: Any, key: str, value: Any) -> None:
    """Set a dotted field in all places where it is missing; `*` is every entry of a list."""
    head, _, rest = key.partition(".")
    if head == "*":
        for entry in data if isinstance(data, list) else ():
            _set_open(entry, rest, value)
    elif isinstance(data, dict):
        if rest and isinstance(data.get(head), dict | list):
            _set_open(data[head], rest, value)
        elif data.get(head) is None and not (head in data and not rest):
            set_dotted(data, key, value, key)

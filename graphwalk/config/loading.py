"""Reading experiments: a YAML file by name or path, overrides on top, errors that name file, line and field."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from graphwalk.config.experiment import ExperimentConfig
from graphwalk.errors import ConfigError
from graphwalk.resources import data_path, quote

M = TypeVar("M", bound=BaseModel)


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
    missing = f"there is no file {name}" if path.suffix in (".yaml", ".yml") else f"there is no experiment {name!r}"
    raise ConfigError(missing, hint=f"known experiments: {', '.join(shipped)}; or give the path of a YAML file")


def load_experiment(
    name: str, overrides: Sequence[str] = (), flags: Mapping[str, Any] | None = None
) -> ExperimentConfig:
    """An experiment with `key=value` overrides (dotted keys, YAML values) and then `flags` (dotted keys) applied.

    In a dotted key `*` stands for every element of a list: `suite.graphs.*.count=3`. ConfigError names the file and
    line of a mistake, or the override that brought it in.
    """
    path = find_experiment(name)
    tree = read_yaml(path)
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: an experiment is a mapping of fields, this is a {type(data).__name__}")
    origins: dict[str, str] = {}
    for override in overrides:
        key, sign, text = override.partition("=")
        if not sign or not key:
            raise ConfigError(f"-o {override}: expected key=value, for example -o seed=7")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ConfigError(f"-o {override}: the value is not YAML: {_problem(error)}") from error
        origins[key.strip()] = f"-o {override}"
        set_dotted(data, key.strip(), value, f"-o {override}")
    for key, value in (flags or {}).items():
        origins[key] = f"{key}={value}"
        set_dotted(data, key, value, key)
    return validate(ExperimentConfig, data, str(path), tree, origins)


def read_yaml(path: Path) -> yaml.Node | None:
    """The node tree of a YAML file, which knows the lines. ConfigError where it cannot be read or parsed."""
    try:
        return yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise ConfigError(f"{where}: not valid YAML: {_problem(error)}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


def validate(
    model: type[M],
    data: Any,
    source: str,
    tree: yaml.Node | None = None,
    origins: Mapping[str, str] | None = None,
) -> M:
    """`data` as `model`; ConfigError names source, line (where `tree` knows it) and field of every mistake.

    `origins` are the words by which somebody set a field (dotted key) over what the source says.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        known = set(_field_names(model.model_json_schema()))
        lines = [_describe(source, tree, origins or {}, e["loc"], _message(e, known)) for e in error.errors()]
        raise ConfigError("\n".join(dict.fromkeys(lines))) from error


def set_dotted(data: Any, key: str, value: Any, source: str) -> None:
    """Set a value deep inside nested mappings and lists; mappings on the way are made where they are missing."""
    head, _, rest = key.partition(".")
    if isinstance(data, list):
        if head != "*" and not (head.isdecimal() and int(head) < len(data)):
            raise ConfigError(f"{source}: {head!r} is no element of a list of {len(data)} (numbered from 0; * for all)")
        places: list[Any] = list(range(len(data))) if head == "*" else [int(head)]
    elif isinstance(data, dict):
        places = [head]
    else:
        raise ConfigError(f"{source}: {head!r} cannot be set inside a plain value")
    for place in places:
        if not rest:
            data[place] = value
            continue
        if isinstance(data, dict) and data.get(place) is None:
            data[place] = {}
        set_dotted(data[place], rest, value, source)


def _describe(
    source: str, tree: yaml.Node | None, origins: Mapping[str, str], location: Sequence[int | str], message: str
) -> str:
    line, fields = _locate(tree, location)
    where, named = f"{source}:{line}" if line else source, fields
    for key, words in origins.items():
        parts = key.split(".")
        if len(parts) <= len(fields) and all(part in ("*", field) for part, field in zip(parts, fields, strict=False)):
            where, named = words, fields if len(parts) < len(fields) else []
    return ": ".join([where, *([".".join(named)] if named else []), message])


def _message(error: Any, known: set[str]) -> str:
    """What pydantic found wrong, in words for somebody who does not know pydantic."""
    if error["type"] == "extra_forbidden":
        close = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        return "there is no such field" + (f"; did you mean {close[0]}?" if close else "")
    message: str = error["msg"].removeprefix("Value error, ")
    given = error["input"]
    plain = isinstance(given, str | int | float | None) and not error["msg"].startswith("Value error")
    return f"{message}, not {quote(given)}" if plain and error["type"] != "missing" else message


def _field_names(schema: Any) -> Iterator[str]:
    """The names of all fields in a JSON schema, at whatever depth."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        for value in schema.values():
            yield from _field_names(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _field_names(value)


def _locate(tree: yaml.Node | None, location: Sequence[int | str]) -> tuple[int | None, list[str]]:
    """Line and fields of a pydantic location; its tags of unions are no part of the file and are skipped."""
    node, fields = tree, []
    line = None if tree is None else tree.start_mark.line + 1
    for part in location:
        child = _child(node, part)
        if child is None and _is_tag(node, part):
            continue
        fields.append(str(part))
        node = child
        if node is not None:
            line = node.start_mark.line + 1
    return line, fields


def _is_tag(node: yaml.Node | None, part: int | str) -> bool:
    """True for the name of a suite, by which pydantic tells which of several models it means."""
    name = _child(node, "name")
    return isinstance(name, yaml.ScalarNode) and name.value == part


def _child(node: yaml.Node | None, part: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        found: yaml.Node = node.value[part]
        return found
    return None


def _problem(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or error)

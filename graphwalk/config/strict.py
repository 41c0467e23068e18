"""Strict configurations: base classes without unknown fields, YAML files, and messages about what is wrong in them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, ValidationInfo

from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.sanitise import quote, secret_fields

MOST = 100_000
"""Most graphs of a kind, tasks about a graph, and episodes of a task: more would fill the memory."""


class Strict(BaseModel):
    """A part of a configuration. Defaults are validated: 3600 and 3600.0 would give two fingerprints."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True, use_attribute_docstrings=True
    )


class Spec(Strict):
    """Something that can be generated."""

    count: int = Field(default=1, ge=1, le=MOST)
    """Number of this kind."""


class SuiteConfig(Strict):
    """The `suite` of an experiment; base class of the configuration of each suite."""

    rewording: ClassVar[tuple[str, ...]] = ()
    """Fields that change only the words of the questions; an experiment may vary them."""
    graphs_field: ClassVar[str] = "graphs"
    """Field that lists the graphs to generate; its entries have a `count`."""
    name: str

    @property
    def foreign(self) -> bool:
        """True if the graphs are not generated; they may be large and have long values."""
        return False

    @property
    def graph_count(self) -> int:
        """The number of graphs, mazes or traces."""
        return sum(getattr(entry, "count", 1) for entry in getattr(self, self.graphs_field))

    def texts(self) -> Mapping[str, str]:
        """Return the additional texts that models read: file name in the run folder → text."""
        return {}


class TypedText(str):
    """A text from the command line or a Python call; a path in it is relative to the working directory."""

    __slots__ = ()


def as_typed(value: Any) -> Any:
    """Return the value with each text in it as a `TypedText`."""
    if isinstance(value, dict):
        return {name: as_typed(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_typed(one) for one in value]
    return TypedText(value) if isinstance(value, str) else value


def absolute(text: str | Path, info: ValidationInfo) -> Path:
    """Return an absolute path; a relative one is relative to the folder of the file that names it (`validate`)."""
    folder = None if isinstance(text, TypedText) else (info.context or {}).get("folder")
    return (Path(folder or ".") / Path(text).expanduser()).resolve()


def existing_file(path: Any, info: ValidationInfo) -> Any:
    """Return a path as an absolute one. Raise ValueError if there is no such file or folder."""
    if not isinstance(path, str | Path):
        return path
    whole = absolute(path, info)
    if not whole.exists():
        raise ValueError(f"there is no file or folder {whole}")
    return whole


ExistingFile = Annotated[Path, BeforeValidator(existing_file)]
"""The path of an existing file or folder."""


def _existing_path(text: Any, info: ValidationInfo) -> Any:
    return str(existing_file(text, info)) if isinstance(text, str) and is_path(text) else text


def _without_secrets(settings: dict[str, Any]) -> dict[str, Any]:
    for place in secret_fields(settings):
        raise ValueError(f"{place} is named like a secret, and is logged; set it in the environment (docs/models.md)")
    return settings


LoggedSettings = Annotated[dict[str, Any], AfterValidator(_without_secrets)]
"""Settings of a provider or a library, by its names; a text named like a secret is refused at any depth."""


def is_path(text: str) -> bool:
    """Return True for a path of a file, False for the name of something built in."""
    return "/" in text or text.endswith((".yaml", ".yml"))


NameOrPath = Annotated[str, BeforeValidator(_existing_path)]
"""The name of something built in, or the path of a file: `node_count`, `./my_question.yaml`."""


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses repeated fields."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        lines: dict[Any, int] = {}
        for name, _ in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value in lines:
                twice = f"the field {name.value!r} is given twice, first in line {lines[name.value]}"
                raise yaml.constructor.ConstructorError(None, None, twice, name.start_mark)
            if isinstance(name, yaml.ScalarNode):
                lines[name.value] = name.start_mark.line + 1
        return super().construct_mapping(node, deep)


_REDUNDANT = re.compile(r" or instance of \w+| for <class \S+>| after validation.*|, (?:unable to|got) .*")
"""Parts of pydantic's messages that repeat what follows, or name our classes."""


def in_words(error: Any, model: type[BaseModel] | None = None) -> str:
    """Return the message for one of pydantic's errors; `model`: the class whose fields are suggested."""
    if error["type"] == "extra_forbidden":
        name = str(error["loc"][-1])
        fields = frozenset() if model is None else _field_names(model) - {name}
        return f"there is no such field{did_you_mean(name, fields)}"
    if error["type"] in ("value_error", "assertion_error"):
        return str(error["msg"]).partition(", ")[2]
    if error["type"] == "missing":
        return "is missing"
    words = _REDUNDANT.sub("", str(error["msg"]))
    for ours, theirs in (("must", "Input should"), ("is", "Input is"), ("List", "Tuple"), ("list", "tuple")):
        words = words.replace(theirs, ours)
    text = shown(error["input"])
    a_list = error["type"] in ("tuple_type", "list_type") and isinstance(error["input"], str)
    return f"{words}, not {text}" + (f"; write [{text}]" if a_list else "")


def shown(value: Any) -> str:
    """Return a value as an error message shows it; lists and mappings by their kind."""
    if value is None:
        return "empty"
    if isinstance(value, dict):
        return "a mapping of fields"
    if isinstance(value, list | tuple):
        return "an empty list" if not value else "a list"
    return str(quote(value))


M = TypeVar("M", bound=BaseModel)
_UNION_TAG = re.compile(r"\(.*\)")
"""The member of a union in a location, `(own)`, which is no field."""


@dataclass(frozen=True)
class YamlFile:
    """A YAML file: its text, data, and node tree with the lines."""

    path: Path
    text: str
    data: Any
    tree: yaml.Node | None

    @classmethod
    def read(cls, path: Path) -> "YamlFile":
        """Read a file. Raise ConfigError, with the line if known, if it cannot be read, or is not plain data."""
        try:
            text = path.read_text(encoding="utf-8")
            loader = _Loader(text)
            tree = loader.get_single_node()
            return cls(path, text, None if tree is None else loader.construct_document(tree), tree)
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}: cannot be read: not UTF-8 text") from error
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
        except _NOT_YAML as error:
            mark = getattr(error, "problem_mark", None)
            where = f"{path}:{mark.line + 1}" if mark else str(path)
            raise ConfigError(f"{where}: not valid YAML: {_problem(error)}") from error

    def where(self, *fields: int | str) -> str:
        """Return file, line and field, as messages begin: `questions/mine.yaml:7: cypher`."""
        line, names = _locate(self.tree, fields)
        return f"{self.path}{f':{line}' if line else ''}: {'.'.join(names)}"


def parse_value(text: str, source: str) -> Any:
    """Parse a YAML value from the command line. Raise ConfigError with `source` if it is none."""
    try:
        return yaml.load(text, _Loader)
    except _NOT_YAML as error:
        raise ConfigError(f"{source}: the value is not YAML: {_problem(error)}") from error


_NOT_YAML = (yaml.YAMLError, ValueError, RecursionError)
"""ValueError: of a date or a number."""


def _problem(error: Exception) -> str:
    """Return what is wrong with a YAML text, without its place."""
    context, problem = getattr(error, "context", None), getattr(error, "problem", None)
    return ": ".join(filter(None, [context, problem])) or str(error)


def validate(
    model: type[M],
    data: Any,
    source: str,
    tree: yaml.Node | None = None,
    overridden: Collection[str] = (),
    *,
    folder: Path | None = None,
) -> M:
    """Validate `data`. Raise ConfigError with source, line (by `tree`) and field.

    `overridden`: dotted keys that were set by flags and not by the file; `folder`: of the paths in the file.
    """
    try:
        return model.model_validate(data, context={"folder": folder})
    except ValidationError as error:
        errors = error.errors()
        # pydantic also calls a list too short whose entries are all wrong.
        parents = {e["loc"][:depth] for e in errors for depth in range(len(e["loc"]))}
        shown_errors = [e for e in errors if e["type"] != "too_short" or e["loc"] not in parents]
        lines = [_describe(source, tree, overridden, e["loc"], in_words(e, model)) for e in shown_errors]
        raise ConfigError("\n".join(dict.fromkeys(lines))) from error


def set_dotted(data: Any, key: str, value: Any, source: str) -> None:
    """Set a value inside nested mappings and lists; missing mappings are created. `*` in the key: each list entry."""
    head, _, rest = key.partition(".")
    if isinstance(data, list):
        if head != "*" and not (head.isdecimal() and int(head) < len(data)):
            raise ConfigError(f"{source}: the list has no entry {head!r}; it has {len(data)}, from 0 (* for all)")
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
    source: str, tree: yaml.Node | None, overridden: Collection[str], location: Sequence[int | str], message: str
) -> str:
    line, fields = _locate(tree, location)
    field = ".".join(fields)
    for key in overridden if fields else ():
        if all(part in ("*", name) for part, name in zip(key.split("."), fields, strict=False)):
            return f"{field}: {message}"
    where = f"{source}:{line}" if line else source
    return ": ".join([where, *([field] if field else []), message])


@lru_cache(maxsize=64)
def _field_names(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of all fields of a class and of the classes inside it."""
    schema = model.model_json_schema()
    return frozenset(
        name for place in (schema, *schema.get("$defs", {}).values()) for name in place.get("properties", ())
    )


def _locate(tree: yaml.Node | None, location: Sequence[int | str]) -> tuple[int | None, list[str]]:
    """Return line and fields of a pydantic location; the line of its parent if the file does not have the field."""
    node, fields = tree, []
    line = None if tree is None else tree.start_mark.line + 1
    for part in location:
        if _UNION_TAG.fullmatch(str(part)):
            continue
        fields.append(str(part))
        node = _child(node, part)
        if node is not None:
            line = node.start_mark.line + 1
    return line, fields


def _child(node: yaml.Node | None, part: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        child: yaml.Node = node.value[part]
        return child
    return None

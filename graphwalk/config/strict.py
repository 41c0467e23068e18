"""Strict configurations: base classes without unknown fields, and messages about what is wrong in them."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, ValidationInfo

from graphwalk.config.resources import locate
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
        return {name: as_typed(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_typed(item) for item in value]
    if isinstance(value, str):
        return TypedText(value)
    return value


def absolute(text: str | Path, info: ValidationInfo) -> Path:
    """Return an absolute path; a relative one is relative to the folder of the file that names it (`validate`)."""
    folder = None
    if info.context is not None and not isinstance(text, TypedText):
        folder = info.context.get("folder")
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
    if isinstance(text, str) and is_path(text):
        return str(existing_file(text, info))
    return text


def _fit_to_be_logged(settings: dict[str, Any]) -> dict[str, Any]:
    for place in secret_fields(settings):
        raise ValueError(f"{place} is named like a secret, and is logged; set it in the environment (docs/models.md)")
    if not _is_finite(settings):
        raise ValueError("a number in it is not finite; JSON, in which it is sent and logged, has no NaN or infinity")
    return settings


def _is_finite(value: Any) -> bool:
    """Return False for NaN or infinity at any depth."""
    if isinstance(value, dict):
        return all(_is_finite(item) for item in value.values())
    if isinstance(value, list | tuple):
        return all(_is_finite(item) for item in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return True


LoggedSettings = Annotated[dict[str, Any], AfterValidator(_fit_to_be_logged)]
"""Settings of a provider or a library, by its names; at any depth, a text named like a secret and NaN are refused."""


def is_path(text: str) -> bool:
    """Return True for a path of a file, False for the name of something built in."""
    return "/" in text or text.endswith((".yaml", ".yml"))


NameOrPath = Annotated[str, BeforeValidator(_existing_path)]
"""The name of something built in, or the path of a file: `node_count`, `./my_question.yaml`."""


_REDUNDANT = re.compile(r" or instance of \w+| for <class \S+>| after validation.*|, (?:unable to|got) .*")
"""Parts of pydantic's messages that repeat what follows, or name our classes."""


def in_words(error: Any, model: type[BaseModel] | None = None) -> str:
    """Return the message for one of pydantic's errors; `model`: the class whose fields are suggested."""
    if error["type"] == "extra_forbidden":
        name = str(error["loc"][-1])
        fields = frozenset() if model is None else _field_names(model) - {name}
        return f"there is no such field{did_you_mean(name, fields)}"
    if error["type"] in ("value_error", "assertion_error"):
        # Value error, give density or mean_degree, not both
        _, _, our_message = str(error["msg"]).partition(", ")
        return our_message
    if error["type"] == "missing":
        return "is missing"
    # Input should be a valid integer, unable to parse string as an integer
    words = _REDUNDANT.sub("", str(error["msg"]))
    for ours, theirs in (("must", "Input should"), ("is", "Input is"), ("List", "Tuple"), ("list", "tuple")):
        words = words.replace(theirs, ours)
    text = short_text(error["input"])
    message = f"{words}, not {text}"
    # models: openai/gpt-4.1
    if error["type"] in ("tuple_type", "list_type") and isinstance(error["input"], str):
        message += f"; write [{text}]"
    return message


def short_text(value: Any) -> str:
    """Return a value as an error message shows it; lists and mappings by their kind."""
    if value is None:
        return "empty"
    if isinstance(value, dict):
        return "a mapping of fields"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return str(quote(value))


M = TypeVar("M", bound=BaseModel)


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
        # ("models", 0) is a parent of the error at ("models", 0, "name").
        parents: set[tuple[int | str, ...]] = set()
        for detail in errors:
            location = detail["loc"]
            parents.update(location[:depth] for depth in range(len(location)))

        lines: list[str] = []
        for detail in errors:
            # pydantic also calls a list too short whose entries are all wrong.
            if detail["type"] == "too_short" and detail["loc"] in parents:
                continue
            line = _describe(source, tree, overridden, detail["loc"], in_words(detail, model))
            if line not in lines:
                lines.append(line)
        raise ConfigError("\n".join(lines)) from error


def set_dotted(data: Any, key: str, value: Any, source: str) -> None:
    """Set a value inside nested mappings and lists; missing mappings are created. `*` in the key: each list entry."""
    head, _, rest = key.partition(".")
    places: list[Any]
    # suite.graphs.*.nodes
    if isinstance(data, list) and head == "*":
        places = list(range(len(data)))
    elif isinstance(data, list):
        if not head.isdecimal() or int(head) >= len(data):
            raise ConfigError(f"{source}: the list has no entry {head!r}; it has {len(data)}, from 0 (* for all)")
        places = [int(head)]
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
    """Return `mine.yaml:7: suite.graphs.0.nodes: must be at least 2`, without the file if a flag set the field."""
    line, fields = locate(tree, location)
    where = f"{source}:{line}" if line else source
    if not fields:
        return f"{where}: {message}"
    field = ".".join(fields)
    if any(_is_at(fields, key) for key in overridden):
        return f"{field}: {message}"
    return f"{where}: {field}: {message}"


def _is_at(fields: Sequence[str], key: str) -> bool:
    """Return True if a field is the one that a dotted key names, or above or inside it; `*` is each list entry."""
    return all(part in ("*", name) for part, name in zip(key.split("."), fields, strict=False))


@lru_cache(maxsize=64)
def _field_names(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of all fields of a class and of the classes inside it."""
    schema = model.model_json_schema()
    names = set(schema.get("properties", ()))
    for inner in schema.get("$defs", {}).values():
        names.update(inner.get("properties", ()))
    return frozenset(names)

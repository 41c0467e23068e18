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


def _fit_to_be_logged(settings: dict[str, Any]) -> dict[str, Any]:
    for place in secret_fields(settings):
        raise ValueError(f"{place} is named like a secret, and is logged; set it in the environment (docs/models.md)")
    if not _is_finite(settings):
        raise ValueError("a number in it is not finite; JSON, in which it is sent and logged, has no NaN or infinity")
    return settings


def _is_finite(value: Any) -> bool:
    """Return False for NaN or infinity at any depth."""
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


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
    line, fields = locate(tree, location)
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

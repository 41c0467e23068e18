"""Variants of an experiment, played on the same tasks: every combination of the values in `vary`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from pydantic import BaseModel, ValidationError, ValidationInfo

from graphwalk.config.strict import is_path
from graphwalk.config.yaml_files import in_words

MOST_VARIANTS = 100
_PARTS = ("agent", "options", "suite")
_UNSAFE = re.compile(r"[^\w.+-]+")


def checked(vary: Mapping[str, Sequence[Any]], info: ValidationInfo) -> dict[str, tuple[Any, ...]]:
    """Return `vary` with valid values, paths absolute. Raise ValueError for an unknown field or a bad value."""
    config, context = info.data, info.context
    if not config.keys() >= set(_PARTS):  # one of them is refused, with an error of its own
        return dict(vary)  # type: ignore[arg-type]
    values_by_field = {field: tuple(_value(field, value, config, context) for value in vary[field]) for field in vary}
    for field, values in values_by_field.items():
        if not values:
            raise ValueError(f"{field}: needs at least one value")
    names = [name for name, _ in combinations(values_by_field)] if values_by_field else []
    if len(names) > MOST_VARIANTS:
        raise ValueError(f"it has {len(names):,} combinations, more than {MOST_VARIANTS}")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two variants are named {twice}; list each value once")
    return values_by_field


def _value(field: str, value: Any, config: Mapping[str, Any], context: Any) -> Any:
    part_name, _, name = field.partition(".")
    part = config.get(part_name)
    fields: Sequence[str] = ()
    if part_name in _PARTS and isinstance(part, BaseModel):  # of a suite only the fields that reword its questions
        fields = getattr(part, "rewording", tuple(type(part).model_fields))
    if name not in fields:
        raise ValueError(f"{field} cannot be varied; use a field of agent or options, or suite.wording for questions")
    assert isinstance(part, BaseModel)
    try:
        return overridden(part, {name: value}, context).model_dump(mode="json")[name]
    except ValidationError as error:
        raise ValueError(f"{field}: {in_words(error.errors()[0])}") from error
    except KeyError:  # the field is left out of the dump at its default
        return value


def overridden(part: BaseModel, overrides: Mapping[str, Any], context: Any = None) -> BaseModel:
    """Return a part of an experiment with other values. Raise ValidationError for a bad one."""
    return type(part).model_validate({**part.model_dump(mode="json"), **overrides}, context=context)


def combinations(vary: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and overrides (field → value) of each variant: `turn_limit=5`, or `wording=b,tool_words=short`."""
    for values in product(*vary.values()):
        overrides = dict(zip(vary, values, strict=True))
        yield ",".join(f"{field.partition('.')[2]}={_label(value)}" for field, value in overrides.items()), overrides


def _label(value: Any) -> str:
    """Return a value as a part of a name, without spaces, commas and slashes."""
    if isinstance(value, list | tuple):
        return "+".join(map(_label, value)) or "none"
    if isinstance(value, str) and is_path(value):
        value = value.rstrip("/").rpartition("/")[2]
    words = {None: "default", True: "true", False: "false"}
    return words[value] if value is None or isinstance(value, bool) else _UNSAFE.sub("-", str(value))

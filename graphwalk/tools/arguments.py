"""From the text that a model sends as arguments to identifiers and values of a query, or to a helpful message."""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.resources import quote
from graphwalk.tools.messages import ToolMistake
from graphwalk.tools.readings import as_list
from graphwalk.tools.tool import ENTITY_TYPES, Tool
from graphwalk.types.schema import NO_LABEL, NO_NAME, Schema
from graphwalk.types.values import Value

Arguments = dict[str, Any]

_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", list: "list", dict: "object"}
_LONGEST_NAME = 100
_CLOSE = 3
_LISTED = 10
"""Of more names than this, the closest are listed."""


@dataclass(frozen=True)
class Checked:
    """Arguments that fit a tool: `identifiers` exist in the schema, `values` go into the query as parameters."""

    identifiers: Mapping[str, str]
    values: Mapping[str, Value]


def parse_arguments(tool: Tool, text: str) -> Arguments:
    """Return the JSON object in `text`, {} for empty text. Else raise ToolMistake "bad_json"."""
    try:
        data = _DECODER.decode(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        raise _bad_json(tool, f"{error.msg} at character {error.pos + 1}, so this is not JSON") from error
    except RecursionError as error:
        raise _bad_json(tool, "they are nested too deeply") from error
    except _NotPlain as error:
        raise _bad_json(tool, str(error)) from error
    except ValueError as error:
        raise _bad_json(tool, "a number in them has too many digits") from error
    if not isinstance(data, dict):
        raise _bad_json(tool, f"they are not an object but {_kind(data)}")
    return data


def check_shape(tool: Tool, arguments: Arguments, optional: Sequence[str] = (), *, lists: bool = False) -> None:
    """ToolMistake "bad_arguments" where an argument is missing, unexpected or of a wrong type.

    `lists`: values may be lists, which become tuples.
    """
    parameters = [*tool.parameters, *optional]
    missing = [name for name in tool.parameters if name in tool.required and name not in arguments]
    unexpected = [name for name in arguments if name not in parameters]
    if missing:
        raise ToolMistake("bad_arguments", "missing", tool=tool.name, names=missing, parameters=parameters)
    if unexpected:
        names = [quote(name) for name in unexpected[:_CLOSE]]
        raise ToolMistake("bad_arguments", "unexpected", tool=tool.name, names=names, parameters=parameters)
    for name, value in arguments.items():
        parameter = tool.parameters.get(name)
        types = ("integer",) if parameter is None else parameter.types
        if lists and parameter is not None and parameter.role == "value":
            types = (*types, "list")
            if isinstance(value, list) and (items := as_list(value)) is not None:
                arguments[name] = items
                continue
        if not _fits(value, types) or isinstance(value, list):
            given = _kind(value)
            raise ToolMistake("bad_arguments", "wrong_type", tool=tool.name, name=name, expected=types, given=given)


def check_names(tool: Tool, arguments: Arguments, schema: Schema) -> Checked:
    """Arguments whose identifiers exist. ToolMistake "unknown_name" lists what there is, the closest names first."""
    identifiers: dict[str, str] = {}
    for name in tool.resolution:
        identifiers[name] = _identifier(tool, name, arguments[name], identifiers, schema)
    return Checked(identifiers, {name: arguments[name] for name in tool.values})


class _NotPlain(Exception):  # noqa: N818 - never leaves this module
    """JSON that Python reads and other programs do not, or not in the same way."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise _NotPlain("a field is given twice")
    return data


def _refuse(constant: str) -> Any:
    raise _NotPlain(f"{constant} is not a JSON value")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)


def _bad_json(tool: Tool, reason: str) -> ToolMistake:
    return ToolMistake("bad_json", "bad_json", tool=tool.name, reason=reason, parameters=list(tool.parameters))


def _kind(value: Any) -> str:
    return "null" if value is None else f"{'an' if type(value) in (int, dict) else 'a'} {_KINDS[type(value)]}"


def _fits(value: Any, types: Sequence[str]) -> bool:
    kind = _KINDS.get(type(value), "null")
    return kind in types or (kind == "integer" and "number" in types)


def _identifier(tool: Tool, name: str, given: str, identifiers: Mapping[str, str], schema: Schema) -> str:
    """Return the name from the schema; `identifiers`: those found so far."""
    parameter = tool.parameters[name]
    if parameter.role == "entity_type":
        return _entity_type(name, given)
    if parameter.role == "property":
        entity = identifiers[parameter.of or ""]
        kind = _entity_kind(tool, parameter.of or "", identifiers)
        return _property(given, kind, entity, schema)
    if _entity_kind(tool, name, identifiers) == "node":
        return _label(given, schema)
    return _known(given, [relationship.type for relationship in schema.relationships], "unknown_type")


def _label(given: str, schema: Schema) -> str:
    """Return a label; "" for nodes without labels, if there are any, written as the schema shows it or not."""
    labels = [node.label for node in schema.nodes]
    if "" in labels and given not in labels and given in (NO_NAME, NO_LABEL):
        return ""
    return _known(given, labels, "unknown_label")


def _entity_kind(tool: Tool, name: str, identifiers: Mapping[str, str]) -> str:
    """node or relationship: what the parameter names."""
    parameter = tool.parameters[name]
    if parameter.role == "entity_name":
        return identifiers[parameter.of or ""]
    return "node" if parameter.role == "label" else "relationship"


def _entity_type(argument: str, given: str) -> str:
    entity_type = given.strip().lower() if len(given) <= _LONGEST_NAME else given
    if entity_type not in ENTITY_TYPES:
        raise ToolMistake("unknown_name", "unknown_entity_type", argument=argument, name=given)
    return entity_type


def _property(given: str, kind: str, entity: str, schema: Schema) -> str:
    found = schema.node(entity) if kind == "node" else schema.relationship(entity)
    names = [property_.name for property_ in found.properties] if found else []
    if found and found.sampled is not None and found.sampled != found.count and given in schema.other_properties:
        return given  # no sample has it, and others may
    return _known(given, names, "unknown_property", entity=f"{kind} {entity}")


def _known(given: str, names: list[str], message: str, **values: Any) -> str:
    if given in names:
        return given
    raise ToolMistake("unknown_name", message, name=given, **listed_names(given, names), **values)


def listed_names(given: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the names to list where there is no `given`: all or the closest, those that may be meant first.

    `close` are those that may be meant, `more` is the number of names that are not listed.
    """
    close = close_names(given, names)
    others = close_names(given, names, _LISTED, 0.0) if len(names) > _LISTED else []
    ordered = [name or NO_NAME for name in dict.fromkeys([*close, *others, *names])][:_LISTED]
    return {"names": ordered, "close": close, "more": len(names) - len(ordered)}


def close_names(given: str, names: Sequence[str], most: int = _CLOSE, cutoff: float = 0.6) -> list[str]:
    """Return likely corrections of a name, best first, ignoring case and Cypher's punctuation."""
    if len(given) > _LONGEST_NAME:
        return []
    plain = given.strip(" :`'\"()").casefold()
    by_plain: dict[str, list[str]] = {}
    for name in names:
        by_plain.setdefault(name.casefold(), []).append(name)
    return [name for match in difflib.get_close_matches(plain, by_plain, most, cutoff) for name in by_plain[match]]

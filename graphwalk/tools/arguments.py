"""From the text that a model sends as arguments to identifiers and values of a query, or to a helpful message."""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.errors import ToolMistake
from graphwalk.graphs.answers import parse_answer_json
from graphwalk.graphs.schema import NO_LABEL, NO_NAME, Schema
from graphwalk.graphs.values import Scalar
from graphwalk.sanitise import quote
from graphwalk.stores.cypher import quotable
from graphwalk.tools.tool import ENUMS, Tool

Arguments = dict[str, Any]

_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", list: "list", dict: "object"}
_KIND_OF_ROLE = {"label": "node", "relationship_type": "relationship"}
"""The kind of an `entity_name` is that of its `entity_type`."""
_LONGEST_NAME = 100
_CLOSE = 3
_LISTED = 10
"""Of more names than this, the closest are listed."""


@dataclass(frozen=True)
class CheckedArguments:
    """Arguments that fit a tool: `identifiers` exist in the schema, None where left out; `values` are looked up."""

    identifiers: Mapping[str, str | None]
    values: Mapping[str, Scalar]


def parse_arguments(tool: Tool, text: str) -> Arguments:
    """Return the JSON object in `text`, {} for empty text. Else raise ToolMistake "bad_json"."""
    try:
        data = json.loads(text) if text.strip() else {}
        if isinstance(data, dict):
            return data
        reason = f"they are not an object but {_kind_in_words(data)}"
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at character {error.pos + 1}, so this is not JSON"
    except (RecursionError, ValueError):
        reason = "they are nested too deeply, or a number in them has too many digits"
    raise ToolMistake("bad_json", "bad_json", tool=tool.name, reason=reason, parameters=list(tool.parameters))


def check_shape(tool: Tool, arguments: Arguments) -> None:
    """Raise ToolMistake "bad_arguments" if an argument is missing, unexpected or of a wrong type.

    An optional argument that is left empty is removed; a number or boolean in quotes, and an integer as 2.0, is read.
    """
    parameters = list(tool.parameters)
    missing = []
    for name, parameter in tool.parameters.items():
        if parameter.optional and name in arguments and _is_empty(arguments[name], parameter.type):
            del arguments[name]
        if not parameter.optional and name not in arguments:
            missing.append(name)
    if missing:
        raise ToolMistake("bad_arguments", "missing", tool=tool.name, names=missing, parameters=parameters)

    unexpected = [name for name in arguments if name not in parameters]
    if unexpected:
        names = [quote(name) for name in unexpected[:_CLOSE]]
        raise ToolMistake("bad_arguments", "unexpected", tool=tool.name, names=names, parameters=parameters)

    for name, value in arguments.items():
        types = tool.parameters[name].type
        typed = as_declared(value, types)
        kind = _KINDS.get(type(typed), "null")
        if kind not in types and not (kind == "integer" and "number" in types):
            values = {"name": name, "expected": types, "given": _kind_in_words(value)}
            raise ToolMistake("bad_arguments", "wrong_type", tool=tool.name, **values)
        arguments[name] = typed


def _is_empty(value: Any, types: Sequence[str]) -> bool:
    """Return True for null, and for text of nothing where no text is declared: `"page": ""`, `"page": "null"`."""
    if isinstance(value, str) and "string" not in types:
        return value.strip() in ("", "null")
    return value is None


def as_declared(value: Any, types: Sequence[str]) -> Any:
    """Return "2" and 2.0 as 2 where an integer is declared, and "true" as true for a boolean."""
    if isinstance(value, str) and "string" not in types:
        value = parse_answer_json(value)
    if isinstance(value, float) and value.is_integer() and "number" not in types:
        value = int(value)
    return value


def _kind_in_words(value: Any) -> str:
    """Return the kind of a JSON value with its article: "an object", "a string", "null"."""
    if value is None:
        return "null"
    kind = _KINDS[type(value)]
    return f"an {kind}" if kind in ("integer", "object") else f"a {kind}"


def check_names(tool: Tool, arguments: Arguments, schema: Schema) -> CheckedArguments:
    """Return arguments whose identifiers exist. Else raise ToolMistake "unknown_name" with the closest names first.

    {"label": "Person", "name": "born", "value": 1980}: the label is checked before its property `born`.
    """
    identifiers: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    """The name of a label or type → whether it is one of nodes or of relationships."""
    owners_first = tool.with_role("entity_type")
    owners_first += tool.with_role("label", "relationship_type", "direction", "entity_name")
    owners_first += tool.with_role("property")

    for name in owners_first:
        parameter = tool.parameters[name]
        argument = arguments.get(name, "")
        owner = parameter.of or ""
        # The label "" is one of its own in a graph that has nodes without labels.
        is_empty_label = parameter.role == "label" and name in arguments and schema.node("") is not None
        if parameter.optional and not argument and not is_empty_label:
            identifiers[name] = None
        elif parameter.role in ENUMS:
            identifiers[name] = argument.strip().lower()
            if identifiers[name] not in ENUMS[parameter.role]:
                raise ToolMistake("unknown_name", f"unknown_{parameter.role}", argument=name, name=argument)
        elif parameter.role == "property":
            identifiers[name] = _checked_property(argument, kinds[owner], identifiers[owner], schema)
        else:
            kinds[name] = _KIND_OF_ROLE.get(parameter.role) or identifiers[owner]
            identifiers[name] = _checked_entity(argument, kinds[name], schema)
    return CheckedArguments(identifiers, {name: arguments[name] for name in tool.with_role("value")})


def _checked_entity(name: str, kind: str, schema: Schema) -> str:
    """Return a label or relationship type of the schema, "" for nodes without labels."""
    if kind == "relationship":
        return _checked_name(name, [each.type for each in schema.relationships], "unknown_type")
    labels = [node.label for node in schema.nodes]
    if "" in labels and name not in labels and name in (NO_NAME, NO_LABEL):
        return ""  # as the schema shows it
    return _checked_name(name, labels, "unknown_label")


def _checked_property(name: str, kind: str, entity: str, schema: Schema) -> str:
    owner = schema.node(entity) if kind == "node" else schema.relationship(entity)
    names: list[str] = []
    if owner is not None:
        can_exist = len(name) <= _LONGEST_NAME and quotable(name) and is_storable(name)
        if owner.limited and can_exist:
            return name  # the schema may lack it
        names = [property_.name for property_ in owner.properties]
    return _checked_name(name, names, "unknown_property", entity=f"{kind} {entity}")


def _checked_name(name: str, names: list[str], message: str, **values: Any) -> str:
    if name in names:
        return name

    close = close_names(name, names)
    best_first = list(close)
    if len(names) > _LISTED:
        best_first += close_names(name, names, _LISTED, 0.0)
    best_first += names
    distinct = list(dict.fromkeys(best_first))
    listed = [each or NO_NAME for each in distinct[:_LISTED]]
    values |= {"names": listed, "close": close, "more": len(names) - len(listed)}
    raise ToolMistake("unknown_name", message, name=name, **values)


def close_names(sought: str, names: Sequence[str], most: int = _CLOSE, cutoff: float = 0.6) -> list[str]:
    """Return likely corrections of a name, best first, ignoring case and Cypher's punctuation."""
    if len(sought) > _LONGEST_NAME:
        return []
    plain = sought.strip(" :`'\"()").casefold()
    by_plain: dict[str, list[str]] = {}
    for name in names:
        by_plain.setdefault(name.casefold(), []).append(name)

    close: list[str] = []
    for match in difflib.get_close_matches(plain, by_plain, most, cutoff):
        close.extend(by_plain[match])
    return close


_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_LONGEST_NUMBER = 400
_INT64 = 2**63
_SURROGATE = re.compile("[\ud800-\udfff]")


def other_reading(value: Scalar) -> Scalar | None:
    """Return a value as another type: a number or boolean as text, text as the number or boolean that it writes."""
    if not isinstance(value, str):
        return json.dumps(value)
    if len(value) <= _LONGEST_NUMBER and _NUMBER.fullmatch(value):
        return int(value) if value.strip().lstrip("+-").isdecimal() else float(value)
    return {"true": True, "false": False}.get(value)


def is_storable(value: Scalar) -> bool:
    """Return False for a value that no property can have: text that is no Unicode, integers beyond 64 bits."""
    if isinstance(value, str):
        return _SURROGATE.search(value) is None
    return not isinstance(value, int) or -_INT64 <= value < _INT64

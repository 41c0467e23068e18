"""Values, bounds and checks that all graph formats share."""

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar
from xml.etree.ElementTree import ParseError

from graphwalk.errors import ConfigError
from graphwalk.files.writing import write_whole
from graphwalk.graphs.graph import KEY, OUR_PREFIX, Node, PropertyGraph, Relationship, is_reserved
from graphwalk.graphs.temporals import TEMPORAL_FUNCTIONS, read_temporal, temporal_of
from graphwalk.graphs.values import Point, Temporal, Value, shown
from graphwalk.version import SCHEMA_VERSION

V = TypeVar("V")


def read_text(path: Path) -> str:
    """Return the UTF-8 text of a file, with its line ends. Raise OSError or UnicodeDecodeError."""
    return path.read_bytes().decode("utf-8-sig")


_LONGEST_QUOTE = 100
_SINGLE = (str, int, float, bool, Temporal, Point, bytes)


def checked_properties(where: str, properties: Mapping[Any, Any]) -> dict[str, Value]:
    """Return properties that a graph can hold, without None: lists as tuples of one kind, dates as `Temporal`.

    Raise ValueError with place and property for anything else.
    """
    checked: dict[str, Value] = {}
    for name, value in properties.items():
        if not isinstance(name, str) or not name or not _is_unicode(name):
            raise ValueError(f"{where}: {brief(name)} cannot be a property name")
        if value is None:
            continue
        try:
            if isinstance(value, list | tuple):
                checked[name] = _checked_list([_checked_single(item) for item in value])
            else:
                checked[name] = _checked_single(value)
        except ValueError as error:
            raise ValueError(f"{where}, property {name!r}: {error}") from None
    return checked


def checked_text(where: str, value: Any) -> str:
    """Return a key, label or type. Raise ValueError unless it is non-empty text."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{where} must be text, not {brief(value)}")
    if not _is_unicode(value):
        raise ValueError(f"{where}: {brief(value)} is not valid Unicode text")
    return value


def checked_labels(where: str, labels: Iterable[Any]) -> tuple[str, ...]:
    """Return the labels, sorted and distinct. Raise ValueError for an invalid or reserved label."""
    distinct = sorted({checked_text(f"{where}, label", label) for label in labels})
    for label in filter(is_reserved, distinct):
        raise ValueError(
            f"{where} has the label {label!r}; GraphWalk finds its own graphs in a Neo4j by labels that "
            f"begin with {OUR_PREFIX}, so rename it"
        )
    return tuple(distinct)


def checked_key(where: str, value: Any) -> str:
    """Return the key of a node, or of the end of a relationship: text, or an integer, which becomes text."""
    if type(value) is int:
        return str(_checked_single(value))
    return checked_text(where, value)


def checked_node(where: str, key: Any, labels: Iterable[Any], properties: Mapping[Any, Any]) -> Node:
    """Return a node; a property `key` that is not its key becomes `key_`. Raise ValueError if it cannot be used.

    `where`: its place in a file, for messages.
    """
    name = checked_key(f"{where}, key", key)
    return Node(name, checked_labels(where, labels), apart_from_key(checked_properties(where, properties), name))


def checked_relationship(
    where: str, type_: Any, source: Any, target: Any, properties: Mapping[Any, Any]
) -> Relationship:
    """Return a relationship. Raise ValueError if it cannot be used."""
    return Relationship(
        checked_text(f"{where}, type", type_),
        checked_key(f"{where}, source", source),
        checked_key(f"{where}, target", target),
        checked_properties(where, properties),
    )


def brief(value: Any) -> str:
    """Return a value for a message, shortened if long."""
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…"


def _checked_single(value: Any) -> Value:
    if isinstance(value, dt.date | dt.time | dt.timedelta):
        return temporal_of(value)
    if type(value) not in _SINGLE:
        raise ValueError(
            f"a value must be text, a number, a boolean, a date, a time, a point or a list of these, not {brief(value)}"
        )
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{brief(value)} does not fit into 64 bits")
    if isinstance(value, str) and not _is_unicode(value):
        raise ValueError(f"{brief(value)} is not valid Unicode text")
    return value  # type: ignore[no-any-return]


def _checked_list(items: list[Value]) -> tuple[Value, ...]:
    kinds = {item.kind if isinstance(item, Temporal) else type(item).__name__ for item in items}
    if kinds == {"int", "float"}:
        return tuple(float(item) for item in items)  # type: ignore[arg-type]
    if len(kinds) > 1:
        raise ValueError(f"a list holds values of one kind, not of {', '.join(sorted(kinds))}")
    return tuple(items)


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


_SYSTEMS = {"cartesian": 7203, "cartesian-3d": 9157, "wgs-84": 4326, "wgs-84-3d": 4979}
"""Numbers of Neo4j's coordinate systems."""
_AXES = {"longitude": "x", "latitude": "y", "height": "z"}


def point_of(fields: Mapping[str, Any]) -> Point:
    """Return the point with x, y, z or longitude, latitude, height, and `srid` or `crs`, as in Cypher.

    Raise ValueError unless Neo4j has such a coordinate system with as many axes.
    """
    named = {_AXES.get(name, name): value for name, value in fields.items() if value is not None}
    coordinates = [named.pop(axis) for axis in ("x", "y", "z") if axis in named]
    default = ("wgs-84" if "longitude" in fields else "cartesian") + ("-3d" if len(coordinates) == 3 else "")
    system = str(named.pop("crs", default)).lower()
    srid = named.pop("srid", _SYSTEMS.get(system, system))
    if named:
        raise ValueError(f"{brief(dict(fields))} is not a point")
    if type(srid) is not int or srid not in _SYSTEMS.values() or len(coordinates) != (3 if srid in (4979, 9157) else 2):
        raise ValueError(f"no coordinate system {brief(srid)} has {len(coordinates)} coordinates")
    if not all(type(number) in (int, float) for number in coordinates):
        raise ValueError(f"the coordinates of a point are numbers, not {brief(coordinates)}")
    return Point(srid, tuple(map(float, coordinates)))


_DAMAGE = (ValueError, ArithmeticError, ParseError, OSError, RecursionError, MemoryError)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write the lines of a graph. Raise ConfigError if that fails."""
    write_whole(path, (f"{line}\n" for line in lines))


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn any error while a graph file is read into a ConfigError that names the file."""
    try:
        yield
    except _DAMAGE as error:
        raise ConfigError(f"cannot read the graph {path}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OSError):
        return f"{error.strerror or error}; check the path"
    return str(error) or "it is too large for the memory of this machine"


def header(graph: PropertyGraph) -> dict[str, Any]:
    """Return the origin of a graph, as every format records it."""
    return {"schema_version": SCHEMA_VERSION, "seed": graph.seed, "spec": dict(graph.spec)}


def checked_header(header: Mapping[str, Any]) -> tuple[int | None, dict[str, Any]]:
    """Return seed and spec of a header, (None, {}) without one. Raise ValueError for another version or damage."""
    if "schema_version" not in header:
        return None, {}
    version, seed, spec = header["schema_version"], header.get("seed"), header.get("spec")
    if version != SCHEMA_VERSION:
        raise ValueError(f"schema_version is {version!r}, this version of GraphWalk reads {SCHEMA_VERSION}")
    if seed is not None and type(seed) is not int:
        raise ValueError(f"seed must be a whole number or null, not {seed!r}")
    if spec is not None and not isinstance(spec, dict):
        raise ValueError(f"spec must be an object, not {spec!r}")
    return seed, spec or {}


def by_name(properties: Mapping[str, V]) -> dict[str, V]:
    """Return properties sorted by name, so that files do not depend on the order of insertion."""
    return dict(sorted(properties.items()))


Undirected = Literal["refuse", "both"]
"""Reading of an undirected edge: an error, or two relationships, there and back (one for a loop)."""

UNDIRECTED = (
    'a property graph has directions, so choose: undirected="both" (graphwalk export graph FILE OUT --undirected both) '
    "reads every edge both ways"
)


def both_directions(relationships: Iterable[Relationship]) -> Iterator[Relationship]:
    """Yield every relationship, followed by its reverse."""
    for relationship in relationships:
        yield relationship
        if relationship.source != relationship.target:
            yield replace(relationship, source=relationship.target, target=relationship.source)


TEMPORAL_NAMES = {kind: name for name, kind in TEMPORAL_FUNCTIONS.items()}
"""Names of Cypher's functions by the kind of their value."""
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_POINT = re.compile(r"\s*(?:point\s*\(\s*)?\{(.*)\}\s*\)?\s*", re.IGNORECASE | re.DOTALL)


def type_name(value: Value) -> str:
    """Return string, long, double, boolean, bytes, point or a name of `TEMPORAL_FUNCTIONS`.

    The type of a list is that of its items with [] behind it, string[] if it is empty.
    """
    if isinstance(value, tuple):
        return (type_name(value[0]) if value else "string") + "[]"
    if isinstance(value, Temporal):
        return TEMPORAL_NAMES[value.kind]
    return _NAMES[type(value)]


def value_text(value: Value) -> str:
    """Return a value as text that can be read back given its type; not for lists."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Point):
        return value.text.removeprefix("point(").removesuffix(")")
    if isinstance(value, bytes):
        return value.hex()
    return str(shown(value))


def read_value(type_: str, text: str) -> Value:
    """Return the value of a text of a type. Raise ValueError for wrong text, KeyError for an unknown type."""
    return _READERS[type_](text)


def _read_whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{brief(text)} is not a whole number")
    return int(text)


def _read_float(text: str) -> float:
    number = float(text)
    if "_" in text or (math.isinf(number) and "inf" not in text.lower()):
        raise ValueError(f"{brief(text)} is not a number that can be held")
    return number


def _read_boolean(text: str) -> bool:
    if text.strip().lower() not in _BOOLEANS:
        raise ValueError(f"{brief(text)} is neither true nor false")
    return _BOOLEANS[text.strip().lower()]


def _read_point(text: str) -> Point:
    """Return a point for Neo4j's importer: `{latitude: 55.7, longitude: 12.5}`, `{srid: 4326, x: 12.5, y: 55.7}`."""
    match = _POINT.fullmatch(text)
    if match is None:
        raise ValueError(f"{brief(text)} is not a point")
    fields: dict[str, str] = {}
    for entry in match[1].split(","):
        name, _, value = entry.partition(":")
        fields[name.strip().strip("'\"").lower()] = value.strip().strip("'\"")
    readers: dict[str, Callable[[str], Any]] = {"crs": str, "srid": _read_whole}
    point = point_of({name: readers.get(name, _read_float)(value) for name, value in fields.items()})
    if not all(map(math.isfinite, point.coordinates)):
        raise ValueError(f"the coordinates of a point are finite numbers, not {brief(point.coordinates)}")
    return point


def _read_bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise ValueError(f"{brief(text)} is not hexadecimal") from None


_NAMES: dict[type, str] = {str: "string", int: "long", float: "double", bool: "boolean", Point: "point", bytes: "bytes"}
_READERS: dict[str, Callable[[str], Value]] = {
    "string": str,
    "char": str,
    **dict.fromkeys(("int", "long", "short", "byte", "integer"), _read_whole),
    **dict.fromkeys(("float", "double"), _read_float),
    "boolean": _read_boolean,
    "bytes": _read_bytes,
    "point": _read_point,
    **{name: partial(read_temporal, kind=kind) for name, kind in TEMPORAL_FUNCTIONS.items()},
}


_LABEL_NAMES = ("label", "labels")
"""Attributes with the labels of a node, first to last."""
_LABEL = re.compile(r":((?:[^:\\]|\\.?)*)", re.DOTALL)
_ESCAPED = re.compile(r"\\([:\\])")


def node_attributes(node: Node) -> dict[str, Any]:
    """Return attributes: one label as text under `label`; several or none as a list under `labels`."""
    one = len(node.labels) == 1 and not node.label.startswith(":")
    for reserved in ("label",) if one else _LABEL_NAMES:
        _must_be_free(reserved, node.key, node.properties)
    labels = {"label": node.labels[0]} if one else {"labels": list(node.labels)}
    return {**labels, **by_name(node.properties)}


def relationship_attributes(relationship: Relationship) -> dict[str, Any]:
    _must_be_free("type", f"{relationship.source} to {relationship.target}", relationship.properties)
    return {"type": relationship.type, **by_name(relationship.properties)}


def apart_from_key(properties: Mapping[str, V], key: str) -> dict[str, V]:
    """Return the properties of a node; one called `key` is dropped if it is the key, else renamed to `key_`."""
    rest = {name: value for name, value in properties.items() if name != KEY}
    if KEY in properties and str(properties[KEY]) != key:
        name = f"{KEY}_"
        while name in rest:
            name += "_"
        rest[name] = properties[KEY]
    return rest


def node_from_attributes(key: Any, attributes: Mapping[str, Any], labels: Any = None) -> Node:
    """Return a node of a foreign graph; an attribute `key` that is not its key becomes `key_`.

    `labels`: None to find them among the attributes; "Node" if there are none. Raise ValueError if it cannot be used.
    """
    properties = dict(attributes)
    if labels is None:
        labels = _take(properties, _LABEL_NAMES)
    return checked_node(f"node {key!r}", key, ["Node"] if labels is None else labels_of(labels), properties)


def relationship_from_attributes(
    source: Any, target: Any, attributes: Mapping[str, Any], type_: Any = None, name: Any = None
) -> Relationship:
    """Return a relationship of a foreign graph. Raise ValueError if it cannot be used.

    `type_`: None to find it among the attributes; else it is `name` if that is text, else RELATED.
    """
    properties = dict(attributes)
    if type_ is None:
        type_ = _take(properties, ("type", "label", "relation")) or (
            name if isinstance(name, str) and name else "RELATED"
        )
    return checked_relationship(f"relationship from {source!r} to {target!r}", type_, source, target, properties)


def labels_of(notation: Any) -> list[Any]:
    """Return labels from the notations of other tools; Neo4j's exports have ":First:Second"."""
    if isinstance(notation, str) and notation.startswith(":"):
        return [_ESCAPED.sub(r"\1", label) for label in _LABEL.findall(notation)]
    return list(notation) if isinstance(notation, list | tuple | set | frozenset) else [notation]


def joined_labels(labels: Sequence[str]) -> str:
    r"""Return `:First:Second`, which `labels_of` takes apart; a colon in a label becomes `\:`."""
    return "".join(":" + label.replace("\\", "\\\\").replace(":", "\\:") for label in labels)


def _take(attributes: dict[str, Any], names: tuple[str, ...]) -> Any:
    """Remove and return the first of these attributes that exists; None if there is none."""
    return next((attributes.pop(name) for name in names if attributes.get(name) is not None), None)


def _must_be_free(reserved: str, where: str, properties: Mapping[str, Any]) -> None:
    if reserved in properties:
        raise ConfigError(
            f"{where} has a property {reserved!r}, a name that this format needs for its own data",
            hint="save the graph as JSON, or rename the property",
        )

"""Nodes, relationships and headers as all graph formats read them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from xml.etree.ElementTree import ParseError

from graphwalk.errors import ConfigError
from graphwalk.files.writing import write_whole
from graphwalk.graphs.graph import KEY, OUR_PREFIX, Node, PropertyGraph, Relationship, is_reserved
from graphwalk.graphs.values import Value, brief, value_of
from graphwalk.version import SCHEMA_VERSION

V = TypeVar("V")

USUAL_NAMES = {
    "key": ("id", "key"),
    "labels": ("labels", "label"),
    "source": ("source",),
    "target": ("target",),
    "type": ("type", "label", "relation"),
}
"""Fields of a node or a relationship by what they hold, as other programs call them; the first that is there counts."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn any error while a graph file is read into a ConfigError that names the file."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot read the graph {path}: {error.strerror or error}; check the path") from error
    except RecursionError as error:
        raise ConfigError(f"cannot read the graph {path}: it is nested too deeply") from error
    except MemoryError as error:
        raise ConfigError(f"cannot read the graph {path}: it is too large for the memory of this machine") from error
    except (ValueError, ArithmeticError, ParseError) as error:
        raise ConfigError(f"cannot read the graph {path}: {error}") from error


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write the lines of a graph. Raise ConfigError if that fails."""
    write_whole(path, (f"{line}\n" for line in lines))


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


def node_of(
    where: str, fields: Mapping[str, Any], key: Any = None, labels: Any = None, default: Sequence[str] = ("Node",)
) -> Node:
    """Return a node, from its fields as a program wrote them.

    `where`: its place in the file, for messages. `key` and `labels`: None to find them among the fields; `default` if
    there are no labels. A property `key` that is not its key becomes `key_`. Raise ValueError if it cannot be used.
    """
    rest = dict(fields)
    key = checked_text(where, "key", _take(rest, "key") if key is None else key)
    labels = _take(rest, "labels") if labels is None else labels
    distinct = {checked_text(where, "label", label) for label in (default if labels is None else labels_of(labels))}
    for label in filter(is_reserved, distinct):
        raise ValueError(
            f"{where} has the label {label!r}; GraphWalk finds its own graphs in a Neo4j by labels that "
            f"begin with {OUR_PREFIX}, so rename it"
        )
    return Node(key, tuple(sorted(distinct)), apart_from_key(checked_properties(where, rest), key))


def relationship_of(
    where: str,
    fields: Mapping[str, Any],
    source: Any = None,
    target: Any = None,
    type_: Any = None,
    default: str | None = "RELATED",
) -> Relationship:
    """Return a relationship, from its fields as a program wrote them. Raise ValueError if it cannot be used.

    `source`, `target`, `type_`: None to find them among the fields; `default` if there is no type.
    """
    rest = dict(fields)
    source = _take(rest, "source") if source is None else source
    target = _take(rest, "target") if target is None else target
    type_ = _take(rest, "type") if type_ is None else type_
    return Relationship(
        checked_text(where, "type", default if type_ is None else type_),
        checked_text(where, "source", source),
        checked_text(where, "target", target),
        checked_properties(where, rest),
    )


def _take(fields: dict[str, Any], what: str) -> Any:
    """Remove and return the first field that usually holds this; None if there is none."""
    return next((fields.pop(name) for name in USUAL_NAMES[what] if fields.get(name) is not None), None)


def checked_text(where: str, what: str, value: Any) -> str:
    """Return a key, label or type; a whole number becomes text. Raise ValueError for anything else."""
    if value is None:
        raise ValueError(f"{where} has no {what}")
    if type(value) is int:
        return str(value)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{where}, {what}: expected text, not {brief(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{where}, {what}: {error}") from None
    return value


def checked_properties(where: str, fields: Mapping[Any, Any]) -> dict[str, Value]:
    """Return properties that a graph can hold; those in an object `properties` are among them, None is left out.

    Raise ValueError with place and property for anything else.
    """
    inner = fields.get("properties")
    if isinstance(inner, dict):
        outer = {name: data for name, data in fields.items() if name != "properties"}
        if twice := inner.keys() & outer.keys():
            raise ValueError(f"{where} has {brief(min(twice))} twice: among its properties, and beside them")
        fields = inner | outer
    properties: dict[str, Value] = {}
    for name, data in fields.items():
        try:
            if not isinstance(name, str) or not name:
                raise ValueError("this cannot be a name")
            name.encode()
            value = value_of(data)
        except ValueError as error:
            raise ValueError(f"{where}, property {brief(name)}: {error}") from None
        if value is not None:
            properties[name] = value
    return properties


def apart_from_key(properties: Mapping[str, V], key: str) -> dict[str, V]:
    """Return the properties of a node; one called `key` is dropped if it is the key, else renamed to `key_`."""
    rest = {name: value for name, value in properties.items() if name != KEY}
    if KEY in properties and str(properties[KEY]) != key:
        name = f"{KEY}_"
        while name in rest:
            name += "_"
        rest[name] = properties[KEY]
    return rest


_LABEL = re.compile(r":((?:[^:\\]|\\.?)*)", re.DOTALL)
_ESCAPED = re.compile(r"\\([:\\])")


def labels_of(notation: Any) -> list[Any]:
    """Return labels from the notations of other tools; Neo4j's exports have ":First:Second"."""
    if isinstance(notation, str) and notation.startswith(":"):
        return [_ESCAPED.sub(r"\1", label) for label in _LABEL.findall(notation)]
    return list(notation) if isinstance(notation, list | tuple | set | frozenset) else [notation]


def joined_labels(labels: Sequence[str]) -> str:
    r"""Return `:First:Second`, which `labels_of` takes apart; a colon in a label becomes `\:`."""
    return "".join(":" + label.replace("\\", "\\\\").replace(":", "\\:") for label in labels)


def by_name(properties: Mapping[str, V]) -> dict[str, V]:
    """Return properties sorted by name, so that files do not depend on the order of insertion."""
    return dict(sorted(properties.items()))


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

"""Cypher text from Jinja templates: identifiers quoted, node patterns confined to one graph.

    MATCH (a:{{ label | label }})-[:{{ type | type }}*1..{{ n | hops }}]->(b{{ any_node }}) RETURN b.{{ p | property }}

    unscoped (the embedded engine, records):   (a:`Zorep`) … (b)
    scoped (one graph of many in one Neo4j):   (a:`Zorep`:`gw_3f2a90c1d77e`) … (b:`gw_3f2a90c1d77e`)

Every `{{ … }}` must pass a filter, so that no name reaches a query unquoted. Values travel as parameters.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template, TemplateError

from graphwalk.errors import ConfigError
from graphwalk.jinja import make_environment

Identifiers = Mapping[str, str | int | Sequence[str]]
"""What a template names; a list of names serves a loop in it."""
FILTERS = ("label", "type", "property", "hops", "label_of")
"""What a Cypher template can use."""
RESERVED_PREFIX = "gw__"
"""Prefix for property names that the engine reserves."""
_UNQUOTABLE = re.compile(r"\\|\0|\A\Z")
"""Neo4j reads a backslash-u escape as the character it stands for, inside back-ticks too."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _Safe(str):
    """Text that is safe to put into a query."""


def quote(name: str) -> str:
    """The name in back-ticks. ConfigError if it is empty, or has a backslash or NUL, so that no query can hold it."""
    if not isinstance(name, str) or _UNQUOTABLE.search(name):
        raise ConfigError(f"{name!r} cannot be used as a label, relationship type or property name")
    return "`" + name.replace("`", "``") + "`"


def render_cypher(
    template: str,
    identifiers: Identifiers,
    scope: str | None = None,
    *,
    reserved: frozenset[str] = frozenset(),
) -> str:
    """The Cypher of a template.

    `scope` is the extra label of one graph's nodes; None gives the unscoped text, for a database that holds only this
    graph. `reserved` are the property names that the engine reserves. ConfigError if the template uses a name that
    `identifiers` lacks, or writes one without a filter.
    """
    # Lists become tuples, so that rendered texts can be cached: rendering takes longer than many queries.
    names = tuple(
        (name, value if isinstance(value, str | int) else tuple(value)) for name, value in identifiers.items()
    )
    return _render(template, names, scope, reserved)


@lru_cache(maxsize=8192)
def _render(
    template: str,
    identifiers: tuple[tuple[str, str | int | tuple[str, ...]], ...],
    scope: str | None,
    reserved: frozenset[str],
) -> str:
    try:
        return _compiled(template, scope, reserved).render(dict(identifiers))
    except TemplateError as error:
        raise ConfigError(f"the Cypher template cannot be rendered: {error.message}\n{template}") from error


@lru_cache(maxsize=1024)
def _compiled(template: str, scope: str | None, reserved: frozenset[str]) -> Template:
    return _environment(scope, reserved).from_string(template)


@lru_cache(maxsize=256)
def _environment(scope: str | None, reserved: frozenset[str]) -> Environment:
    suffix = f":{quote(scope)}" if scope else ""
    filters: dict[str, Callable[[Any], str]] = {
        "label": lambda name: _Safe(quote(name) + suffix),
        "type": lambda name: _Safe(quote(name)),
        "property": lambda name: _Safe(quote(stored_name(name, reserved))),
        "hops": _hops,
        "label_of": lambda variable: _label_of(variable, scope),
    }
    environment = make_environment(filters, finalize=_only_filtered)
    environment.globals["any_node"] = _Safe(suffix)
    return environment


def stored_name(name: str, reserved: frozenset[str]) -> str:
    """The name under which a property is stored; `shown_name` undoes it."""
    clashes = name in reserved or (reserved and name.startswith(RESERVED_PREFIX))
    return RESERVED_PREFIX + name if clashes else name


def shown_name(name: str) -> str:
    return name.removeprefix(RESERVED_PREFIX)


def _only_filtered(value: Any) -> Any:
    if isinstance(value, StrictUndefined | _Safe):
        return value
    raise ConfigError(f"the Cypher template writes {value!r} without a filter (label, type, property, hops)")


def _hops(number: Any) -> str:
    """The number of steps of a variable-length pattern."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ConfigError(f"{number!r} is not a number of hops")
    return _Safe(number)


def _label_of(variable: Any, scope: str | None) -> str:
    """An expression for the label of the node bound to `variable`."""
    if not isinstance(variable, str) or not _VARIABLE.fullmatch(variable):
        raise ConfigError(f"{variable!r} is not the name of a variable")
    found = f"labels({variable})"
    return _Safe(f"[name IN {found} WHERE name <> '{scope}'][0]" if scope else f"{found}[0]")

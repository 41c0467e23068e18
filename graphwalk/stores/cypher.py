"""Cypher text from Jinja templates: identifiers quoted, node patterns confined to one graph.

    MATCH (a:{{ label | label }})-[:{{ type | type }}*1..{{ n | hops }}]->(b{{ any_node }})
    WHERE {{ p | of("a", label) }} = $value RETURN {{ "b" | key_of }}, {{ "b" | labels_of }}, {{ "b" | properties_of }}

unscoped (the embedded engine, records):   (a:`Zorep`) … (b)                          a.`p`   b.key
scoped (one graph of many in one Neo4j):   (a:`Zorep`:`gw_3f2a90c1d77e`) … (b:`gw_3f2a90c1d77e`)

Every `{{ … }}` must pass a filter, so that no name reaches a query unquoted. Values travel as parameters. How names and
keys are written is the store's: its `Dialect`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from jinja2 import Environment, StrictUndefined, pass_context
from jinja2.runtime import Context

from graphwalk.config.templates import TextError, compiled, make_environment, render_template
from graphwalk.errors import ConfigError, manual
from graphwalk.graphs.graph import KEY, OUR_PREFIX
from graphwalk.stores.cypher_check import CypherNotAllowedError, check_cypher

Identifiers = Mapping[str, str | int | Sequence[str] | None]
"""Values of a template's names; a list of names is for a loop, None an optional name that is left out."""
_CachedName = str | int | tuple[str, ...] | None
NO_LABEL = "gw_none"
"""The label that nodes without labels are given, so that queries can name them; results leave it out."""
_DIALECT = "the dialect"
"""Key of the dialect in the values of a template; no template can use it, since it is no name."""
_UNQUOTABLE = re.compile(r"\\|\0|\A\Z")
"""Neo4j reads a backslash-u escape as the character that it encodes, inside back-ticks too."""
FILTERS = (
    "label",
    "type",
    "of_type",
    "property",
    "of",
    "hops",
    "label_of",
    "labels_of",
    "labels_as",
    "key_of",
    "properties_of",
)
"""Filters that a Cypher template can use: methods of `Dialect`."""


class _Safe(str):
    """Text that is safe to put into a query."""


def quote_identifier(name: str) -> str:
    """Return the name in back-ticks. Raise ConfigError if it is empty, or contains a backslash or NUL."""
    if not isinstance(name, str) or _UNQUOTABLE.search(name):
        raise ConfigError(f"{name!r} cannot be used as a label, relationship type or property name")
    return "`" + name.replace("`", "``") + "`"


def quotable(name: str) -> bool:
    """Return True for a name that a query can contain."""
    return _UNQUOTABLE.search(name) is None


@dataclass(frozen=True, slots=True)
class Dialect:
    """The Cypher that a store writes for the names of a template. Subclasses must be hashable.

    `scope` is the extra label of one graph's nodes; None for a database that holds only this graph. `several`: not
    every node has exactly one label. `variable` is the name of a variable bound to a node.
    """

    scope: str | None = None
    several: bool = False

    @property
    def any_node(self) -> str:
        """Return the part that confines a node pattern without labels."""
        return f":{quote_identifier(self.scope)}" if self.scope else ""

    @property
    def any_relationship(self) -> str:
        """Return the part that confines a relationship pattern without types."""
        return ""

    def label(self, name: str) -> str:
        """Return the text after the colon in a node pattern; "" is the name for nodes without labels."""
        return quote_identifier(name or NO_LABEL) + self.any_node

    def type(self, name: str) -> str:
        return quote_identifier(name)

    def of_type(self, name: str | None) -> str:
        """Return the part that confines a relationship pattern to a type, or to those of the graph for None."""
        return self.any_relationship if name is None else f":{self.type(name)}"

    def property(self, name: str) -> str:
        return quote_identifier(name)

    def labels_of(self, variable: str) -> str:
        """Return Cypher for the sorted list of the node's labels."""
        labels = f"labels({variable})"
        if self.several:
            own = f"NOT name STARTS WITH '{OUR_PREFIX}'"
            return f"COLLECT {{ UNWIND {labels} AS name WITH name WHERE {own} RETURN name ORDER BY name }}"
        if self.scope:
            return f"[name IN {labels} WHERE name <> '{self.scope}']"
        return labels

    def label_of(self, variable: str) -> str:
        """Return Cypher for the first of the node's labels, "" if it has none."""
        first = f"{self.labels_of(variable)}[0]"
        return f"coalesce({first}, '')" if self.several else first

    def labels_as(self, variable: str, column: str) -> str:
        """Return a column with the node's label, or one in the plural with all labels if nodes have several."""
        return f"{self.labels_of(variable)} AS {column}s" if self.several else f"{self.label_of(variable)} AS {column}"

    def of(self, name: str, variable: str, label: str | None = None) -> str:
        """Return Cypher for a property's value, `key` included. `label`: a known label of the node, if any."""
        return f"{variable}.{self.property(name)}"

    def hops(self, number: int) -> str:
        """Return the number of steps of a variable-length pattern."""
        if not isinstance(number, int):
            raise ConfigError(f"{number!r} is not a number of hops")
        return str(number)

    def key_of(self, variable: str) -> str:
        """Return Cypher for the key of a node."""
        return f"{variable}.{KEY}"

    def properties_of(self, variable: str) -> str:
        """Return Cypher for a map of the node's properties and key."""
        return f"properties({variable})"

    def finished(self, cypher: str) -> str:
        """Return the final text of a rendered query."""
        return cypher


UNSCOPED = Dialect()
"""For records, and for a database that holds one graph only."""


def render_cypher(template: str, identifiers: Identifiers, dialect: Dialect = UNSCOPED) -> str:
    """Return the Cypher of a template.

    ConfigError if the template uses a name that `identifiers` lacks, writes one without a filter, or does more than
    read the graph.
    """
    # Lists become tuples, so that rendered texts can be cached: rendering takes longer than many queries.
    names: list[tuple[str, _CachedName]] = []
    for name, value in identifiers.items():
        if isinstance(value, str | int | None):
            names.append((name, value))
        else:
            names.append((name, tuple(value)))
    return _render(template, tuple(names), dialect)


@lru_cache(maxsize=8192)
def _render(template: str, identifiers: tuple[tuple[str, _CachedName], ...], dialect: Dialect) -> str:
    values: dict[str, Any] = {
        _DIALECT: dialect,
        "any_node": _Safe(dialect.any_node),
        "any_relationship": _Safe(dialect.any_relationship),
    }
    values.update(identifiers)
    try:
        cypher = dialect.finished(render_template(compiled(_environment(), template), values))
        check_cypher(cypher)
        return cypher
    except CypherNotAllowedError as error:
        raise ConfigError(
            f"{error}\n{template}", hint=f"{manual('extending')} lists what Cypher of a file may do"
        ) from error
    except TextError as error:
        raise ConfigError(f"the Cypher template cannot be rendered: {error.problem}\n{template}") from error


@cache
def _environment() -> Environment:
    """Return one environment for all dialects: compiling a template takes longer than many queries."""
    return make_environment({name: _filter(name) for name in FILTERS}, finalize=_only_filtered)


def _filter(name: str) -> Callable[..., str]:
    """Return the filter that writes a value by this method of the dialect."""

    @pass_context
    def write(context: Context, *values: Any) -> str:
        return _Safe(getattr(context[_DIALECT], name)(*values))

    return write


def _only_filtered(value: Any) -> Any:
    if isinstance(value, StrictUndefined | _Safe):
        return value
    raise ConfigError(f"the Cypher template writes {value!r} without a filter ({', '.join(FILTERS)})")

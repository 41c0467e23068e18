"""What is offered: the functions, and the words whose refusal is worth a message of its own.

Functions are those that both engines know, whose result depends on their arguments alone, and that reach nothing but
these. What is not listed is refused, so that a function that a server was extended with is never called.
"""

from collections.abc import Mapping

from graphwalk.types.values import TemporalKind

FUNCTIONS = frozenset(
    {
        *("avg", "collect", "count", "max", "min", "sum"),
        *("endnode", "exists", "keys", "labels", "length", "nodes", "properties", "relationships", "startnode", "type"),
        *("coalesce", "head", "isempty", "last", "nullif", "range", "size", "tail"),
        *("left", "ltrim", "reverse", "right", "rtrim", "split", "substring", "tolower", "toupper", "trim"),
        *("toboolean", "tofloat", "tointeger", "tostring"),
        *("abs", "ceil", "floor", "round", "sign", "sqrt"),
    }
)
AGGREGATES = frozenset({"avg", "collect", "count", "max", "min", "sum"})
ARGUMENTS = {
    **dict.fromkeys(("nodes", "relationships", "length"), ("path",)),
    **dict.fromkeys(("type", "startnode", "endnode"), ("relationship",)),
    **dict.fromkeys(("keys", "properties"), ("node", "relationship", "map")),
    "labels": ("node",),
    "size": ("list", "text"),
}
"""Functions that take one kind of thing only."""
QUANTIFIERS = frozenset({"all", "any", "none", "single"})
SUBQUERIES = frozenset({"exists", "count", "collect"})
CLAUSES = frozenset({"match", "optional", "where", "with", "unwind", "return", "union", "order", "skip", "limit"})
WRITES = frozenset({"create", "merge", "set", "delete", "detach", "remove", "foreach", "drop", "alter", "insert"})
LEFT_OUT = frozenset({"call", "load", "use", "show", "terminate", "explain", "profile", "cypher", "finish", "let"})
LONGEST_QUERY = 4_000
"""Characters."""
DEEPEST = 20
"""Brackets within brackets."""
LARGEST_RANGE = 10_000
"""Numbers that a range may have: lists of any length need no data, and fill the memory of a server."""
DEEPEST_EXPRESSION = 30
"""Expressions within expressions: CASE needs no brackets."""
LONGEST_PATH = 1_000_000
"""Stands for no bound where the engine would end a path without one: more relationships than a graph has."""
MOST_SUMS = 16
"""Additions in one query: a text or list that is added to itself doubles each time."""
DEEPEST_LOOP = 2
"""Lists built, collected or looked through within one another: each may be as long as the longest range."""
MOST_COPIES = 50_000_000
"""How large a value may be by the text of the query. A server goes through a list of lists to its end, whatever its
time limit: `WITH [s, s, s, s, s, s, s, s] AS s` twenty times over keeps it busy for years."""
LOOP_COPIES = 1_000
"""What a list that is collected or looped over counts for there: nobody knows how long it will be."""
TEMPORALS: Mapping[str, TemporalKind] = {
    "date": "date",
    "time": "time",
    "localtime": "local time",
    "datetime": "datetime",
    "localdatetime": "local datetime",
    "duration": "duration",
}
"""Functions that make a date, a time or a duration of a text, and what they make."""

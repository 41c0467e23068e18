"""Why a query that a model wrote is not answered."""

from typing import Any


class QueryRefused(Exception):  # noqa: N818 - a model's mistake is a result, not an error of the program
    """`kind` is the class that results count: "syntax", "write_refused", "not_offered", "unknown_name", "query_error",
    "timeout" or "too_large". `message` is the name of a text in tool_messages.yaml, `values` what it is given.
    """

    def __init__(self, kind: str, message: str, /, **values: Any) -> None:
        super().__init__(f"{kind}: {message} {values}")
        self.kind = kind
        self.message = message
        self.values = values


def not_offered(what: str) -> QueryRefused:
    """For a part of Cypher that is left out on purpose."""
    return QueryRefused("not_offered", "query_not_offered", what=what)

"""What the Neo4j driver raises, turned into a cause and a next step."""

import re

from neo4j.exceptions import AuthError, DriverError, Neo4jError, ServiceUnavailable, UnsupportedServerProduct

from graphwalk.errors import QueryLimitError, StoreAwayError, StoreError
from graphwalk.stores.written.refusal import QueryRefused

SLOW = "ask for fewer hops or a smaller graph, or give it more time: -o limits.store_seconds=120"
_AT_FAULT = re.compile(r"Neo\.ClientError\.Statement\..*|Neo\.DatabaseError\.(Statement\..*|General\.UnknownError)")
"""Codes of a query that cannot be run: the planner or the run of a query of a model's own fails on it each time."""
_START = "graphwalk db up   (or set NEO4J_URI to a running server)"


_TOO_LARGE = ("OutOfMemory", "TransactionMemoryLimit")
"""Codes of a query that needs more memory than the server gives it: it would need as much the next time."""


def query_refused(error: BaseException, seconds: float) -> QueryRefused | None:
    """What a model is told about a query of its own; None where the database is at fault, and not the query."""
    code = getattr(error, "code", None) or ""
    if "TransactionTimedOut" in code or isinstance(error, TimeoutError):
        return QueryRefused("timeout", "query_timeout", seconds=seconds)
    if any(reason in code for reason in _TOO_LARGE):
        return QueryRefused("too_large", "query_too_large")
    if isinstance(error, Neo4jError) and _AT_FAULT.fullmatch(code):
        return QueryRefused("query_error", "query_error", problem=error.message or code)
    return None


def may_pass(error: Exception) -> bool:
    """True for an error that a restart, a lost connection or a deadlock explains, so that a retry may help."""
    if isinstance(error, DriverError | Neo4jError):
        if any(reason in (getattr(error, "code", None) or "") for reason in _TOO_LARGE):
            return False
        return isinstance(error, ServiceUnavailable) or error.is_retryable()
    return isinstance(error, ConnectionError)


def store_error(error: Exception, place: str, cypher: str, database: str | None) -> StoreError:
    """The StoreError for an error of the driver; `place` is the address of the server."""
    code = getattr(error, "code", None) or ""
    if isinstance(error, AuthError):
        return StoreError(
            f"Neo4j at {place} refuses the user name or password", hint="set NEO4J_USERNAME and NEO4J_PASSWORD"
        )
    if code.endswith("DatabaseNotFound"):
        return StoreError(f"Neo4j at {place} has no database {database!r}", hint="unset or correct NEO4J_DATABASE")
    if "TransactionTimedOut" in code:
        return QueryLimitError(f"a query took too long on Neo4j at {place}\n{cypher}", hint=SLOW)
    if any(reason in code for reason in _TOO_LARGE):
        problem = f"a query needs more memory than Neo4j at {place} gives it\n{cypher}"
        return QueryLimitError(problem, hint=SLOW, kind="too_large")
    if isinstance(error, Neo4jError) and not may_pass(error):
        return StoreError(f"Neo4j at {place} refused a query: {error.message}\n{cypher}")
    if isinstance(error, TypeError | ValueError):
        return StoreError(f"a query parameter has a type that Neo4j does not know: {error}\n{cypher}")
    if isinstance(error, UnsupportedServerProduct) or "looks like HTTP" in str(error):
        return StoreError(f"what answers at {place} is not a Neo4j: {error}", hint=_START)
    kind = StoreAwayError if may_pass(error) else StoreError
    return kind(f"Neo4j at {place} cannot be reached: {error or type(error).__name__}", hint=_START)


def silent(place: str, seconds: float) -> StoreAwayError:
    """The StoreError for a server that takes connections and says nothing on them."""
    return StoreAwayError(f"Neo4j at {place} does not answer within {seconds:g} s", hint=_START)

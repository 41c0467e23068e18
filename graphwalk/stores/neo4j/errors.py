"""What the Neo4j driver raises, turned into a cause and a next step."""

import re

from neo4j.exceptions import AuthError, DriverError, Neo4jError, ServiceUnavailable, UnsupportedServerProduct

from graphwalk.errors import QueryLimitError, StoreError
from graphwalk.stores.written.refusal import QueryRefused

_PLACE = re.compile(r"\s*\(line \d+, column \d+.*\)")
SLOW = "ask for fewer hops or a smaller graph, or raise the time limit"
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
    if isinstance(error, Neo4jError) and code.startswith("Neo.ClientError.Statement"):
        return QueryRefused("query_error", "query_error", problem=_problem(error))
    return None


def _problem(error: Neo4jError) -> str:
    """The server's words without the query, which is not the one that the model wrote."""
    first = (error.message or "").strip().splitlines()[0]
    return _PLACE.sub("", first).strip()


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
    return StoreError(f"Neo4j at {place} cannot be reached: {error or type(error).__name__}", hint=_START)

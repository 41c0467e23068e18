"""What the Neo4j driver raises, turned into a cause and a next step."""

import re
import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

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
    if isinstance(error, AuthError) and "scheme" in (error.message or ""):
        return StoreError(
            f"Neo4j at {place} does not take this authentication: {error.message}",
            hint="set NEO4J_AUTHENTICATION to basic, bearer, kerberos or none",
        )
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
        return StoreError(f"what answers at {place} is not a Neo4j: {error}", hint=_start(place))
    kind = StoreAwayError if may_pass(error) else StoreError
    problem, hint = _unreachable(error, place)
    return kind(f"Neo4j at {place} cannot be reached: {problem}", hint=hint)


def silent(place: str, seconds: float) -> StoreAwayError:
    """Return the error for a server that takes connections and sends nothing."""
    return StoreAwayError(f"Neo4j at {place} does not answer within {seconds:g} s", hint=_start(place))


def timed_out(error: BaseException) -> bool:
    """True if the server did not answer in time; False if it refused, or has no address."""
    return any(isinstance(cause, TimeoutError) for cause in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and everything that led to it. The driver raises a group if all members of a cluster fail."""
    yield error
    for cause in (error.__cause__ or error.__context__, *getattr(error, "exceptions", ())):
        if cause is not None:
            yield from _causes(cause)


def _unreachable(error: Exception, place: str) -> tuple[str, str]:
    """Return the cause and the next step for a server that cannot be reached."""
    scheme, _, host = place.partition("://")
    plain, encrypted, _ = scheme.partition("+")
    causes = list(_causes(error))
    said = next((str(cause) for cause in causes if isinstance(cause, OSError) and str(cause)), str(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        hint = "correct the host in NEO4J_URI; an Aura instance that is paused or deleted has no address"
        return f"no address is known for this host ({said})", hint
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return f"its certificate is not valid ({said})", f"to accept any certificate: NEO4J_URI={plain}+ssc://{host}"
    if encrypted and any(isinstance(cause, ssl.SSLError | ConnectionResetError) for cause in causes):
        return "it does not accept an encrypted connection", f"if it has no TLS: NEO4J_URI={plain}://{host}"
    return said or type(error).__name__, _start(place)


def _start(place: str) -> str:
    here = urlsplit(place).hostname in ("localhost", "127.0.0.1", "::1")
    return _START if here else "start that server, or correct NEO4J_URI"

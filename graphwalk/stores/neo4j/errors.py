"""What the Neo4j driver raises, turned into a cause and a next step."""

from neo4j.exceptions import AuthError, DriverError, Neo4jError, ServiceUnavailable, UnsupportedServerProduct

from graphwalk.errors import StoreError

SLOW = "ask for fewer hops or a smaller graph, or raise the time limit"
_START = "graphwalk db up   (or set NEO4J_URI to a running server)"


def may_pass(error: Exception) -> bool:
    """True for an error that a restart, a lost connection or a deadlock explains, so that a retry may help."""
    if isinstance(error, DriverError | Neo4jError):
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
        return StoreError(f"a query took too long on Neo4j at {place}\n{cypher}", hint=SLOW)
    if isinstance(error, Neo4jError) and not may_pass(error):
        return StoreError(f"Neo4j at {place} refused a query: {error.message}\n{cypher}")
    if isinstance(error, TypeError | ValueError):
        return StoreError(f"a query parameter has a type that Neo4j does not know: {error}\n{cypher}")
    if isinstance(error, UnsupportedServerProduct) or "looks like HTTP" in str(error):
        return StoreError(f"what answers at {place} is not a Neo4j: {error}", hint=_START)
    return StoreError(f"Neo4j at {place} cannot be reached: {error or type(error).__name__}", hint=_START)

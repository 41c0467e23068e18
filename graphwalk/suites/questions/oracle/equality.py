"""Cypher's comparison of values."""

from graphwalk.types.values import Value


def equal(left: Value | None, right: Value | None) -> bool:
    """Cypher's `=`: numbers by value, booleans only with booleans, null with nothing."""
    return left is not None and left == right and isinstance(left, bool) == isinstance(right, bool)


def differs(left: Value | None, right: Value | None) -> bool:
    """Cypher's `<>`: a missing property does not differ from anything either."""
    return left is not None and right is not None and not equal(left, right)

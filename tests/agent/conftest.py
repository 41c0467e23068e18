"""The odd graph of the tests of tools, for the tests of levers."""

from tests.tools.conftest import schema, store

__all__ = ["schema", "store"]

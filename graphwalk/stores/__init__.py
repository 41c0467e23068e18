"""Graph stores: the same Cypher on an embedded engine and on Neo4j."""

from graphwalk.stores.registry import open_database

__all__ = ["open_database"]

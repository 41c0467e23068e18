"""A Neo4j on this machine (`graphwalk db up | down`), and the graphs that GraphWalk keeps in any Neo4j."""

from graphwalk.database.loads import clean, list_loads, load, loaded_last
from graphwalk.database.server import down, up

__all__ = ["clean", "down", "list_loads", "load", "loaded_last", "up"]

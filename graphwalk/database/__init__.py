"""A Neo4j on this machine (`graphwalk db up | down | status`), and the graphs that GraphWalk keeps in any Neo4j."""

from graphwalk.database.jars import cache_folder
from graphwalk.database.loads import clean, contents, list_loads, load, loaded_last
from graphwalk.database.server import ServerStatus, down, status, up

__all__ = [
    "ServerStatus",
    "cache_folder",
    "clean",
    "contents",
    "down",
    "list_loads",
    "load",
    "loaded_last",
    "status",
    "up",
]

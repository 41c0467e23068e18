"""Graph files of every kind, those that only a Neo4j can read too."""

import asyncio
from pathlib import Path

from graphwalk.database.scripts import run_script
from graphwalk.environment import Environment
from graphwalk.graphs.files.bounds import without_packing
from graphwalk.graphs.files.cypher_script_reader import is_own_script
from graphwalk.graphs.files.formats import load_graph
from graphwalk.graphs.files.undirected import Undirected
from graphwalk.types.graph import PropertyGraph


async def read_any(path: Path, environment: Environment, undirected: Undirected = "refuse") -> PropertyGraph:
    """The graph in a file or folder; a Cypher script that is not ours runs in a Neo4j of its own (`run_script`).

    ConfigError that names the file and what is wrong with it; StoreError where a Neo4j is needed and cannot be had.
    """
    if without_packing(path).suffix.lower() == ".cypher" and not await asyncio.to_thread(is_own_script, path):
        return await run_script(path, environment)
    return await asyncio.to_thread(load_graph, path, undirected)

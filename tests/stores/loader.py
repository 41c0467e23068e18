"""Load a graph in small batches and wait: a process for tests to kill. Arguments: run id, number of nodes."""

import asyncio
import sys

from graphwalk.stores.neo4j import admin, loaded
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.variables import read_variables


def chain(nodes: int) -> PropertyGraph:
    """Nodes in a row, each joined to the next by two relationships."""
    return PropertyGraph.from_rows(
        [Node(f"n{i}", ("A" if i % 2 else "B",), {"number": i}) for i in range(nodes)],
        [Relationship(t, f"n{i}", f"n{i + 1}", {"number": i}) for t in "RS" for i in range(nodes - 1)],
    )


async def main(run_id: str, nodes: int) -> None:
    admin.BATCH = 50
    database = await loaded.Neo4jDatabase.open(read_variables(), run_id=run_id)
    await database.load(chain(nodes))
    print("loaded", flush=True)
    await asyncio.sleep(3600)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))

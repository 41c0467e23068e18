"""Load graphs into Neo4j, list them and remove them (`graphwalk db load | clean`)."""

from graphwalk.graphs.graph import PropertyGraph
from graphwalk.stores.neo4j import admin
from graphwalk.stores.neo4j.admin import Load
from graphwalk.stores.neo4j.connection import connect
from graphwalk.variables import Variables


async def load(variables: Variables, graph: PropertyGraph) -> Load:
    """Load a graph into Neo4j, and keep it until `clean`."""
    async with await connect(variables) as connection:
        return await admin.load_graph(connection, graph, admin.new_scope())


async def loaded_last(variables: Variables) -> Load | None:
    """Return the last graph of `graphwalk db load` that is still there."""
    return next((load for load in reversed(await list_loads(variables)) if load.by_hand), None)


async def list_loads(variables: Variables) -> list[Load]:
    """Return the loaded graphs of all runs and of `graphwalk db load`."""
    async with await connect(variables) as connection:
        return await admin.list_loads(connection)


async def clean(variables: Variables) -> list[Load]:
    """Remove all graphs that GraphWalk loaded, and return them."""
    async with await connect(variables) as connection:
        loads = await admin.list_loads(connection)
        for load in loads:
            await admin.remove_graph(connection, load.scope)
        return loads

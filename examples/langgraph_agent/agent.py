"""The agent for LangGraph's server: `langgraph dev --allow-blocking` in this folder reads langgraph.json.

The agent reads files in a thread of its own. The development server takes that for a blocked event loop. The key of
the model is a variable of the environment; .env.example has all variables.
"""

import asyncio
import os
from functools import cache

from langgraph.graph.state import CompiledStateGraph

import graphwalk


async def make_graph() -> CompiledStateGraph:
    """GRAPHWALK_GRAPH is a graph file ("example": the one that ships), GRAPHWALK_MODEL the model."""
    return await asyncio.to_thread(open_agent)  # the server's event loop must not wait for files


@cache
def open_agent() -> CompiledStateGraph:
    store = graphwalk.open_store(os.environ.get("GRAPHWALK_GRAPH", "example"))
    return graphwalk.build_agent(os.environ.get("GRAPHWALK_MODEL", "openai/gpt-4.1-mini"), store)

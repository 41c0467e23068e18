"""The public API of `import graphwalk`, for notebooks, scripts and other programs.

    graphs    generate_graph, generate_maze, read_graph, write_graph, from_networkx, to_networkx
    tasks     make_tasks
    stores    open_store
    episodes  play
    questions ask
    runs      run, open_run, Run, compare
    agents    build_agent, langchain_tools, openai_tools, schema_prompt, openai_model
    training  reward, potentials, step_rewards

Slow functions exist twice: `play` blocks, also inside a running event loop (in a thread); `aplay` is awaited, and calls
model objects in its own event loop.
A model is `provider/model`, or any object with `async complete(messages, tools, options)` that returns a `Reply`.
User errors are raised as `GraphwalkError`, with the next step in `hint`.
"""

from graphwalk.api.graphs import generate_graph, generate_maze, read_graph, write_graph
from graphwalk.api.runs import Run, amake_tasks, aplay, arun, compare, make_tasks, open_run, play, run
from graphwalk.errors import ConfigError, GraphwalkError, ModelError, OracleError, RunLogError, StoreError
from graphwalk.graphs.conversion import from_networkx, to_networkx
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.models.chat import CallOptions, Message, Model, Reply, ToolCall, ToolSpec, Usage
from graphwalk.models.registry import openai_model
from graphwalk.own_graph.answer import Answer
from graphwalk.own_graph.ask import aask, ask
from graphwalk.own_graph.langgraph_agent import build_agent
from graphwalk.own_graph.tools import OpenAITools, langchain_tools, openai_tools, schema_prompt
from graphwalk.runs.record import Result
from graphwalk.stores.open import Store, aopen_store, open_store
from graphwalk.suites.mazes.generate import Maze, maze_graph
from graphwalk.suites.suite import Task
from graphwalk.training.reward import Reward, potentials, reward, step_rewards

__all__ = [
    "Answer",
    "CallOptions",
    "ConfigError",
    "GraphwalkError",
    "Maze",
    "Message",
    "Model",
    "ModelError",
    "OpenAITools",
    "OracleError",
    "PropertyGraph",
    "Reply",
    "Result",
    "Reward",
    "Run",
    "RunLogError",
    "Store",
    "StoreError",
    "Task",
    "ToolCall",
    "ToolSpec",
    "Usage",
    "aask",
    "amake_tasks",
    "aopen_store",
    "aplay",
    "arun",
    "ask",
    "build_agent",
    "compare",
    "from_networkx",
    "generate_graph",
    "generate_maze",
    "langchain_tools",
    "make_tasks",
    "maze_graph",
    "open_run",
    "open_store",
    "openai_model",
    "openai_tools",
    "play",
    "potentials",
    "read_graph",
    "reward",
    "run",
    "schema_prompt",
    "step_rewards",
    "to_networkx",
    "write_graph",
]

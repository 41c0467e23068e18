"""Code of a user, which mypy checks strictly (pyproject.toml): every form of a graph and of a model is accepted, and
no other. A line whose mistake mypy does not see is an unused `type: ignore`, which is an error.
"""

from collections.abc import Sequence
from pathlib import Path

from langchain_core.language_models import FakeListChatModel

import graphwalk
from graphwalk.extend import CallOptions, Message, PropertyGraph, Reply, ToolSpec


class Backend:
    """A model of a user: without a name, without `close`, and with its own names of parameters."""

    async def complete(self, history: Sequence[Message], specs: Sequence[ToolSpec], options: CallOptions) -> Reply:
        return Reply(Message("assistant", "42"))


class NoModel:
    def complete(self, text: str) -> str:
        return text


class DirectedGraph:
    """The methods of networkx's graphs, for which it ships no types."""

    def is_multigraph(self) -> bool:
        return False

    def is_directed(self) -> bool:
        return True


def every_form_of_a_graph(graph: PropertyGraph) -> None:
    graphwalk.open_store(graph)
    graphwalk.open_store("movies.graphml", labels=["Film"])
    graphwalk.open_store(Path("movies"))
    graphwalk.open_store({"neo4j": "movies"})
    graphwalk.open_store(DirectedGraph())
    graphwalk.write_graph(graphwalk.open_store(graph), "movies.json")
    graphwalk.open_store(7)  # type: ignore[arg-type]
    graphwalk.open_store(None)  # type: ignore[arg-type]
    graphwalk.open_store([graph])  # type: ignore[arg-type]


async def the_store_of_an_async_block_is_asked(graph: PropertyGraph) -> str | None:
    async with graphwalk.aopen_store(graph) as store:
        answer = await graphwalk.aask("Who?", store, model=Backend())
    return answer.answer


def every_form_of_a_model(graph: PropertyGraph) -> str | None:
    graphwalk.ask("Who?", graph, model="openai/gpt-4.1-mini")
    graphwalk.build_agent(FakeListChatModel(responses=["42"]), graph)
    graphwalk.run("quickstart", models=["openai/gpt-4.1-mini", Backend(), FakeListChatModel(responses=["42"])])
    graphwalk.ask("Who?", graph, model=NoModel())  # type: ignore[arg-type]
    graphwalk.ask("Who?", graph, model=7)  # type: ignore[arg-type]
    graphwalk.build_agent(Backend, graph)  # type: ignore[arg-type]
    return graphwalk.ask("Who?", graph, model=Backend()).answer

"""Suite of free questions about your own graph; they have no target."""

import hashlib
from collections.abc import Iterator

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.errors import ConfigError
from graphwalk.graphs.files import load_graph
from graphwalk.suites.ask.players import PLAYERS
from graphwalk.suites.ask.task import AskConfig, AskScore, AskTask, task_about
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.suite import Suite
from graphwalk.suites.task import Tasks
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS
from graphwalk.types.graph import PropertyGraph


class AskSuite(Suite[AskConfig, AskTask]):
    """The suite of `graphwalk ask`. Only questions about files can be run again, because a database may change."""

    name = "ask"
    settings = ("tools",)
    config_type = AskConfig
    task_type = AskTask
    score_type = AskScore
    tools = OWN_GRAPH_TOOLS
    players = PLAYERS

    def graphs(self, config: AskConfig, seed: int) -> Iterator[GraphInstance]:
        for source in config.graphs:
            if source.file is None:
                raise ConfigError(
                    f"cannot repeat questions about {source.name}: the Neo4j database may have changed",
                    hint="show the logged answers with graphwalk report or graphwalk view",
                )
            yield instance_of(source, load_graph(source.file))

    async def tasks(self, about: LoadedGraph, config: AskConfig, seed: int, agent: AgentConfig) -> Tasks[AskTask]:
        digest = about.instance.digest
        return Tasks([task_about(entry, number, digest, seed) for number, entry in enumerate(config.questions, 1)])


def instance_of(source: GraphSource, graph: PropertyGraph | None) -> GraphInstance:
    """Return the instance of a graph; `graph` is None if only its location is known."""
    facts = {"name": source.name, "source": source.model_dump(mode="json", exclude_none=True)}
    if graph is None:
        return GraphInstance(hashlib.sha256(source.model_dump_json().encode()).hexdigest(), None, source, facts)
    return GraphInstance.of(graph, source, facts)

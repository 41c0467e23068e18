"""Suite of free questions about your own graph; they have no target."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import ConfigError
from graphwalk.evaluation.extraction import Extraction, visible_text
from graphwalk.graphs.files import load_graph
from graphwalk.stores.base import GraphStore
from graphwalk.suites.ask.report import AskPresentation
from graphwalk.suites.ask.scripted import AskAgents
from graphwalk.suites.ask.task import AskConfig, AskScore, AskTask, score_of, task_about
from graphwalk.suites.suite import EpisodeSetup, GraphInstance, Presentation, ScriptedAgents, Suite
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.schema_text import schema_text
from graphwalk.tools.tool import Tool
from graphwalk.types.chat import Message
from graphwalk.types.episode import Score, Task, Trajectory
from graphwalk.types.graph import PropertyGraph


class AskSuite(Suite[AskConfig, AskTask]):
    """The suite of `graphwalk ask`. Only questions about files can be run again, because a database may change."""

    name: ClassVar[str] = "ask"
    settings: ClassVar[tuple[str, ...]] = ("tools",)
    task_type: ClassVar[type[Task]] = AskTask
    score_type: ClassVar[type[Score]] = AskScore
    config_type: ClassVar[type[SuiteConfig]] = AskConfig
    graphs_field: ClassVar[str] = "graphs"
    thing: ClassVar[str] = "own graph"
    judged: ClassVar[bool] = False
    tools: ClassVar[tuple[str, ...]] = OWN_GRAPH_TOOLS
    agents: ClassVar[ScriptedAgents[Any]] = AskAgents()
    presentation: ClassVar[Presentation[Any]] = AskPresentation()

    def graphs(self, config: AskConfig, seed: int) -> Iterator[GraphInstance]:
        for source in config.graphs:
            if source.file is None:
                raise ConfigError(
                    f"cannot repeat questions about {source.name}: the Neo4j database may have changed",
                    hint="show the logged answers with graphwalk report or graphwalk view",
                )
            yield instance_of(source, load_graph(source.file))

    async def tasks(
        self,
        instance: GraphInstance,
        store: GraphStore | None,
        config: AskConfig,
        seed: int,
        agent: AgentConfig = AgentConfig(),
    ) -> list[AskTask]:
        return [task_about(entry, number, instance.digest, seed) for number, entry in enumerate(config.questions, 1)]

    async def setup(
        self,
        task: AskTask,
        setting: str,
        instance: GraphInstance,
        store: GraphStore | None,
        agent: AgentConfig,
        tools: Sequence[Tool] | None = None,
    ) -> EpisodeSetup:
        assert store is not None
        schema = await store.schema(agent.schema_samples)
        toolbox = GraphToolbox(store, schema, tools, agent)
        text = schema_text(schema, agent)
        system = agent.render("ask.j2", schema=text, clock=agent.clock, search=toolbox.searches)
        prompt = [Message("system", system)]
        for one in task.earlier:
            prompt += [Message("user", one.question), Message("assistant", one.answer or "(no answer)")]
        prompt.append(Message("user", task.question))
        return EpisodeSetup(tuple(prompt), toolbox)

    def extract(self, task: AskTask, reply: str) -> Extraction:
        """Return the reply without its reasoning."""
        answer = visible_text(reply)
        return Extraction(answer, "strict") if answer else Extraction()

    def answer_format(self, task: AskTask, agent: AgentConfig = AgentConfig()) -> str:
        return "The answer in words."

    def score(self, task: AskTask, setting: str, trajectory: Trajectory, extraction: Extraction) -> AskScore:
        return score_of(trajectory, extraction.answer)


def instance_of(source: GraphSource, graph: PropertyGraph | None) -> GraphInstance:
    """Return the instance of a graph; `graph` is None if only its location is known."""
    facts = {"name": source.name, "source": source.model_dump(mode="json", exclude_none=True)}
    if graph is None:
        return GraphInstance(hashlib.sha256(source.model_dump_json().encode()).hexdigest(), None, source, facts)
    return GraphInstance.of(graph, source, facts)

"""Base class of suites whose tasks are questions about one graph, with the prompts that they share."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from graphwalk.config.agent import AgentConfig
from graphwalk.models.scripted import Policy
from graphwalk.stores.base import GraphStore
from graphwalk.suites.reference import ReferenceWalk, drive
from graphwalk.suites.suite import C, EpisodeSetup, GraphInstance, Suite, T
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.schema_text import schema_text
from graphwalk.tools.tool import Tool, load_tools
from graphwalk.types.chat import Message
from graphwalk.types.schema import Schema

QUERY_TOOLS = ("run_cypher",)
"""Tools of the setting write_cypher."""


class GraphSuite(Suite[C, T]):
    """Questions about one graph: with tools, with the whole graph in the prompt, or with queries of the model."""

    settings = ("tools", "no_tools", "write_cypher")
    tools = GRAPH_TOOLS

    def __init__(self) -> None:
        self._offered: dict[tuple[str, str, AgentConfig], tuple[Message, GraphToolbox]] = {}
        """System prompt and tools by graph, setting and agent, shared by all episodes."""

    @abstractmethod
    def no_tools_prompt(self, task: T, instance: GraphInstance, agent: AgentConfig) -> tuple[Message, ...]:
        """Return the prompt with the whole graph."""

    async def setup(
        self,
        task: T,
        setting: str,
        instance: GraphInstance,
        store: GraphStore | None,
        agent: AgentConfig,
        tools: Sequence[Tool] | None = None,
    ) -> EpisodeSetup:
        if setting == "no_tools":
            return EpisodeSetup(self.no_tools_prompt(task, instance, agent))
        assert store is not None
        if (instance.digest, setting, agent) not in self._offered:
            offered = await _prompt_and_tools(setting, store, agent, tools)
            self._offered[instance.digest, setting, agent] = offered
        system, toolbox = self._offered[instance.digest, setting, agent]
        return EpisodeSetup((system, Message("user", task.question)), toolbox)

    def texts(self, config: C) -> Mapping[str, str]:
        """Return the YAML of the tool of write_cypher."""
        return {f"tools/{tool.name}.yaml": tool.file_text for tool in load_tools(QUERY_TOOLS)}

    async def reference_walk(self, task: T, store: GraphStore, policy: Policy) -> ReferenceWalk:
        """Return the walk of a scripted agent with the default prompt and tools."""
        system, toolbox = await _prompt_and_tools("tools", store, AgentConfig(), None)
        return await drive(policy, toolbox, (system, Message("user", task.question)))


async def _prompt_and_tools(
    setting: str, store: GraphStore, agent: AgentConfig, tools: Sequence[Tool] | None
) -> tuple[Message, GraphToolbox]:
    schema = await store.schema(agent.schema_samples)
    if setting == "write_cypher":
        toolbox = GraphToolbox(store, schema, load_tools(QUERY_TOOLS), agent)
        return with_schema("graph_write_cypher.j2", schema, agent), toolbox
    toolbox = GraphToolbox(store, schema, tools, agent)
    return tools_system(schema, agent, search=toolbox.searches), toolbox


def tools_system(schema: Schema, agent: AgentConfig, *, search: bool = False) -> Message:
    """Return the system prompt with the schema, cut to `agent.schema_tokens` if set; `search`: a tool searches."""
    if agent.schema_tokens is None:
        return with_schema("graph_tools.j2", schema, agent, search=search)
    text = schema_text(schema, agent)
    return Message("system", agent.render("graph_foreign.j2", schema=text, clock=agent.clock, search=search))


def with_schema(prompt: str, schema: Schema, agent: AgentConfig, *, search: bool = False) -> Message:
    """Return the system prompt with the schema table (docs/method.md, Schema) and its sample values, if any."""
    rows = tuple(schema.rows())
    samples = any(row.property is not None and row.property.samples for row in rows)
    return Message("system", agent.render(prompt, rows=rows, samples=samples, clock=agent.clock, search=search))

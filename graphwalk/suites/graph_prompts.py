"""Prompts and tools of questions about one graph, shared by suites."""

from collections.abc import Mapping

from graphwalk.agent.prompt import Prompt
from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.text import graph_text
from graphwalk.models.chat import Message
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS
from graphwalk.tools.schema_text import schema_text
from graphwalk.tools.tool import load_tools

GRAPH_SETTINGS = ("tools", "no_tools", "write_cypher")
"""Settings: with tools, with the whole graph in the prompt, or with queries of the model."""
QUERY_TOOLS = ("run_cypher",)
"""Tools of the setting write_cypher."""
_FORMATS = {"json": "JSON", "incidence": "incidence lists"}


async def graph_prompt(question: str, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
    """Return the prompt of one of `GRAPH_SETTINGS`. Raise StoreError."""
    if setting == "no_tools":
        whole = about.once(("whole graph", agent), lambda: whole_graph(about.graph, agent))
        return Prompt((whole, Message("user", question)))
    schema = await about.schema(agent)
    if setting == "write_cypher":
        toolbox = await about.toolbox(agent.model_copy(update={"tools": QUERY_TOOLS}))
        system = about.once(("queries", agent), lambda: with_schema("graph_write_cypher.j2", schema, agent))
    else:
        toolbox = await about.toolbox(agent)
        system = about.once(("system", agent), lambda: tools_system(schema, agent, search=toolbox.searches))
    return Prompt((system, Message("user", question)), toolbox)


async def own_graph_prompt(question: str, about: LoadedGraph, agent: AgentConfig) -> Prompt:
    """Return the prompt of `graphwalk ask`. Raise StoreError."""
    toolbox = await about.toolbox(agent, OWN_GRAPH_TOOLS)
    system = own_graph_system(await about.schema(agent), agent, search=toolbox.searches)
    return Prompt((Message("system", system), Message("user", question)), toolbox)


def own_graph_system(schema: Schema, agent: AgentConfig, *, search: bool) -> str:
    """Return the system prompt for questions about an own graph; `search`: a tool searches."""
    return agent.render("ask.j2", schema=schema_text(schema, agent), search=search)


def own_graph_query_system(schema: Schema, agent: AgentConfig) -> str:
    """Return the system prompt for questions about an own graph that the model answers by queries."""
    queries = with_schema("graph_write_cypher.j2", schema, agent).content
    return f"{queries}\n\n{agent.render('ask_write_cypher.j2')}"


def whole_graph(graph: PropertyGraph, agent: AgentConfig) -> Message:
    """Return the system prompt with the whole graph in `agent.graph_encoding`."""
    text = graph_text(graph, agent.graph_encoding)
    format_name = _FORMATS[agent.graph_encoding]
    return Message("system", agent.render("graph_no_tools.j2", graph=text, format=format_name))


def query_texts() -> Mapping[str, str]:
    """Return the YAML of the tool of write_cypher, by file name in a run folder."""
    return {f"tools/{tool.name}.yaml": tool.file_text for tool in load_tools(QUERY_TOOLS)}


def tools_system(schema: Schema, agent: AgentConfig, *, search: bool = False) -> Message:
    """Return the system prompt with the schema, cut to `agent.schema_tokens` if set; `search`: a tool searches."""
    if agent.schema_tokens is None:
        return with_schema("graph_tools.j2", schema, agent, search=search)
    text = schema_text(schema, agent)
    return Message("system", agent.render("graph_foreign.j2", schema=text, search=search))


def with_schema(prompt: str, schema: Schema, agent: AgentConfig, *, search: bool = False) -> Message:
    """Return the system prompt with the schema table (docs/method.md, Schema) and its sample values, if any."""
    rows = tuple(schema.rows())
    samples = any(row.property is not None and row.property.samples for row in rows)
    return Message("system", agent.render(prompt, rows=rows, samples=samples, search=search))

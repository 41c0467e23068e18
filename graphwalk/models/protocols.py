"""The tool protocol of an agent, by its name in `agent.tool_protocol`."""

from graphwalk.config.agent import AgentConfig
from graphwalk.models.json_protocol import JsonProtocol
from graphwalk.models.text_protocol import AutoProtocol, TextProtocol, ToolProtocol


def protocol_of(agent: AgentConfig) -> ToolProtocol | None:
    """Return the protocol of an agent; None for native calls alone."""
    if agent.tool_protocol == "native":
        return None
    in_text = TextProtocol(agent.texts)
    if agent.tool_protocol == "json":
        return JsonProtocol(agent.texts, in_text, agent.max_calls_per_turn)
    return AutoProtocol(in_text) if agent.tool_protocol == "auto" else in_text

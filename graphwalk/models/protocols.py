"""The tool protocol of an agent, by its name in `agent.tool_protocol`, and models that speak it."""

from graphwalk.config.agent import AgentConfig
from graphwalk.models.base import Model
from graphwalk.models.json_protocol import JsonProtocol
from graphwalk.models.native_calls import StrictTools
from graphwalk.models.text_protocol import TextProtocol
from graphwalk.models.wrappers import TextTools


def protocol_of(agent: AgentConfig) -> TextProtocol | None:
    """Return the protocol of an agent; None for native calls."""
    if agent.tool_protocol == "native":
        return None
    if agent.tool_protocol == "json":
        return JsonProtocol(agent.texts, agent.max_calls_per_turn)
    return TextProtocol(agent.texts)


def with_tools(model: Model, agent: AgentConfig) -> Model:
    """Return a shared model that calls tools as an agent does; each episode adds `Cached`."""
    if (protocol := protocol_of(agent)) is not None:
        model = TextTools(model, protocol)
    return StrictTools(model) if agent.strict_tools else model

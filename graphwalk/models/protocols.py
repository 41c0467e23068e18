"""The tool protocol of an agent, by its name in `agent.tool_protocol`, and models that speak it."""

from collections.abc import Callable

from graphwalk.config.agent import AgentConfig
from graphwalk.models.base import Model
from graphwalk.models.json_protocol import JsonProtocol
from graphwalk.models.native_calls import StrictTools
from graphwalk.models.text_protocol import AutoProtocol, TextProtocol, ToolProtocol
from graphwalk.models.wrappers import TextTools


def protocol_of(agent: AgentConfig) -> ToolProtocol | None:
    """Return the protocol of an agent; None for native calls alone."""
    if agent.tool_protocol == "native":
        return None
    in_text = TextProtocol(agent.texts)
    if agent.tool_protocol == "json":
        return JsonProtocol(agent.texts, in_text, agent.max_calls_per_turn)
    return AutoProtocol(in_text) if agent.tool_protocol == "auto" else in_text


def with_tools(model: Model, agent: AgentConfig, note: Callable[[str], object] = lambda text: None) -> Model:
    """Return a shared model that calls tools as an agent does; each episode adds `Cached`."""
    if (protocol := protocol_of(agent)) is not None:
        model = TextTools(model, protocol, note)
    return StrictTools(model) if agent.strict_tools else model

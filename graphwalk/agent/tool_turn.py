"""The tool calls of one turn: all of them, in order; side by side where that changes nothing."""

import asyncio
from collections.abc import Sequence

from graphwalk.config.agent import AgentConfig
from graphwalk.toolbox.toolbox import Toolbox
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult


async def run_tool_calls(
    toolbox: Toolbox, calls: Sequence[ToolCall], config: AgentConfig, made: int
) -> tuple[ToolResult, ...]:
    """Results in the order of the calls. Calls beyond a limit are refused in words; `made`: calls of earlier turns."""
    allowed, reason, limit = _allowance(config, made)
    accepted, refused = calls[:allowed], calls[allowed:]
    if toolbox.ordered or len(accepted) == 1:
        results = [await toolbox.call(call) for call in accepted]
    else:
        results = await asyncio.gather(*(toolbox.call(call) for call in accepted))
    return (*results, *(_refusal(call, reason, limit, config) for call in refused))


def _allowance(config: AgentConfig, made: int) -> tuple[int, str, int]:
    """How many calls may be made now, and the reason and limit to name for those beyond."""
    limits = [(config.max_calls_per_turn, "too_many_calls", config.max_calls_per_turn)]
    if not config.parallel_tool_calls:
        limits.append((1, "one_call_per_turn", 1))
    if config.call_limit is not None:
        limits.append((max(0, config.call_limit - made), "call_limit", config.call_limit))
    return min(limits)


def _refusal(call: ToolCall, reason: str, limit: int, config: AgentConfig) -> ToolResult:
    return ToolResult(call, config.render("call_refused.j2", reason=reason, limit=limit), error=reason)

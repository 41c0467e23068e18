"""The conversation that a model is sent, rebuilt from the prompt and the turns; compaction of long ones.

Compaction is the paper's open question (GraphWalk, section on limitations): `none` sends everything, `window` leaves
out tool results of older turns, `summary` lets the model sum up older turns in its own words.
"""

from collections.abc import Sequence
from dataclasses import replace

from graphwalk.config.agent import AgentConfig
from graphwalk.models.model import Model
from graphwalk.types.chat import CallOptions, Message, Reply
from graphwalk.types.episode import ToolResult, Turn


def conversation(prompt: Sequence[Message], turns: Sequence[Turn], config: AgentConfig) -> list[Message]:
    """All messages so far, as they are to be sent for the next turn."""
    messages = list(prompt)
    first_whole = len(turns) - config.compaction_window if config.compaction == "window" else 0
    for number, turn in enumerate(turns):
        if turn.summary is not None:
            messages = [*prompt, summary_message(turn.summary, config)]
        messages.append(turn.message)
        for result in turn.results:
            content = result.content if number >= first_whole else _left_out(result, config)
            messages.append(Message("tool", content, tool_call_id=result.call.id))
        if turn.next_user is not None:
            messages.append(Message("user", turn.next_user))
    return messages


def answer_now(config: AgentConfig) -> Message:
    """The last request, when the turn limit is reached."""
    return Message("user", config.render("answer_now.j2"))


def summary_message(summary: str, config: AgentConfig) -> Message:
    return Message("user", config.render("summary.j2", summary=summary))


def summary_due(turns: Sequence[Turn], config: AgentConfig) -> bool:
    """True when twice the window has passed since the last summary, so that summaries stay rare."""
    since = next((n for n, turn in enumerate(reversed(turns)) if turn.summary is not None), len(turns))
    return config.compaction == "summary" and since >= 2 * config.compaction_window


async def summarize(messages: Sequence[Message], model: Model, config: AgentConfig, options: CallOptions) -> Reply:
    """The model's own summary of the conversation so far, asked for without tools."""
    request = Message("user", config.render("summarize.j2"))
    return await model.complete([*messages, request], (), replace(options, parallel_tool_calls=None))


def _left_out(result: ToolResult, config: AgentConfig) -> str:
    shortened = config.render("result_left_out.j2", rows=result.rows)
    return shortened if len(shortened) < len(result.content) else result.content

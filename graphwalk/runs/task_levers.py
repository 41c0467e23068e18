"""The levers of an episode: what its agent switches on for a task (docs/method.md, Levers)."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphwalk.agent.levers import ANSWER, ROWS, AnswerTool, NamesInTools
from graphwalk.agent.prompt import AnswerForm, Prompt
from graphwalk.config.agent import AgentConfig
from graphwalk.config.strict import is_path
from graphwalk.errors import ConfigError, manual
from graphwalk.models.chat import CallOptions, Message, Model, Reply, ToolCall, ToolSpec
from graphwalk.suites.graph_prompts import GRAPH_SETTINGS
from graphwalk.suites.suite import Suite, Task
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.toolbox import Toolbox


def check_levers(agent: AgentConfig, suite: Suite[Any, Any], settings: Sequence[str]) -> None:
    """Raise ConfigError for levers that contradict each other, or that this suite or these settings do not have."""
    is_required = agent.tool_choice == "required"
    is_text = agent.tool_format == "text"
    is_native = agent.tool_format == "native"
    answers_by_tool = agent.answer == "tool"
    # Only a suite with typed answers replaces the method, which returns None.
    answers_in_words = suite.task_type.answer_form is Task.answer_form
    tool_names = [_name(tool) for tool in agent.tools or ()]
    has_graph_setting = not set(GRAPH_SETTINGS).isdisjoint(settings)
    graph_settings = ", ".join(GRAPH_SETTINGS)
    rules = (
        ("tool_choice", is_required and is_text, "not with tool_format: text"),
        # A model that must call a tool can answer only by one. (In the JSON format it can always answer.)
        ("tool_choice", is_required and is_native and not answers_by_tool, "required needs answer: tool, or json"),
        ("nudges", agent.nudges > 0 and not has_graph_setting, f"needs one of the settings {graph_settings}"),
        ("answer", answers_by_tool and ANSWER in tool_names, "not with a tool of this name"),
        ("answer", answers_by_tool and answers_in_words, f"the suite {suite.name} has no typed answers"),
    )
    for field, contradicts, why in rules:
        if contradicts:
            raise ConfigError(f"agent.{field}: {why}", hint=f"{manual('method')} section Levers")


def _name(tool: str) -> str:
    return Path(tool).stem if is_path(tool) else tool


def with_levers(prompt: Prompt, task: Task, setting: str, agent: AgentConfig) -> Prompt:
    """Return the start of an episode with everything that its agent switches on."""
    toolbox: Toolbox | None = prompt.toolbox
    form: AnswerForm | None = None
    if agent.answer == "tool" or agent.tool_format == "json":
        form = task.answer_form()
    if agent.names_in_tools and isinstance(prompt.toolbox, GraphToolbox):
        toolbox = NamesInTools(prompt.toolbox, agent)
    if toolbox is not None and form is not None and agent.answer == "tool":
        toolbox = AnswerTool(toolbox, form, agent)
    if agent.nudges and setting in GRAPH_SETTINGS:
        prompt = replace(prompt, nudge=lambda reply: nudge_for(reply, task, toolbox, agent))
    return replace(prompt, toolbox=toolbox, answer=form)


def nudge_for(reply: str, task: Task, toolbox: Toolbox | None, agent: AgentConfig) -> str | None:
    """Return what is missing in a reply without calls; None if the task can read an answer in it."""
    if task.read(reply).answer is not None:
        return None
    tools = [] if toolbox is None else [spec.name for spec in toolbox.specs]
    answer_format = task.answer_format(agent).strip()
    return agent.texts.message("nudge", empty=not reply.strip(), tools=tools, answer=ANSWER, format=answer_format)


class AnswersByTool:
    """A scripted agent whose answer becomes a call of the tool `answer`, where it is offered and can be read.

    If that call is refused, the answer is given as text.
    """

    def __init__(self, inner: Model, task: Task) -> None:
        self.name = inner.name
        self._inner = inner
        self._task = task
        self._called = False

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = await self._inner.complete(messages, tools, options)
        is_offered = any(tool.name == ANSWER for tool in tools)
        if reply.message.tool_calls or self._called or not is_offered:
            return reply
        rows = self._task.read(reply.message.content or "").answer
        if rows is None:
            return reply
        self._called = True
        call = ToolCall("call_answer", ANSWER, json.dumps({ROWS: rows}, ensure_ascii=False))
        return Reply(Message("assistant", tool_calls=(call,)), finish_reason="tool_calls", model=self.name)

    async def close(self) -> None:
        await self._inner.close()

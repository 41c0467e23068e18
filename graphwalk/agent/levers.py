"""Levers: what helps a model to walk, each switched by a field of `agent` (docs/method.md, Levers)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphwalk.agent.answer_tool import ANSWER, AnswerTool
from graphwalk.agent.names import NamesInTools
from graphwalk.config.agent import AgentConfig
from graphwalk.config.strict import is_path
from graphwalk.errors import ConfigError
from graphwalk.suites.graph_prompts import GRAPH_SETTINGS
from graphwalk.suites.suite import Suite
from graphwalk.suites.task import AnswerForm, Prompt, Task
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.toolbox import Toolbox


def check_levers(agent: AgentConfig, suite: Suite[Any, Any], settings: Sequence[str]) -> None:
    """Raise ConfigError for levers that contradict each other, or that this suite or these settings do not have."""
    required, protocol = agent.tool_choice == "required", agent.tool_protocol
    native = protocol == "native"
    answers_in_words = suite.task_type.answer_form is Task.answer_form
    rules = (
        ("tool_choice", required and protocol == "text", f"not with tool_protocol: {protocol}"),
        ("strict_tools", agent.strict_tools and not native, f"not with tool_protocol: {protocol}"),
        ("tool_choice", required and native and agent.answer != "tool", "required needs answer: tool, or json"),
        (
            "nudges",
            agent.nudges > 0 and not set(GRAPH_SETTINGS) & set(settings),
            f"needs one of the settings {', '.join(GRAPH_SETTINGS)}",
        ),
        ("answer", agent.answer == "tool" and ANSWER in map(_name, agent.tools or ()), "not with a tool of this name"),
        ("answer", agent.answer == "tool" and answers_in_words, f"the suite {suite.name} has no typed answers"),
    )
    for field, contradicts, why in rules:
        if contradicts:
            raise ConfigError(f"agent.{field}: {why}", hint="docs/method.md, Levers")


def _name(tool: str) -> str:
    return Path(tool).stem if is_path(tool) else tool


def with_levers(prompt: Prompt, task: Task, setting: str, agent: AgentConfig) -> Prompt:
    """Return the start of an episode with everything that its agent switches on."""
    toolbox: Toolbox | None = prompt.toolbox
    form: AnswerForm | None = None
    if agent.answer == "tool" or agent.tool_protocol == "json":
        form = task.answer_form()
    if isinstance(prompt.toolbox, GraphToolbox):
        toolbox = tools_with_levers(prompt.toolbox, agent)
    if toolbox is not None and form is not None and agent.answer == "tool":
        toolbox = AnswerTool(toolbox, form, agent)
    if agent.nudges and setting in GRAPH_SETTINGS:
        prompt = replace(prompt, nudge=lambda reply: nudge_for(reply, task, toolbox, agent))
    return replace(prompt, toolbox=toolbox, answer=form)


def tools_with_levers(graph: GraphToolbox, agent: AgentConfig) -> Toolbox:
    """Return the tools with the levers that need no task."""
    return NamesInTools(graph, agent) if agent.names_in_tools else graph


def nudge_for(reply: str, task: Task, toolbox: Toolbox | None, agent: AgentConfig) -> str | None:
    """Return what is missing in a reply without calls; None if the task can read an answer in it."""
    if task.read(reply).answer is not None:
        return None
    tools = [] if toolbox is None else [spec.name for spec in toolbox.specs]
    answer_format = task.answer_format(agent).strip()
    return agent.texts.message("nudge", empty=not reply.strip(), tools=tools, answer=ANSWER, format=answer_format)

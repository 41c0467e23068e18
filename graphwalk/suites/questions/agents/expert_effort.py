"""Reference figures of a question: turns, tool calls and tokens of the scripted expert."""

import json
from functools import cache

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.schema import schema_of
from graphwalk.graphs.values import Row
from graphwalk.models.chat import Message
from graphwalk.models.tokens import count_tokens
from graphwalk.stores.base import GraphStore
from graphwalk.suites.graph_prompts import tools_system
from graphwalk.suites.questions.agents.scripted import expert
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.reference import CachedTools, ReferenceWalk, drive
from graphwalk.suites.rows import compare_rows
from graphwalk.tools.graph_toolbox import GraphToolbox


class ExpertReference:
    """Reference walks on a graph in the embedded engine (docs/method.md, Questions), with the default prompt.

    Pages are those of the agent, but values are not shortened, because the expert's answer is checked. Pages of a
    number of tokens are those of the texts.
    """

    def __init__(self, embedded: GraphStore, graph: PropertyGraph, agent: AgentConfig) -> None:
        fields = {"result_tokens", "encoding"} if agent.result_tokens is not None else set[str]()
        pages = AgentConfig(**agent.model_dump(include=fields))
        self._schema = schema_of(graph)
        self._tools = CachedTools(GraphToolbox(embedded, self._schema, agent=pages, whole_values=True))
        self._system = tools_system(self._schema, AgentConfig())
        self._count = cache(count_tokens)

    async def __call__(self, task: QuestionTask) -> ReferenceWalk:
        """Return the reference walk. Raise OracleError if the expert's answer differs from the target."""
        agent = expert(task.template, task.parameters, self._schema)
        walk = await drive(agent, self._tools, (self._system, Message("user", task.question)), self._count)
        rows: list[Row] = json.loads(walk.answer)
        any_one = task.mode != "set"
        if rows != task.target and not compare_rows(rows, task.target, task.answer_fields, any_one=any_one).correct:
            raise OracleError(
                f"the expert's answer to {task.task_id} differs from the target ({task.question.strip()})\n"
                f"  expert: {walk.answer}\n  target: {json.dumps(task.target, ensure_ascii=False)}",
                hint=f"graphwalk list questions {task.template}",
            )
        return walk

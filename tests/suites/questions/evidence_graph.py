"""A small graph with its tools, and answers to questions about it after chosen calls."""

import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import Row, Value
from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.graph_prompts import tools_system
from graphwalk.suites.questions.catalogue import shipped_kinds
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.question import Question
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.rows import distinct
from graphwalk.tools.graph_toolbox import GraphToolbox
from tests.explained import explained_score

NODES = [
    Node("a1", ("A",), {"p": 1, "name": "x"}),
    Node("a2", ("A",), {"p": 2}),
    Node("a3", ("A",), {"p": 1}),
    Node("b1", ("B",), {"q": "red"}),
    Node("b2", ("B",), {"q": "blue"}),
    Node("c1", ("C",), {"q": "green"}),
    Node("c2", ("C",), {}),
]
RELATIONSHIPS = [
    Relationship("R", "a1", "b1", {"w": 1}),
    Relationship("R", "a1", "b1", {"w": 1}),
    Relationship("S", "a1", "c1", {"w": 2}),
    Relationship("R", "a2", "b1", {"w": 2}),
    Relationship("S", "b1", "c2", {"w": 5}),
    Relationship("T", "c2", "c2", {}),
]
GRAPH = PropertyGraph.from_rows(NODES, RELATIONSHIPS)

Asked = tuple[str, dict[str, Any]]


def nodes(label: str, name: str, value: Value, **more: Any) -> Asked:
    return "get_node_by_property", {"label": label, "property_name": name, "property_value": value, **more}


def near(label: str, name: str, value: Value, **more: Any) -> Asked:
    return "get_all_nearest_neighbors", {"label": label, "property_name": name, "property_value": value, **more}


def values(entity: str, name: str = "key", kind: str = "node") -> Asked:
    return "get_unique_property_values", {"entity_name": entity, "property_name": name, "entity_type": kind}


LISTED = [
    *(values(label) for label in "ABC"),
    *(values("A", name) for name in ("p", "name")),
    *(values(label, "q") for label in "BC"),
    *(values(type_, "w", "relationship") for type_ in "RS"),
]
"""Everything that can be listed, which shows no relationship."""
WALKED = [*(ask(node.label, "key", node.key) for node in NODES for ask in (nodes, near)), *LISTED]
"""All there is."""


@dataclass
class Place:
    """The graph with its tools."""

    store: GraphStore
    schema: Schema
    agent: AgentConfig = AgentConfig()

    async def results(self, asked: list[Asked]) -> list[ToolResult]:
        toolbox = GraphToolbox(self.store, self.schema, agent=self.agent)
        calls = [ToolCall(str(n), name, json.dumps(arguments)) for n, (name, arguments) in enumerate(asked)]
        return [await toolbox.call(call) for call in calls]

    async def score(
        self, task: QuestionTask, answer: list[Row], asked: list[Asked], results: list[ToolResult] | None = None
    ) -> SimpleNamespace:
        shown = tuple(await self.results(asked) if results is None else results)
        turns = (Turn(Message("assistant"), results=shown), Turn(Message("assistant", json.dumps(answer))))
        prompt = (tools_system(self.schema, self.agent), Message("user", task.question))
        trajectory = Trajectory(tuple(prompt), turns, ExitStatus.ANSWERED)
        return explained_score(task, "tools", trajectory, task.read(trajectory.reply))


async def place(**agent: Any) -> Place:
    store = await EmbeddedDatabase().load(GRAPH)
    return Place(store, await store.schema(), AgentConfig(**agent))


def task(template: str, graph: PropertyGraph = GRAPH, **parameters: Value) -> QuestionTask:
    """A question about a graph, with its target."""
    kind = shipped_kinds()[template]
    index = GraphIndex(graph)
    question = Question(kind, index, parameters)
    assert question.part is not None
    target = distinct(question.part.rows(index))
    return QuestionTask(
        task_id="t",
        template=template,
        question="Which?",
        parameters=parameters,
        target=target,
        target_size=len(target),
        seed=0,
        graph_digest=graph.digest,
        category=kind.category,
        cypher=question.cypher,
        cypher_parameters=question.values,
        answer_fields=question.answer_fields,
        scored_fields=kind.scored_fields or question.answer_fields,
        mode=kind.mode,
        template_version=1,
    )

"""Wrong answers with a cause that was named by hand, in all settings and for all kinds of question."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from graphwalk.config.agent import AgentConfig
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.graph_prompts import QUERY_TOOLS, tools_system
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.questions.scoring.score import QuestionScore
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import ExitStatus, Trajectory, Turn
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from tests.suites.questions.evidence_graph import task

FILE = yaml.safe_load((Path(__file__).parent / "failures.yaml").read_text())
TOOLS = {
    "near": ("get_all_nearest_neighbors", ("label", "property_name", "property_value")),
    "nodes": ("get_node_by_property", ("label", "property_name", "property_value")),
    "values": ("get_unique_property_values", ("entity_name", "property_name")),
}
GRAPH = PropertyGraph.from_rows(
    [Node(key, (label,), own) for label, nodes in FILE["nodes"].items() for key, own in nodes.items()],
    [Relationship(type_, *row) for type_, rows in FILE["relationships"].items() for row in rows],
)


def reply_of(reply: Any, fields: tuple[str, ...]) -> str:
    """The text of a reply; a list has the values of the scored fields of each row."""
    if isinstance(reply, str):
        return reply
    rows = [row.split() if isinstance(row, str) else [row] for row in reply]
    return json.dumps([dict(zip(fields, map(as_value, row), strict=True)) for row in rows])


def as_value(word: Any) -> Any:
    return int(word) if isinstance(word, str) and word.isdigit() else word


def call_of(text: str) -> tuple[str, dict[str, Any]]:
    name, *words = text.replace('"', "").split()
    tool, names = TOOLS[name]
    more = {"entity_type": "node"} if name == "values" else {}
    return tool, {**dict(zip(names, map(as_value, words), strict=True)), **more}


@pytest.fixture
async def here() -> LoadedGraph:
    return LoadedGraph(GraphInstance.of(GRAPH), await EmbeddedDatabase().load(GRAPH))


async def score_of(one: dict[str, Any], here: LoadedGraph) -> QuestionScore:
    ((template, parameters),) = FILE["questions"][one["question"]].items()
    asked = task(template, GRAPH, **parameters)
    schema = await here.schema(AgentConfig())
    toolbox = await here.toolbox(AgentConfig(), QUERY_TOOLS if one["setting"] == "write_cypher" else None)
    made = [call_of(text) for text in one.get("calls", ())]
    made += [(QUERY_TOOLS[0], {"query": query}) for query in one.get("queries", ())]
    calls = [ToolCall(str(number), name, json.dumps(given)) for number, (name, given) in enumerate(made)]
    turns = [Turn(Message("assistant", tool_calls=(call,)), results=(await toolbox.call(call),)) for call in calls]
    said = Turn(Message("assistant", reply_of(one["reply"], asked.scored_fields)))
    end = ExitStatus(one.get("end", "answered"))
    prompt = (tools_system(schema, AgentConfig()), Message("user", one["question"]))
    trajectory = Trajectory(prompt, (*turns, said), end)
    extraction = asked.read(trajectory.reply)
    score = asked.score(one["setting"], trajectory, extraction)
    assert not score.correct, one
    explained = asked.with_cause(score, one["setting"], trajectory, extraction.answer, here)
    assert isinstance(explained, QuestionScore)
    return explained


async def test_at_least_55_of_60_causes_are_named_right(here: LoadedGraph) -> None:
    wrong = []
    for one in FILE["answers"]:
        score = await score_of(one, here)
        condition = one.get("condition", score.ignored_condition)
        if (score.failure, score.ignored_condition) != (one["cause"], condition):
            wrong.append(f"{one}: {score.failure}, {score.ignored_condition} ({score.failure_detail})")
    total = len(FILE["answers"])
    assert total >= 60
    assert 60 * (total - len(wrong)) >= 55 * total, "\n".join(wrong)

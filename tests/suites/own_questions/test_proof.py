"""Proofs of answers to an own question: the rows of its Cypher on what was seen, if there can be no others."""

import json
from typing import Any

import pytest

from graphwalk.config.agent import foreign_agent
from graphwalk.config.resources import data_path
from graphwalk.graphs.files import load_graph
from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.graph_prompts import own_graph_system
from graphwalk.suites.own_questions.proof import path_pattern
from graphwalk.suites.own_questions.suite import OwnQuestionTask
from graphwalk.suites.own_questions.targets import find_targets
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import load_tools
from tests.explained import explained_score
from tests.suites.questions.evidence_graph import Asked, near, nodes, values

HARBOUR = data_path("templates") / "graphs" / "harbour.json"
QUESTIONS = data_path("templates") / "graphs" / "harbour.questions.jsonl"


def search(text: str) -> Asked:
    return "search_nodes", {"text": text}


NAMES = [*(values(label, "name") for label in ("Ship", "Harbour", "Captain", "Person", "Merchant", "Cargo"))]
BY_NAME = near("Ship", "name", "Sea Holly")


async def score(question: str, asked: list[Asked], *, in_last_turn: bool = False, setting: str = "tools") -> Any:
    """Return the score of the right answer to a question of the built-in graph after these calls."""
    graph, agent = load_graph(HARBOUR), foreign_agent()
    async with EmbeddedDatabase() as database:
        store = await database.load(graph)
        targets = await find_targets(graph, store, QUESTIONS, agent)
        toolbox = GraphToolbox(store, await store.schema(samples=3), load_tools(OWN_GRAPH_TOOLS), agent)
        results: list[ToolResult] = []
        for number, (name, arguments) in enumerate(asked):
            results.append(await toolbox.call(ToolCall(str(number), name, json.dumps(arguments))))
    target = next(one for one in targets if one.question.id == question)
    task = OwnQuestionTask(
        task_id=question,
        suite="own_questions",
        template="own_question",
        question=target.question.question,
        parameters={},
        target=target.rows,
        target_size=len(target.rows),
        seed=0,
        graph_digest=graph.digest,
        fields=tuple(target.rows[0]) if target.rows else ("value",),
        names=target.names,
        tags=(),
        cypher=target.question.cypher,
    )
    system = Message("system", own_graph_system(toolbox.schema, agent, search=True))
    prompt = (system, Message("user", task.question))
    answer = json.dumps([row["value"] if tuple(row) == ("value",) else row for row in task.target])
    turns = [Turn(Message("assistant"), results=tuple(results)), Turn(Message("assistant", answer))]
    if in_last_turn:
        turns = [Turn(Message("assistant", answer), results=tuple(results))]
    trajectory = Trajectory(prompt, tuple(turns), ExitStatus.ANSWERED)
    return explained_score(task, setting, trajectory, task.read(answer))


def key_of(name: str) -> str:
    return next(node.key for node in load_graph(HARBOUR).nodes() if node.properties.get("name") == name)


@pytest.mark.parametrize(
    ("question", "asked", "proven"),
    [
        ("h01", NAMES, False),
        ("h01", [search("Sea Holly"), search("Skerrin")], False),
        ("h01", [nodes("Ship", "name", "Sea Holly")], False),
        ("h01", [BY_NAME], True),
        ("h01", [search("Sea Holly"), near("Ship", "key", key_of("Sea Holly"))], True),
        ("h01", [near("Ship", "key", key_of("Sea Holly"))], False),
        ("h03", [near("Ship", "name", "Sea Holly", direction="incoming")], True),
        ("h03", [near("Ship", "name", "Sea Holly", direction="outgoing")], False),
        ("h03", [near("Ship", "name", "Sea Holly", relationship_type="OWNS")], True),
        ("h09", [nodes("Ship", "name", "Grey Petrel")], True),
        ("h09", [search("Grey Petrel"), nodes("Ship", "key", key_of("Grey Petrel"))], True),
        ("h13", [near("Captain", "name", "Hedda Lund")], None),
        ("h13", NAMES, False),
        ("h18", [values("Ship", "tons"), values("Ship", "name")], None),
    ],
)
async def test_what_proves_a_right_answer(question: str, asked: list[Asked], proven: bool | None) -> None:
    found = await score(question, asked)
    assert found.correct
    assert (found.proven, bool(found.unproven)) == (proven, proven is False)


async def test_results_that_the_model_never_read_and_its_own_queries_are_no_proof() -> None:
    assert (await score("h01", [BY_NAME], in_last_turn=True)).proven is False
    assert (await score("h01", [BY_NAME], setting="write_cypher")).proven is None


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (a:A)-[:R]->(b) RETURN count(b)",
        "MATCH (a:A)-[:R]->(b) WHERE a.p > 1 RETURN b",
        "MATCH (a:A)-[:R*1..2]->(b) RETURN b",
        "MATCH (a:A), (b:B) RETURN b",
        "MATCH (a:A) OPTIONAL MATCH (a)-->(b) RETURN b",
        "MATCH (a:A {p: 1.5}) RETURN a",
        "MATCH (a:A {p: $p}) RETURN a",
        "MATCH (a:A:B) RETURN a",
        "MATCH (a:A) RETURN a LIMIT 1",
        "MATCH (a:A) RETURN a.p ORDER BY a.p",
        "MATCH (a:A) RETURN a.p + 1",
        "MATCH (a:A) RETURN a.p UNION MATCH (b:B) RETURN b.p",
        "MATCH (a:A)",
    ],
)
def test_other_queries_than_a_path_are_not_understood(cypher: str) -> None:
    assert path_pattern(cypher) is None


def test_a_path_is_read() -> None:
    pattern = path_pattern("MATCH (:A {name: 'x', n: 3})<-[r:R|S]-(b)--(`c d`:`C D`) RETURN DISTINCT b.name AS name, r")
    assert pattern is not None
    assert [(node.label, dict(node.properties)) for node in pattern.nodes] == [
        ("A", {"name": "x", "n": 3}),
        (None, {}),
        ("C D", {}),
    ]
    assert [(link.types, link.direction) for link in pattern.links] == [(("R", "S"), "incoming"), ((), "both")]

"""Runs of own questions: the included example, and a model behind a server."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.estimate import estimate_run
from graphwalk.analysis.explained import explained
from graphwalk.analysis.report.formats import as_text, to_json
from graphwalk.analysis.report.report import report_of
from graphwalk.analysis.rescore import rescore_run
from graphwalk.analysis.verify import verify_run
from graphwalk.errors import ConfigError
from graphwalk.runs.experiment import AnyExperiment, load_experiment
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.resolve import resolve
from graphwalk.variables import Variables
from tests.models.server import Answer, ModelServer, Request, chat
from tests.runs.runs import records, start

LOCAL = "openai-api/local"
REPLIES = {
    "Who owns Sea Holly?": 'Quill Trading [Quill Trading] owns it.\n["Quill Trading"]',
    "How heavy is the Tern?": "It has 1264.5 tons.\n[1264.5]",
    "Who owns which share of the Perseverance?": '[{"o.name": "Piet Oosterling", "r.share": 0.5}]',
    "Who built the Vulcan?": '["Iron & Co."]',
    "Where is the Halcyon at home?": "The graph does not tell.\n[]",
}
QUESTIONS = [
    {"id": "owner", "question": "Who owns Sea Holly?", "answer": "Quill Trading", "tags": ["ship", "hop"]},
    {"id": "tons", "question": "How heavy is the Tern?", "cypher": "MATCH (s {name: 'Tern'}) RETURN s.tons"},
    {
        "id": "shares",
        "question": "Who owns which share of the Perseverance?",
        "cypher": "MATCH (o)-[r:OWNS]->(:Ship {name: 'Perseverance'}) RETURN o.name, r.share",
    },
    {"id": "builder", "question": "Who built the Vulcan?", "unanswerable": True, "tags": ["ship"]},
    {"id": "home", "question": "Where is the Halcyon at home?", "answer": "Ostrogard", "tags": ["hop"]},
]


def write(folder: Path, questions: list[dict[str, Any]]) -> Path:
    path = folder / "qa.jsonl"
    path.write_text("".join(json.dumps(question) + "\n" for question in questions), encoding="utf-8")
    return path


def config(dataset: Path | str, **flags: Any) -> AnyExperiment:
    return load_experiment("own-questions", flags={"suite.dataset": str(dataset), "models": [f"{LOCAL}/m"], **flags})


def reply(request: Request) -> Answer:
    """Look up a node first where there are tools, then answer."""
    messages = request.body["messages"]
    question = messages[1]["content"].partition("\n")[0]
    if request.body.get("tools") and messages[-1]["role"] != "tool":
        ship = {"label": "Ship", "property_name": "name", "property_value": "Sea Holly"}
        tool = request.body["tools"][0]["function"]["name"]
        names = [tool["function"]["name"] for tool in request.body["tools"]]
        neighbors = "get_all_nearest_neighbors"
        return Answer(
            chat(calls=[(neighbors, ship) if neighbors in names else (tool, {"query": "MATCH (n) RETURN 1"})])
        )
    return Answer(chat(REPLIES[question]))


def variables(server: ModelServer) -> Variables:
    return Variables({"LOCAL_BASE_URL": server.url, "LOCAL_API_KEY": "k"})


async def test_answers_of_a_model_are_scored_in_every_setting(tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with ModelServer(reply) as server:
        played = config(write(tmp_path, QUESTIONS), settings=["tools", "no_tools", "write_cypher"])
        await start(run, played, variables(server))
        prompts = [[message["content"] for message in request.body["messages"][:2]] for request in server.requests]
    assert any("How to answer" in system for system, _ in prompts)  # the agent of `ask`
    assert all("Then end your reply" in user for _, user in prompts)
    scores = {(record["task_id"], record["setting"]): record["score"] for record in records(run)}
    for setting in ("tools", "no_tools", "write_cypher"):
        correct = {task: scores[task, setting]["correct"] for task in ("owner", "tons", "shares", "builder", "home")}
        assert correct == {"owner": True, "tons": True, "shares": True, "builder": False, "home": False}
        assert scores["builder", setting]["invented"]
        assert scores["home", setting]["abstained"]
    folder = RunFolder.open(run)
    grounded = {(one["task_id"], one["setting"]): one["score"]["grounded"] for one in explained(folder)}
    assert (grounded["owner", "tools"], grounded["owner", "no_tools"]) == (1, None)
    verified = await verify_run(folder, Variables())
    assert verified.holds
    assert verified.checks["tasks"].verified == 5
    assert rescore_run(folder) == (0, 15)


async def test_the_example_is_played_and_reported(tmp_path: Path) -> None:
    await start(tmp_path / "run", load_experiment("own-questions"))
    report = report_of(RunFolder.open(tmp_path / "run"))
    assert "over the questions of this one graph" in " ".join(as_text(report).split())
    tags = json.loads(to_json(report))["groups"]["tag"]
    correct = {row["tag"]: row["correct"] for row in tags}
    assert (correct["property"], correct["one hop"], correct["spelling"], correct["unanswerable"]) == (4, 7, 2, 2)


MISTAKES = {
    '{"question": "a", "answer": "Quil Trading"}': "answer: no key, value or name in the graph is 'Quil Trading'",
    '{"question": "b", "cypher": "MATCH (n:Ship) SET n.x = 1 RETURN n"}': "cypher: SET is not allowed here",
    '{"question": "c", "cypher": "MATCH (n:Ship {name: \'-\'}) RETURN n"}': "cypher: it returns nothing",
    '{"question": "e", "cypher": "MATCH (n:Ship RETURN n"}': "cypher: The database refuses the query",
    '{"question": "f", "cypher": "MATCH (a),(b),(c),(d),(e),(f) RETURN count(*)"}': "cypher: The query was stopped after",
    '{"question": "g", "cypher": "MATCH (a)-[r:OWNS]->() RETURN r"}': "cypher: it returns a relationship, a path or a map",
    '{"question": "h", "cypher": "UNWIND range(1, 2000) AS n RETURN n"}': "cypher: it returns more than 1,000 rows",
    '{"question": "i", "cypher": "LOAD CSV FROM \'http://127.0.0.1\' AS r RETURN r"}': "cypher: LOAD is not allowed here",
}


async def test_mistakes_are_named_together_before_a_model_is_called(tmp_path: Path) -> None:
    path = tmp_path / "qa.jsonl"
    path.write_text("\n".join(MISTAKES))
    async with ModelServer(reply) as server:
        played = config(path, **{"agent.call_seconds": 0.5})
        for attempt in (
            lambda: start(tmp_path / "run", played, variables(server)),
            lambda: estimate_run(resolve(played, variables(server)), {}),
        ):
            with pytest.raises(ConfigError) as caught:
                await attempt()
            for n, text in enumerate(MISTAKES.values(), 1):
                assert f"line {n}: {text}" in str(caught.value)
        assert not server.requests

"""`graphwalk ask` as a person and as a program use it: the script without a key, and a model behind a real server."""

import asyncio
import csv
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.forked_commands import graphwalk
from tests.models.server import Answer, ModelServer, Request, chat, error

FILMS = Path(__file__).parent.parent / "data" / "films.json"
HARBOUR = {"label": "Film", "property_name": "title", "property_value": "The Quiet Harbour"}
QUESTION = "Who directed The Quiet Harbour?"
REPLY = "Ida Holm [p1] directed it, and nobody [p77] helped her."


def asked(*words: object, folder: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    return graphwalk("ask", *words, "--graph", FILMS, folder=folder, **more)


async def with_model(server: ModelServer, *words: object, folder: Path, **more: Any) -> Any:
    more |= {"LOCAL_BASE_URL": server.url, "LOCAL_API_KEY": "sk-planted-secret-123456"}
    return await asyncio.to_thread(asked, *words, "--model", "openai-api/local/m", folder=folder, **more)


def walk(request: Request) -> Answer:
    """A model that looks the film up and answers; its reply to a follow-up repeats the messages before."""
    messages = request.body["messages"]
    if [m["role"] for m in messages].count("user") > 1:
        return Answer(chat(f"You asked {sum(m['role'] == 'user' for m in messages)} questions."))
    if messages[-1]["role"] == "tool":
        return Answer(chat(f"<think>so it is she</think>{REPLY}"))
    thought = {"thought": "I need the film first."}
    return Answer(chat("Let me look.", [("get_all_nearest_neighbors", HARBOUR), ("think", thought), ("nope", {})]))


def test_the_script_shows_steps_answer_evidence_and_log(tmp_path: Path) -> None:
    done = asked("Who acted in the quiet harbour?", "-m", "scripted/look", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'get_all_nearest_neighbors  {"label": "Film", "property_name": "key", "property_value": "f1"}' in done.stderr
    assert "4 rows" in done.stderr
    assert "I am a script, not a language model" in done.stdout
    assert "- Bo Lund [p2] ACTED_IN The Quiet Harbour [f1]" in done.stdout
    assert re.search(r"^\(p2\)–ACTED_IN→\(f1\) +role: Captain", done.stdout, re.MULTILINE)
    assert "\x1b" not in done.stdout + done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert f"run folder: runs/{run.name}" in done.stderr


def test_a_conversation_is_shown_viewed_and_exported(tmp_path: Path) -> None:
    typed = f"{QUESTION}\n\nAnd Skagen?\n"
    assert asked("-m", "scripted/look", "--out", "run", typed=typed, folder=tmp_path).returncode == 0
    assert re.findall(r"^(ask-\w+)$", graphwalk("show", "run", folder=tmp_path).stdout, re.M) == ["ask-001", "ask-002"]
    shown = graphwalk("show", "run", "ask-001", folder=tmp_path).stdout
    assert "get_all_nearest_neighbors" in shown
    assert shown.count("evidence") == 1
    assert "2 episodes written" in graphwalk("view", "run", folder=tmp_path).stderr
    assert "finished" in graphwalk("list", "runs", ".", folder=tmp_path).stdout
    assert graphwalk("export", "csv", "run", "--out", "tables", folder=tmp_path).returncode == 0
    rows = list(csv.DictReader((tmp_path / "tables" / "episodes.csv").read_text().splitlines(keepends=True)))
    assert [row["task_question"] for row in rows] == [QUESTION, "And Skagen?"]
    assert "Ida Holm [p1] DIRECTED The Quiet Harbour [f1]" in rows[0]["answer"]
    refused = graphwalk("report", "run", folder=tmp_path)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "run has answers of `graphwalk ask`, which have no target" in refused.stderr


async def test_json_is_all_that_a_program_reads(tmp_path: Path) -> None:
    async with ModelServer(walk) as server:
        done = await with_model(server, QUESTION, "--json", folder=tmp_path)
    record = json.loads(done.stdout)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert (record["answer"], record["exit_status"], record["error"]) == (REPLY, "answered", None)
    look, think, nope = record["steps"]
    assert (look["call"], look["arguments"], look["rows"], look["error"]) == (
        "get_all_nearest_neighbors",
        HARBOUR,
        4,
        None,
    )
    assert (look["thought"], think["thought"], think["rows"]) == ("Let me look.", "I need the film first.", None)
    assert nope["error"] == "unknown_tool"
    assert (record["grounded"], record["unsupported"]) == (0.5, None)
    assert {node["key"] for node in record["evidence"]["nodes"]} == {"p1", "f1"}
    assert record["evidence"]["relationships"] == [
        {"type": "DIRECTED", "source": "p1", "target": "f1", "properties": {"days": 40}}
    ]
    assert record["usage"] == {"input_tokens": 20, "output_tokens": 10}
    assert (record["graph"], record["model"], record["cost"]) == ("films", "openai-api/local/m", None)
    logged = (tmp_path / record["run"] / "results.jsonl").read_text()
    assert "sk-planted" not in logged
    assert QUESTION in logged


COUNT = "MATCH (f:Film)\nRETURN count(f) AS films"


def count_films(request: Request) -> Answer:
    """A model that writes a query and answers with its result."""
    (tool,) = request.body["tools"]
    last = request.body["messages"][-1]
    if last["role"] == "tool":
        return Answer(chat(f"There are: {last['content']}"))
    return Answer(chat(calls=[(tool["function"]["name"], {"query": COUNT})]))


async def test_a_model_answers_by_a_query(tmp_path: Path) -> None:
    number = len([node for node in json.loads(FILMS.read_text())["nodes"] if "Film" in json.dumps(node)])
    async with ModelServer(count_films) as server:
        done = await with_model(server, "How many?", "--setting", "write_cypher", "--out", "run", folder=tmp_path)
        system = server.requests[0].body["messages"][0]["content"]
        told = await with_model(server, "How many?", "--setting", "write_cypher", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The Cypher that you can write" in system
    assert "write the answer for a person" in system
    assert "MATCH (f:Film)" in done.stderr
    assert str(number) in done.stdout
    assert "evidence: –" in done.stdout
    record = json.loads(told.stdout)
    assert (record["setting"], record["evidence"]) == ("write_cypher", None)
    assert record["steps"][0]["arguments"] == {"query": COUNT}
    shown = graphwalk("show", "run", "ask-001", folder=tmp_path).stdout
    assert "write_cypher" in shown
    assert "RETURN count(f) AS films" in shown
    assert "1 episode written" in graphwalk("view", "run", folder=tmp_path).stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--database", "movies", "-m", "scripted/look", "--setting", "write_cypher"), "graphwalk export graph"),
        (("--graph", FILMS, "-m", "scripted/look", "--setting", "write_cypher"), "scripted/look writes no queries"),
        (("--graph", FILMS, "-m", "scripted/look", "--setting", "write_cyper"), "write_cypher"),
    ],
)
def test_queries_that_cannot_be_asked_for(words: tuple[object, ...], problem: str, tmp_path: Path) -> None:
    done = graphwalk("ask", "How many?", *words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert problem in done.stderr
    assert not (tmp_path / "runs").exists()


async def test_follow_up_sees_the_conversation(tmp_path: Path) -> None:
    async with ModelServer(walk) as server:
        done = await with_model(server, typed=f"{QUESTION}\nAnd who else?\n", folder=tmp_path)
        last = server.requests[-1].body["messages"]
    assert done.returncode == 0
    assert "You asked 2 questions." in done.stdout
    assert "warning: unverified: no tool result contains p77" in done.stderr
    assert [(m["role"], m["content"]) for m in last[1:]] == [
        ("user", QUESTION),
        ("assistant", REPLY),
        ("user", "And who else?"),
    ]
    (run,) = (tmp_path / "runs").iterdir()
    first, second = map(json.loads, (run / "results.jsonl").read_text().splitlines())
    assert second["task"]["earlier"] == [{"question": QUESTION, "answer": first["answer"]}]


async def test_model_failure_is_printed_and_logged(tmp_path: Path) -> None:
    async with ModelServer(lambda _: error(400, "your plan has ended")) as server:
        done = await with_model(server, QUESTION, "--out", "run", folder=tmp_path)
    assert done.returncode == 4
    assert "error: no answer (model_error)" in done.stderr
    assert "your plan has ended" in done.stderr
    assert "model_error" in graphwalk("show", "run", folder=tmp_path).stdout


@pytest.mark.parametrize(
    ("calls", "reply", "code", "cause"),
    [
        ([("get_node_by_property", {**HARBOUR, "label": "Movie"})], "Ida Holm.", 4, "every look-up failed"),
        (
            [("get_all_nearest_neighbors", HARBOUR)],
            "The director was Greta Garbo.",
            0,
            "no result contains Greta, Garbo",
        ),
    ],
    ids=["failed look-ups", "from elsewhere"],
)
async def test_an_answer_that_no_result_supports_is_marked(
    calls: list[Any], reply: str, code: int, cause: str, tmp_path: Path
) -> None:
    def guess(request: Request) -> Answer:
        again = request.body["messages"][-1]["role"] == "tool"
        return Answer(chat(reply) if again else chat("", calls))

    async with ModelServer(guess) as server:
        done = await with_model(server, QUESTION, folder=tmp_path)
    assert done.returncode == code
    assert done.stdout.startswith(f"Not supported by the graph: {cause}\n")


async def test_the_small_profile_answers_in_json_and_other_options_change_it(tmp_path: Path) -> None:
    def walks(request: Request) -> Answer:
        call = {"thought": "the film", "tool": "get_all_nearest_neighbors", "arguments": HARBOUR}
        answer = {"thought": "she did", "answer": "Ida Holm [p1] directed it."}
        answered = "DIRECTED" in request.body["messages"][-1]["content"]
        return Answer(chat(json.dumps(answer if answered else call)))

    async with ModelServer(walks) as server:
        words = ("--small", "-o", "agent.encoding=json", "--out", "run")
        done = await with_model(server, QUESTION, *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith("Ida Holm [p1] directed it.")
    agent = json.loads((tmp_path / "run" / "run.json").read_text())["config"]["agent"]
    assert (agent["prompts"], agent["encoding"]) == ("short", "json")


def test_a_database_that_is_down(tmp_path: Path) -> None:
    down = {"NEO4J_URI": "bolt://127.0.0.1:9", "NEO4J_PASSWORD": "password"}
    done = graphwalk("ask", QUESTION, "-m", "scripted/look", folder=tmp_path, **down)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error: ")
    assert "127.0.0.1:9" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_part_of_the_graph_is_asked(tmp_path: Path) -> None:
    words = ("Who acted in The Quiet Harbour?", "-m", "scripted/look", "--json", "--out", "run")
    done = asked(*words, "--labels", "Film,Person", "--relationship-types", "DIRECTED", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {edge["type"] for edge in json.loads(done.stdout)["evidence"]["relationships"]} == {"DIRECTED"}
    assert "ACTED_IN" not in done.stderr
    (graph,) = json.loads((tmp_path / "run" / "run.json").read_text())["config"]["suite"]["graphs"]
    assert (graph["labels"], graph["relationship_types"]) == (["Film", "Person"], ["DIRECTED"])

"""Each mistake of a user has one message with the next step; no secret and no control character is printed.

The command line runs in this process.
"""

import asyncio
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from graphwalk.cli.app import main
from graphwalk.files.json_lines import encode_line, read_lines
from tests.analysis.exports.hostile_run import HOSTILE, hostile_run


@dataclass(frozen=True)
class Ended:
    code: int
    stdout: str
    stderr: str


Call = Callable[..., Ended]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Call]:
    """A function: words → how `graphwalk WORDS` ended, in an empty folder without keys and databases."""
    for name in [name for name in os.environ if name.endswith("_API_KEY") or name.startswith(("NEO4J_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GRAPHWALK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("LAB_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.chdir(tmp_path)

    def graphwalk(*words: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["graphwalk", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Ended(code, *capfd.readouterr())

    yield graphwalk
    asyncio.set_event_loop(None)


def test_no_command_prints_control_characters_of_a_run(call: Call, tmp_path: Path) -> None:
    folder = hostile_run(tmp_path / "runs" / "run")
    records = list(read_lines(folder.results_path))
    manifest = folder.read_manifest()
    for record in records:
        record["task_id"] += HOSTILE
        record["task"]["question"] += HOSTILE
    manifest["config"]["agent"]["encoding"] += HOSTILE
    manifest["config"]["description"] += HOSTILE
    folder.results_path.write_bytes(b"".join(map(encode_line, records)))
    folder.write_manifest(manifest)
    run = folder.path
    for words in [
        *(("report", run, "--format", form) for form in ("terminal", "csv", "markdown")),
        *((command, run, "--json") for command in ("report", "compare")),
        ("compare", run),
        *(("show", run, *more) for more in ((), (records[0]["task_id"],), ("node_count", "--all"))),
        ("list", "runs", run.parent),
        ("rescore", run),
        ("publish", run, "--out", tmp_path / "out.zip"),
    ]:
        ended = call(*words)
        printed = [c for c in ended.stdout + ended.stderr if not c.isprintable() and c not in "\n\t"]
        assert not printed, words


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("rnu",), "run"),
        (("run", "quikstart"), "quickstart"),
        (("run", "quickstart", "-m", "opnai/m"), "openai"),
        (("run", "quickstart", "-o", "suite.questions=[path_findng]"), "path_finding"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_the_nearest_name_is_suggested(words: tuple[str, ...], meant: str, call: Call) -> None:
    ended = call(*words)
    assert ended.code == 2
    assert re.search(f"[Dd]id you mean '?{meant}'?", ended.stderr)


_ASK = ("ask", "Who?", "-m", "scripted/look", "--graph")
_BROKEN_RUN = {"run/run.json": b"{"}
_TOOL = (
    b"name: wrong\ndescription: Lists.\nexample: {arguments: {}, rows: []}\ncypher: '{{ colour }}'\nno_match: none\n"
)
_OWN = b"name: own\nsuite: {name: questions, graphs: [{nodes: 20}], questions: [node_count]}\nagent:\n"
MISTAKES: list[tuple[dict[str, bytes], tuple[str, ...], int, str, str]] = [
    (
        {},
        ("run", "quickstart", "-m", "openai/gpt-4.1", "-o", "model_arguments.openai/gpt-4.1.timeout=3"),
        2,
        "model_arguments: openai/gpt-4 is a part of a model's name",
        "model_arguments={PROVIDER/MODEL",
    ),
    ({".env": b"KEY=cl\xe9"}, ("run", "quickstart", "--dry-run"), 2, ".env cannot be read", ""),
    (
        {"own.yaml": _OWN + b"  tools: [./wrong.yaml]\n", "wrong.yaml": _TOOL},
        ("run", "own.yaml"),
        2,
        "wrong.yaml:4: cypher: there is no colour",
        "",
    ),
    (
        {"own.yaml": _OWN + b"  prompts: ./nowhere/\n"},
        ("run", "own.yaml"),
        2,
        "own.yaml:4: agent.prompts: there is no file or folder",
        "",
    ),
    (
        {"own.yaml": _OWN + b"  prompts: ./prompts/\n", "prompts/graph_tools.j2": b"Rows:\n{{ colour }}"},
        ("run", "own.yaml"),
        2,
        "graph_tools.j2:2: there is no colour; known: rows",
        "ours: ",
    ),
    ({}, ("generate", "maze", "--out", "m.png"), 2, "expected a .jsonl file", "--out m.jsonl"),
    ({}, ("generate", "maze", "--size", "3", "--out", "m.jsonl"), 2, "min_path 15 is impossible", ""),
    ({}, ("generate", "graph", "-o", "hop=2"), 2, "did you mean hops?", ""),
    ({}, ("export", "graph", "example", "g.json", "--database", "x"), 2, "give one of file, neo4j and loaded", ""),
    ({}, ("export", "graph", "example", "g.json", "--labels", "Ship"), 2, "need --database", "--database NAME"),
    ({}, ("mcp", "--graph", "example", "--tool", "no_such"), 2, "there is no tool 'no_such'", ""),
    ({}, ("mcp", "--graph", "example", "--labels", "Ship,Shop"), 2, "the graph has no label 'Shop'", "there are: "),
    ({"own/notes": b""}, ("init", "own"), 2, "own exists and is not an empty folder", ""),
    ({}, ("list", "runs"), 2, "no folder runs", "graphwalk run quickstart"),
    ({"g.json": b"[1,2"}, (*_ASK, "g.json"), 2, "cannot read the graph", ""),
    ({}, (*_ASK, "bolt://localhost:7687"), 2, "cannot read the graph bolt:/localhost", ""),
    ({"e.yaml": b"name: x\n\tsuite: y"}, ("run", "e.yaml"), 2, "e.yaml:2: not valid YAML", ""),
    ({}, ("run", "quickstart", "-o", "servers.lab=host:80"), 2, "lab: 'host:80' is not the address", "https://host/v1"),
    ({}, ("run", "quickstart", "-o", "reference=table_2_question"), 2, "did you mean table_2_questions?", "one of: "),
    ({}, ("run", "magma", "-o", "reference=nope"), 2, 'the suite magma has no published table "nope"', "one of: "),
    (
        {},
        ("mcp", "--graph", "example", "--transport", "http", "--host", "a" * 300),
        2,
        "cannot listen at aaa",
        "--host ADDRESS",
    ),
    ({}, ("run", "quickstart", "--budget-usd", "-1"), 2, "limits.budget_usd: must be greater than 0", ""),
    ({}, ("run", "quickstart", "-m", "openai/gpt-4.1-mini"), 2, "OPENAI_API_KEY", "export OPENAI_API_KEY"),
    ({}, ("run", "quickstart", "--store", "neo4j"), 3, "no Neo4j server is configured", "graphwalk db up"),
    ({}, ("ask", "Who?", "-m", "scripted/look"), 2, "no graph given, and no Neo4j is known", "--graph FILE"),
    ({}, (*_ASK[:-1], "--undirected", "both"), 2, "no graph given, and no Neo4j is known", "--graph FILE"),
    ({}, (*_ASK, "example", "-o", "agent.nope=1"), 2, "agent.nope: there is no such field", ""),
    (_BROKEN_RUN, ("report", "run"), 3, "run/run.json cannot be read", ""),
    ({}, ("init", "own", "--suite", "mazes"), 2, "GraphWalk has a suite of this name", "init --help"),
    ({}, ("report", "run", "--table", "by-size"), 2, "--table needs --format latex", "report --help"),
    (_BROKEN_RUN, ("run", "quickstart", "--out", "run"), 3, "already contains a run", "graphwalk resume run"),
]
"""Files, command, exit code, what is wrong and where, and the next step."""


@pytest.mark.parametrize(
    ("files", "words", "code", "cause", "next_step"), MISTAKES, ids=[" ".join(words) for _, words, *_ in MISTAKES]
)
def test_a_mistake_has_one_message_and_changes_no_file(
    files: dict[str, bytes],
    words: tuple[str, ...],
    code: int,
    cause: str,
    next_step: str,
    call: Call,
    tmp_path: Path,
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    ended = call(*words)
    assert ended.code == code, ended.stderr
    assert cause in ended.stderr
    assert next_step in ended.stderr
    assert "Traceback" not in ended.stderr
    left = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == files


CANARY = "SECRET12345"


@pytest.mark.parametrize(
    "words",
    [
        ("-o", f"options.extra.api_key={CANARY}"),
        ("-o", f"servers.lab=https://user:{CANARY}@host/v1"),
        ("-o", f"agent.api_key={CANARY}"),
    ],
    ids=" ".join,
)
def test_a_secret_in_an_option_is_refused_and_written_nowhere(
    words: tuple[str, ...], call: Call, tmp_path: Path
) -> None:
    ended = call("run", "quickstart", "-m", "openai-api/lab/m", "--limit", 1, *words)
    assert ended.code == 2
    assert CANARY not in ended.stdout + ended.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and CANARY in path.read_text()]

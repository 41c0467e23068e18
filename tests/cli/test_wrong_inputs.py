"""No wrong input makes a traceback: every field of an experiment and every flag of every command, each refused in words.

The inputs are made from the classes and commands (`wrong_inputs`), and the command line runs in this process.
"""

import asyncio
import io
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from graphwalk.cli.app import main
from graphwalk.files.json_lines import encode_line, read_lines
from tests.cli.wrong_inputs import MISTAKES, commands, plain, wrong_fields, wrong_values
from tests.exports.hostile_run import HOSTILE, hostile_run
from tests.extending.packages import REPOSITORY

SUITES = ("questions", "mazes", "magma", "graphwalks", "ask")
RUNS = REPOSITORY / "tests" / "data" / "runs"


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


def refused(ended: Ended, named: str, said: object) -> str:
    """Return the fault of a command's answer to a wrong input; "" without one."""
    text = ended.stdout + ended.stderr
    trouble = [
        *([f"exit code {ended.code}"] if ended.code not in (2, 3) else []),
        *(["a traceback or jargon"] if not plain(text) else []),
        *([f"{named} is not named"] if named not in text and named.lstrip("-").replace("-", "_") not in text else []),
        *(["nothing is said"] if not re.search("error|broken", text, re.IGNORECASE) else []),
    ]
    return f"{said}: {', '.join(trouble)}\n{text[-600:]}" if trouble else ""


@pytest.mark.parametrize("suite", SUITES)
def test_every_field_refuses_what_it_cannot_be(suite: str, call: Call) -> None:
    wrong = [one for one in wrong_fields(suite) if suite == SUITES[0] or one.path[0] == "suite"]
    assert len(wrong) > (400 if suite == SUITES[0] else 5)
    troubles = []
    for one in wrong:
        Path("wrong.yaml").write_text(yaml.safe_dump(one.experiment(), allow_unicode=True))
        troubles.append(refused(call("experiments", "wrong.yaml", "--resolved"), one.field, one.id))
    assert not any(troubles), "\n".join(filter(None, troubles))


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
        *(("report", run, "--format", form) for form in ("terminal", "json", "csv", "markdown")),
        *(("compare", run, "--format", form) for form in ("terminal", "json", "markdown")),
        *(("show", run, *more) for more in ((), (records[0]["task_id"],), ("node_count", "--prompt"))),
        ("runs", run.parent),
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
        (("db", "statsu"), "status"),
        (("export", "cvs"), "csv"),
        (("generate", "grahp"), "graph"),
        (("run", "quikstart"), "quickstart"),
        (("run", "quickstart", "--setting", "tool"), "tools"),
        (("run", "quickstart", "-m", "scripted/exprt"), "expert"),
        (("run", "quickstart", "-m", "opnai/m"), "openai"),
        (("run", "quickstart", "--question", "path_findng"), "path_finding"),
        (("run", "quickstart", "-o", "agent.tools=[thnk]"), "think"),
        (("run", "quickstart", "-o", "suite.name=question"), "questions"),
        (("generate", "graph", "--preset", "paper-1000"), "paper-100"),
        (("questions", "path_findng"), "path_finding"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_the_nearest_name_is_suggested(words: tuple[str, ...], meant: str, call: Call) -> None:
    ended = call(*words)
    assert ended.code == 2
    assert f"did you mean {meant}?" in ended.stderr


@pytest.mark.parametrize(
    ("files", "words", "message"), MISTAKES, ids=lambda value: value if isinstance(value, str) else " ".join(value)
)
def test_a_mistake_of_a_newcomer_is_named_and_changes_no_file(
    files: dict[str, bytes | None], words: tuple[str, ...], message: str, call: Call, tmp_path: Path
) -> None:
    for name, content in files.items():
        if content is None:
            (tmp_path / name).mkdir(parents=True)
        else:
            (tmp_path / name).write_bytes(content)
    ended = call(*words)
    assert ended.code in (2, 3)
    assert message in ended.stderr
    assert plain(ended.stderr)
    left = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {name: content for name, content in files.items() if content is not None}


CANARY = "SECRET12345"


@pytest.mark.parametrize(
    "words",
    [
        ("-o", f"options.extra.api_key={CANARY}"),
        ("-o", f"options.extra={{headers: {{X-Api-Key: {CANARY}}}}}"),
        ("-o", f"servers.lab=https://user:{CANARY}@host/v1"),
        ("-o", f"agent.api_key={CANARY}"),
        ("-M", f"api_key={CANARY}"),
        ("-M", f"default_headers={{X-Token: {CANARY}}}"),
        ("--base-url", f"http://user:{CANARY}@127.0.0.1:9/v1"),
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


def working(command: tuple[str, ...]) -> tuple[str, ...]:
    """Words after the command with which it would do something small, were it not for what is put behind them."""
    run = "run" if Path("run").exists() else str(shutil.copytree(RUNS / "mazes", "run"))
    small = ("--limit", "1")
    known: dict[tuple[str, ...], tuple[str, ...]] = {
        ("run",): ("quickstart", "--dry-run", *small),
        ("ask",): ("Who?", "--graph", "example", "-m", "scripted/look", "--no-log"),
        ("init",): ("new",),
        ("tasks",): ("--graph", "example"),
        ("mcp",): ("--graph", "example"),
        ("convert",): ("example", "out.json"),
        ("models", "check"): ("openai-api/lab/m",),
        ("generate", "twin"): ("--graph", "example", "--out", "twin.json", "--mapping", "map.json"),
        ("generate", "magma"): ("--count", "1", "--out", "magma.jsonl"),
        ("generate", "traces"): ("quickstart", "--graphs", "1", "--out", "traces.jsonl"),
        ("export", "magma"): ("out.jsonl", "--count", "1"),
        ("export", "dataset"): ("quickstart", "--out", "exported", "-o", "suite.graphs.*.count=1"),
        ("db", "load"): ("example",),
        ("export", "check-splits"): ("traces.jsonl",),
        ("merge",): (run,),
        ("publish",): (run, "--out", "run.zip"),
        ("view",): (run, "--out", "page.html"),
    }
    if command[0] == "export" and command not in known:
        return run, "--out", "exported"
    folder = ("resume", "report", "compare", "rescore", "verify", "show")
    return known.get(command, (run,) if command[0] in folder else ())


def test_every_flag_refuses_what_it_cannot_be(call: Call) -> None:
    troubles, tried = [], 0
    for command, one in commands():
        words = working(command)
        for option in (p for p in one.params if p.param_type_name == "option"):
            for value in wrong_values(option):
                flag = option.opts[0]
                ended = call(*command, *words, flag, value)
                troubles.append(refused(ended, flag, (*command, flag, value)))
                tried += 1
    assert tried > 200
    assert not any(troubles), "\n".join(filter(None, troubles))


def test_every_command_refuses_what_it_does_not_know(call: Call) -> None:
    troubles = []
    for command, one in commands():
        troubles.append(refused(call(*command, *working(command), "--no-such-flag"), "no-such-flag", command))
        if any(p.param_type_name == "argument" and p.required for p in one.params):
            troubles.append(refused(call(*command), "argument", command))
    assert not any(troubles), "\n".join(filter(None, troubles))

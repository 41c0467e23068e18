"""No wrong input makes a traceback: every field of an experiment is refused in words, and so are mistakes of newcomers.

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
from graphwalk.errors import ConfigError
from graphwalk.experiments.loading import load_experiment
from graphwalk.files.json_lines import encode_line, read_lines
from tests.cli.wrong_inputs import MISTAKES, plain, wrong_fields
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


@pytest.mark.parametrize("suite", SUITES)
def test_every_field_refuses_what_it_cannot_be(suite: str) -> None:
    wrong = [one for one in wrong_fields(suite) if suite == SUITES[0] or one.path[0] == "suite"]
    assert len(wrong) > (300 if suite == SUITES[0] else 5)
    for one in wrong:
        with pytest.raises(ConfigError) as refused:
            load_experiment(one.experiment())
        message = str(refused.value)
        assert plain(message), one.id
        assert one.field in message, one.id


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
        (("db", "cleen"), "clean"),
        (("export", "cvs"), "csv"),
        (("generate", "grahp"), "graph"),
        (("run", "quikstart"), "quickstart"),
        (("run", "quickstart", "--setting", "tool"), "tools"),
        (("run", "quickstart", "-m", "scripted/exprt"), "expert"),
        (("run", "quickstart", "-m", "opnai/m"), "openai"),
        (("run", "quickstart", "-o", "suite.questions=[path_findng]"), "path_finding"),
        (("run", "quickstart", "-o", "agent.tools=[thnk]"), "think"),
        (("run", "quickstart", "-o", "suite.name=question"), "questions"),
        (("generate", "graph", "--preset", "paper-1000"), "paper-100"),
        (("list", "questions", "path_findng"), "path_finding"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_the_nearest_name_is_suggested(words: tuple[str, ...], meant: str, call: Call) -> None:
    ended = call(*words)
    assert ended.code == 2
    assert re.search(f"[Dd]id you mean '?{meant}'?", ended.stderr)


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
        ("-o", f"model_arguments.openai-api/lab/m.api_key={CANARY}"),
        ("-o", f"model_arguments={{openai-api/lab/m: {{default_headers: {{X-Token: {CANARY}}}}}}}"),
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

"""The command line as a person uses it: real processes, exit codes, words."""

import json
import socket
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from graphwalk.suites.questions.catalogue import choose_kinds
from tests.forked_commands import graphwalk


def test_a_run_from_first_to_last(tmp_path: Path) -> None:
    words = ("run", "quickstart", "--graphs", 1, "--limit", 3, "--fail-under", 99)
    done = graphwalk(*words, "--out", "first", folder=tmp_path)
    assert (done.returncode, "below 99" in done.stderr) == (5, True), done.stderr
    assert "scripted/expert" in done.stdout
    assert "9/9" in done.stderr
    rows = json.loads(graphwalk("report", "first", "--json", folder=tmp_path).stdout)["rows"]
    assert {row["model"]: row["scored"] for row in rows} == {
        "scripted/expert": 3,
        "scripted/flawed": 3,
        "scripted/random": 3,
    }
    assert "| scripted/expert" in graphwalk("report", "first", "--format", "markdown", folder=tmp_path).stdout
    assert "0 scores changed" in graphwalk("rescore", "first", folder=tmp_path).stderr
    again = graphwalk("resume", "first", folder=tmp_path)
    assert (again.returncode, "nothing left to do: all 9 episodes have a score" in again.stderr) == (0, True)
    assert graphwalk("publish", "first", folder=tmp_path).returncode == 0
    assert (tmp_path / "first.zip").is_file()


def test_episodes_that_failed_have_an_exit_code_of_their_own(tmp_path: Path) -> None:
    words = ("run", "quickstart", "--limit", 1, "-m", "openai-api/bad/m", "-o", "limits.retries=1", "--out", "bad")
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=close_connections, args=(server,), daemon=True).start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        done = graphwalk(*words, folder=tmp_path, BAD_BASE_URL=address, BAD_API_KEY="none-at-all")
    assert done.returncode == 4
    assert "retry 1 of 1" in done.stderr
    assert "graphwalk resume bad" in done.stderr


def close_connections(server: socket.socket) -> None:
    """Close each connection without an answer."""
    with suppress(OSError):
        while True:
            server.accept()[0].close()


def test_a_server_that_does_not_run_is_named_before_the_plan_is_made(tmp_path: Path) -> None:
    words = ("run", "quickstart", "-m", "openai-api/dead/m", "--out", "dead")
    done = graphwalk(*words, folder=tmp_path, DEAD_BASE_URL="http://127.0.0.1:9/v1", DEAD_API_KEY="none-at-all")
    assert (done.returncode, (tmp_path / "dead").exists()) == (4, False)
    assert "no server at 127.0.0.1:9: connection refused" in done.stderr


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    done = graphwalk("run", "quickstart", "--graphs", 1, "--dry-run", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    estimate = json.loads(done.stdout)
    assert sum(estimate["tasks"].values()) == len(choose_kinds())
    assert not list(tmp_path.iterdir())


def test_doctor_lists_working_parts(tmp_path: Path) -> None:
    done = graphwalk("doctor", folder=tmp_path, GRAPHWALK_HOME=str(tmp_path))
    assert done.returncode == 0
    assert "embedded store" in done.stdout
    assert "graphwalk db up" in done.stdout


def test_doctor_gives_the_advice_of_a_failure_and_no_other(tmp_path: Path) -> None:
    done = graphwalk("doctor", "vllm/x", folder=tmp_path, VLLM_BASE_URL="http://127.0.0.1:9/v1")
    assert done.returncode == 4
    assert "→ start the server, or correct VLLM_BASE_URL" in done.stdout
    assert done.stderr.endswith("no reply; other checks were skipped\n")


@pytest.mark.extended
def test_a_command_says_that_its_end_waits_for_langsmith(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"  # nothing listens there
        ended = graphwalk(
            *("run", "quickstart", "--graphs", 1, "--limit", 1, "--out", tmp_path / "run"),
            LANGSMITH_TRACING="true",
            LANGSMITH_API_KEY="none",
            LANGSMITH_ENDPOINT=address,
        )
    assert ended.returncode == 0
    assert "sending the last traces to LangSmith" in ended.stderr

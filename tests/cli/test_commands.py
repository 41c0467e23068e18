"""The command line as a person uses it: real processes, exit codes, words."""

import json
import subprocess
from pathlib import Path
from typing import Any

from graphwalk.graphs.files import load_graph
from graphwalk.suites.questions.catalogue import choose_kinds
from tests.commands import graphwalk
from tests.integration.test_kills import command


def test_unreachable_database_error_names_the_next_step(tmp_path: Path) -> None:
    done = graphwalk("db", "clean", folder=tmp_path, NEO4J_URI="bolt://127.0.0.1:9", NEO4J_PASSWORD="wrong-password")
    assert done.returncode == 3
    assert "127.0.0.1:9" in done.stderr
    assert "wrong-password" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_from_first_to_last(tmp_path: Path) -> None:
    done = graphwalk("run", "quickstart", "--graphs", 1, "--out", "first", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "scripted/expert" in done.stdout
    assert "{0}/{0}".format(3 * len(choose_kinds())) in done.stderr
    rows = json.loads(graphwalk("report", "first", "--json", folder=tmp_path).stdout)["rows"]
    assert {row["model"]: row["scored"] for row in rows} == {
        "scripted/expert": len(choose_kinds()),
        "scripted/flawed": len(choose_kinds()),
        "scripted/random": len(choose_kinds()),
    }
    assert graphwalk("report", "first", "--format", "csv", folder=tmp_path).stdout.count("scripted/expert") >= 1
    assert "| scripted/expert" in graphwalk("report", "first", "--format", "markdown", folder=tmp_path).stdout
    assert graphwalk("resume", "first", folder=tmp_path).returncode == 0
    assert "0 scores changed" in graphwalk("rescore", "first", folder=tmp_path).stderr
    again = graphwalk("run", "quickstart", "--out", "first", folder=tmp_path)
    assert again.returncode == 3
    assert "graphwalk resume first" in again.stderr


def test_fail_under_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    words = ("run", "quickstart", "--graphs", 1, "--model", "scripted/random", "--fail-under", 99)
    done = graphwalk(*words, folder=tmp_path)
    assert done.returncode == 5
    assert "below 99" in done.stderr


def test_episodes_that_failed_have_an_exit_code_of_their_own(tmp_path: Path) -> None:
    words = (
        "run",
        "quickstart",
        "--limit",
        1,
        "--model",
        "openai-api/dead/m",
        "-o",
        "limits.retries=0",
        "--out",
        "dead",
    )
    done = graphwalk(*words, folder=tmp_path, DEAD_BASE_URL="http://127.0.0.1:9/v1", DEAD_API_KEY="none-at-all")
    assert done.returncode == 4
    assert "graphwalk resume dead" in done.stderr


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    done = graphwalk("run", "quickstart", "--graphs", 1, "--dry-run", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    estimate = json.loads(done.stdout)
    assert sum(estimate["tasks"].values()) == len(choose_kinds())
    assert not list(tmp_path.iterdir())


def test_any_field_of_a_generated_graph_can_be_set(tmp_path: Path) -> None:
    words = ("generate", "graph", "--nodes", 60, "-o", "hops=2", "-o", "pair_fraction=1", "--out", tmp_path / "g.json")
    assert graphwalk(*words).returncode == 0
    spec = load_graph(tmp_path / "g.json").spec
    assert (spec["nodes"], spec["hops"], spec["pair_fraction"]) == (60, 2, 1.0)
    wrong = graphwalk("generate", "graph", "-o", "hop=2")
    assert (wrong.returncode, "did you mean hops?" in wrong.stderr) == (2, True)


def tasks_of(folder: Path, hash_seed: str) -> str:
    path = folder / f"graph-{hash_seed}.json"
    done = graphwalk("generate", "graph", "--preset", "paper-100", "--seed", 5, "--out", path, PYTHONHASHSEED=hash_seed)
    assert done.returncode == 0, done.stderr
    return graphwalk("tasks", "--graph", path, "--seed", 5, "--json", PYTHONHASHSEED=hash_seed).stdout


def test_same_seed_same_bytes_in_every_process(tmp_path: Path) -> None:
    first, second = tasks_of(tmp_path, "1"), tasks_of(tmp_path, "2")
    assert first == second
    assert (tmp_path / "graph-1.json").read_bytes() == (tmp_path / "graph-2.json").read_bytes()
    tasks: list[dict[str, Any]] = [json.loads(line) for line in first.splitlines()]
    assert [task["template"] for task in tasks] == [kind.name for kind in choose_kinds()]


def test_doctor_lists_working_parts(tmp_path: Path) -> None:
    done = graphwalk("doctor", folder=tmp_path, GRAPHWALK_HOME=str(tmp_path))
    assert done.returncode == 0
    assert "embedded store" in done.stdout
    assert "graphwalk db up" in done.stdout


def test_a_full_disk_behind_stdout() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command("list", "questions"), stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, "No space left" in done.stderr) == (3, True), done.stderr

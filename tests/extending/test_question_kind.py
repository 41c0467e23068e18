"""A new kind of question is two files in a checkout, and everything else finds it."""

import json
import shutil
from pathlib import Path

import pytest

from tests.extending.packages import REPOSITORY, Place

ORIGINAL, COPY = "path_finding", "two_step_pairs"


@pytest.fixture
def checkout(place: Place) -> Path:
    """A checkout with a copy of a kind under a new name, imported in place of the repository."""
    for part in ("graphwalk", "templates", "tools"):
        shutil.copytree(REPOSITORY / part, place.site / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "pyproject.toml", place.site)
    questions, kinds = place.site / "templates/questions", place.site / "graphwalk/suites/questions/kinds"
    text = (questions / f"{ORIGINAL}.yaml").read_text(encoding="utf-8")
    (questions / f"{COPY}.yaml").write_text(text.replace(f"name: {ORIGINAL}", f"name: {COPY}"), encoding="utf-8")
    shutil.copy(kinds / f"{ORIGINAL}.py", kinds / f"{COPY}.py")
    return place.site


@pytest.mark.extended
def test_two_files_are_asked_played_reported_verified_and_exported(place: Place, checkout: Path) -> None:
    def graphwalk(*words: object) -> str:
        done = place.python("-m", "graphwalk", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert COPY in graphwalk("list", "questions")
    overrides = ("-o", f"suite.questions=[node_count, {COPY}]", "-o", "suite.wording=training")
    models = ("-m", "scripted/expert", "-m", "scripted/random")
    graphwalk("run", "quickstart", "--graphs", 1, *models, *overrides, "--out", "run")

    report = json.loads(graphwalk("report", "run", "--json"))
    rows = [row for row in report["groups"]["question"] if row["model"] == "scripted/expert"]
    assert [(row["question"], row["correct"]) for row in rows] == [("node_count", 1), (COPY, 1)]
    baselines = {row["model"] for row in report["baseline_groups"]["question"] if row["question"] == COPY}
    assert {"chance", "expert (reference)"} <= baselines

    graphwalk("export", "traces", "run", "--model", "scripted/expert", "--out", "traces.jsonl")

    graphwalk("verify", "run")
    module = checkout / f"graphwalk/suites/questions/kinds/{COPY}.py"
    module.write_text(module.read_text(encoding="utf-8").replace("second.target}", "first.target}"))
    wrong = place.python("-m", "graphwalk", "verify", "run")
    assert wrong.returncode == 1, wrong.stderr


OWN = """\
from graphwalk.suites.questions.kinds import PythonPart

class DeadEnds(PythonPart):
    label: str

    def rows(self, index):
        {check}
        reached = {{target for targets in index.successors.values() for target in targets}}
        yield {{"total": sum(key in reached and not index.outgoing[key] for key in index.keys_of(self.label))}}

    def plan(self, walker):
        {call}
        links = yield from walker.relationships({{self.label}})
        return [{{"total": len({{link.target for link in links}})}}]
"""


@pytest.mark.parametrize(
    ("check", "call", "scored", "reported", "logged"),
    [
        ("1 / 0", "", 1, {"node_count"}, "the Python part of the question dead_ends failed"),
        ("", "1 / 0", 1, {"node_count", "dead_ends"}, "ZeroDivisionError: division by zero"),
        (
            "assert len(index.nodes) == 100, 'a part'",
            "",
            2,
            {"node_count", "dead_ends"},
            "2 of 2 episodes have a score",
        ),
    ],
    ids=["rows", "plan", "rows of what was observed"],
)
def test_an_error_of_an_own_kind_ends_neither_the_run_nor_the_report(
    place: Place, check: str, call: str, scored: int, reported: set[str], logged: str
) -> None:
    entry_points = "[graphwalk.questions]\ndead_ends = own_kind:DeadEnds\n"
    place.install_text("own_kind", OWN.format(check=check or "pass", call=call or "pass"), entry_points)
    shutil.copy(REPOSITORY / "examples/question/dead_ends.yaml", place.folder)
    overrides = ("-o", "suite.questions=[node_count, ./dead_ends.yaml]", "-o", "suite.graphs=[{preset: paper-100}]")
    done = place.graphwalk("run", "quickstart", "-m", "scripted/expert", *overrides, "--out", "run")
    assert done.returncode == (4 if call else 0), done.stderr
    assert "Traceback" not in done.stderr
    assert logged in (place.folder / "run/run.log").read_text(encoding="utf-8")
    report = json.loads(place.graphwalk("report", "run", "--json").stdout)
    assert {row["question"] for row in report["groups"]["question"]} == reported
    assert report["rows"][0]["scored"] == scored

"""Comparing players within a run and across runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphwalk
from graphwalk.analysis.compare_runs import compare_runs
from graphwalk.analysis.explained import explained
from graphwalk.errors import ConfigError, RunLogError
from graphwalk.files.json_lines import encode_line, read_lines
from graphwalk.reports.formats import to_json, to_markdown
from graphwalk.runs.folder import RunFolder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Runs with two graphs, played once for all tests."""
    runs: dict[str, Path] = {}

    def play(name: str, experiment: str = "quickstart", **how: Any) -> Path:
        if name not in runs:
            folder = tmp_path_factory.mktemp("runs") / name
            runs[name] = graphwalk.run(experiment, **{"graphs": 2, **how}, out=folder).path
        return runs[name]

    return play


def one(played: Callable[..., Path]) -> Path:
    return played("one", models=["scripted/flawed", "scripted/random"])


def copy(run: Path, to: Path, change: Callable[[dict[str, Any]], Any], manifest: Any = None) -> Path:
    """The run with every record changed."""
    to.mkdir()
    records = list(read_lines(run / "results.jsonl"))
    for record in records:
        change(record)
    (to / "results.jsonl").write_bytes(b"".join(map(encode_line, records)))
    stored = json.loads((run / "run.json").read_text())
    if manifest:
        manifest(stored)
    (to / "run.json").write_text(json.dumps(stored))
    return to


def test_models_within_a_run(played: Callable[..., Path]) -> None:
    comparison = compare_runs([one(played)])
    (pair,) = comparison.overall
    assert (pair["first_model"], pair["second_model"]) == ("scripted/flawed", "scripted/random")
    accuracy = pair["measures"]["accuracy"]
    assert (accuracy["tasks"], accuracy["graphs"]) == (24, 2)


def test_settings_within_a_run_of_traces(played: Callable[..., Path]) -> None:
    run = played("traces", "magma", models=["scripted/expert", "scripted/random"], settings=["io", "is"])
    comparison = compare_runs([run])
    assert {pair["first_setting"] for pair in comparison.overall} == {"io", "is"}
    assert len(compare_runs([run], settings=["is"]).overall) == 1


def test_runs_with_other_pages_have_the_same_tasks_and_another_par(played: Callable[..., Path]) -> None:
    paged = played("paged", models=["scripted/expert"], graphs=1, agent={"result_tokens": 900})
    comparison = compare_runs([one(played), paged], models=["scripted/flawed", "scripted/expert"])
    assert any("agent.result_tokens: None → 900" in note for note in comparison.notes)
    for result in explained(RunFolder.open(paged)):
        assert result["task"]["reference_turns"] == len(result["trajectory"]["turns"])


def test_across_runs_pairs_are_identical_tasks(played: Callable[..., Path]) -> None:
    fewer = played("fewer", models=["scripted/expert"], graphs=1, repeats=2, agent={"turn_limit": 20})
    comparison = compare_runs([one(played), fewer], models=["scripted/flawed", "scripted/expert"])
    (pair,) = comparison.overall
    assert (pair["first_model"], pair["second_model"]) == ("scripted/flawed @ one", "scripted/expert @ fewer") or (
        pair["first_model"],
        pair["second_model"],
    ) == ("scripted/expert @ fewer", "scripted/flawed @ one")
    assert pair["measures"]["accuracy"]["tasks"] == 12
    assert (pair["measures"]["accuracy"]["unit"], pair["measures"]["accuracy"]["graphs"]) == ("question", 1)
    assert any("12 in both; 12 in one run only" in note for note in comparison.notes)
    assert any("agent.turn_limit: 30 → 20" in note for note in comparison.notes)


def test_other_tasks_are_refused_with_what_differs(played: Callable[..., Path]) -> None:
    other = played("other", models=["scripted/random"], seed=5)
    with pytest.raises(RunLogError, match=r"(?s)share no task.*24 and 24.*seed: \d+ → 5"):
        compare_runs([one(played), other])


def test_the_same_name_does_not_make_the_same_task(played: Callable[..., Path], tmp_path: Path) -> None:
    def other_gold(record: dict[str, Any]) -> None:
        record["task"]["gold"] = record["task"]["gold"][1:]

    changed = copy(one(played), tmp_path / "changed", other_gold)
    with pytest.raises(RunLogError, match=r"(?s)24 different tasks with the same name.*: gold"):
        compare_runs([one(played), changed])
    newer = copy(one(played), tmp_path / "newer", lambda record: record["task"].update(par_tokens=7))
    assert len(compare_runs([one(played), newer]).overall) == 6


def test_scores_of_another_scorer_are_refused(played: Callable[..., Path], tmp_path: Path) -> None:
    def other_scorer(manifest: dict[str, Any]) -> None:
        manifest["fingerprint"]["scorer"] = "0.0"

    rescored = copy(one(played), tmp_path / "rescored", lambda record: None, other_scorer)
    with pytest.raises(RunLogError, match=r"scored by different code:\s+.* → 0\.0") as refused:
        compare_runs([one(played), rescored])
    assert "graphwalk rescore" in (refused.value.hint or "")


def test_changed_prompts_have_a_note(played: Callable[..., Path], tmp_path: Path) -> None:
    def other_text(manifest: dict[str, Any]) -> None:
        manifest["fingerprint"]["texts"]["prompts/graph_tools.j2"] = "0" * 64

    other = copy(one(played), tmp_path / "texts", lambda record: None, other_text)
    assert any("text: prompts/graph_tools.j2" in note for note in compare_runs([one(played), other]).notes)


def test_there_must_be_two_players_of_one_suite(played: Callable[..., Path]) -> None:
    with pytest.raises(ConfigError, match="no two players"):
        compare_runs([one(played)], models=["scripted/flawed"])
    with pytest.raises(ConfigError, match="compared with itself"):
        compare_runs([one(played), one(played)])
    with pytest.raises(ConfigError, match="different suites"):
        compare_runs([one(played), Path("tests/data/runs/mazes")])


def test_every_form_holds_every_pair(played: Callable[..., Path]) -> None:
    made = compare_runs([one(played)])
    document = json.loads(to_json(made))
    assert document["overall"] == made.overall
    assert to_markdown(made).count("| scripted/flawed tools |") == 1
    assert document["verdict"] == list(made.verdict)
    assert all(sentence in to_markdown(made) for sentence in made.verdict)


def test_on_one_graph_the_test_is_over_its_questions(played: Callable[..., Path]) -> None:
    run = played("graph", models=["scripted/expert", "scripted/random"], graphs=1)
    comparison = compare_runs([run])
    accuracy = comparison.overall[0]["measures"]["accuracy"]
    assert (accuracy["tasks"], accuracy["graphs"], accuracy["unit"]) == (12, 1, "question")
    assert accuracy["p_value"] == accuracy["p_holm"] < 0.05
    assert accuracy["interval"][0] > 0
    assert comparison.verdict[0].endswith("over the questions of this one graph.")
    assert "Holm p" in [column.title for column in comparison.tables[0].columns]
